"""Labels of the state config for a restore in place: a person's request, and what came of it.

Invariant: a label that can't be read counts as absent. A request that was not begun within a
quarter of an hour counts as absent too, so that no label stops a cluster that nobody thinks of.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from queenright.core.kinds.postgres_cluster.places import (
    DeployedMember,
    decode_places,
    encode_places,
)
from queenright.core.kinds.postgres_cluster.schema.bootstrap import (
    BACKUP_ID,
    LSN,
    RESTORE_POINT,
    SYSTEM,
)
from queenright.core.planning.ages import CLOCKS_DIFFER
from queenright.core.swarm.label_values import read_json, read_moment, read_whole

RESTORE_REQUEST_LABEL = "queenright.restore-request"
"""Label of the state config: the restore that a person asked for, and whether it has begun."""
RESTORED_LABEL = "queenright.restored"
"""Label of the state config: the last restore in place."""
LASTS = timedelta(minutes=15)
"""Time in which a request is begun, or not at all."""
FORMER = "former"
"""The target of a request that goes back to the data before the last restore."""
PATTERNS: Mapping[str, str] = {"lsn": LSN, "name": RESTORE_POINT}


@dataclass(frozen=True, slots=True)
class WantedRestore:
    """A restore that a person asked for at a moment.

    ``target`` is empty for the end of the archived WAL, ``former``, or a kind and its value, as in
    ``time 2026-01-31T12:00:00+00:00``. ``base`` and ``system`` are empty where the restore chooses
    them; ``timeline`` is 0 for the newest one.
    """

    at: datetime
    target: str = ""
    base: str = ""
    system: str = ""
    timeline: int = 0

    @property
    def is_back(self) -> bool:
        """True for a request that goes back to the former data."""
        return self.target == FORMER


@dataclass(frozen=True, slots=True)
class RestoreRequest:
    """A restore, and whether the operator has begun to stop the members for it."""

    wanted: WantedRestore
    has_begun: bool = False


@dataclass(frozen=True, slots=True)
class Restored:
    """The last restore. ``former`` are the places of the members, with the volumes that keep the
    data before it. Where ``is_left``, the cluster went back since: these are the restored data."""

    wanted: WantedRestore
    former: tuple[DeployedMember, ...] = ()
    is_left: bool = False


def read_request(labels: Mapping[str, str], now: datetime) -> RestoreRequest | None:
    """Return the request in a state config's labels; None for none, or one that is too old."""
    match read_json(labels.get(RESTORE_REQUEST_LABEL, "")):
        case {"begun": bool(begun), **rest} if (wanted := read_wanted({**rest})) is not None:
            is_new = now - LASTS < wanted.at <= now + CLOCKS_DIFFER
            return RestoreRequest(wanted, begun) if begun or is_new else None
        case _:
            return None


def read_restored(labels: Mapping[str, str]) -> Restored | None:
    """Return the restore with which the present data begin; None where there was none."""
    match read_json(labels.get(RESTORED_LABEL, "")):
        case {"former": str(former), **rest} if (wanted := read_wanted({**rest})) is not None:
            return Restored(wanted, decode_places(former), rest.get("left") is True)
        case _:
            return None


def read_wanted(found: Mapping[Any, Any]) -> WantedRestore | None:
    """Return a restore out of its JSON; None for one that can't be carried out."""
    at, timeline = read_moment(found.get("at")), read_whole(found.get("timeline", 0))
    target, base, system = (found.get(name, "") for name in ("target", "base", "system"))
    if at is None or timeline is None or not is_target(target):
        return None
    if not is_text(BACKUP_ID, base) or not is_text(SYSTEM, system):
        return None
    return WantedRestore(at, target, base, system, timeline)


def is_target(text: object) -> bool:
    """Return True for a target as ``WantedRestore`` has it."""
    if not isinstance(text, str):
        return False
    kind, _, value = text.partition(" ")
    if kind == "time":
        return read_moment(value) is not None
    return text in {"", FORMER} or (kind in PATTERNS and is_text(PATTERNS[kind], value or "?"))


def is_text(pattern: str, text: object) -> bool:
    return isinstance(text, str) and (not text or bool(re.fullmatch(pattern, text)))


def with_request(labels: Mapping[str, str], request: RestoreRequest | None) -> dict[str, str]:
    """Return a state config's labels with this request in place of its own; None removes it."""
    kept = {name: value for name, value in labels.items() if name != RESTORE_REQUEST_LABEL}
    if request is None:
        return kept
    found = {**written(request.wanted), "begun": request.has_begun}
    return {**kept, RESTORE_REQUEST_LABEL: json.dumps(found)}


def with_restored(labels: Mapping[str, str], restored: Restored | None) -> dict[str, str]:
    """Return a state config's labels with this note in place of its own; None removes it."""
    kept = {name: value for name, value in labels.items() if name != RESTORED_LABEL}
    if restored is None:
        return kept
    left = {"left": True} if restored.is_left else {}
    found = {**written(restored.wanted), "former": encode_places(restored.former), **left}
    return {**kept, RESTORED_LABEL: json.dumps(found)}


def written(wanted: WantedRestore) -> dict[str, object]:
    """Return a restore as JSON has it, without what is as usual."""
    found = {
        "target": wanted.target,
        "base": wanted.base,
        "system": wanted.system,
        "timeline": wanted.timeline,
    }
    return {"at": wanted.at.isoformat(), **{name: value for name, value in found.items() if value}}
