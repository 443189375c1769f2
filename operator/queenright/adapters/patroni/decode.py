"""Decode the answers of a member's REST API into the core's values.

Pure: from the JSON alone. Invariant: an answer that is not Patroni's is a ValueError, never a
status, because anything may listen on the port.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from queenright.core.observed import MemberStatus, RemovedWal, TimelineEnd

REMOVED_KEY, MOST_REMOVED = "queenright_removed", 5
"""The member image's own part of the answer (`images/member/queenright_member/removed.py`)."""
FARTHEST = 1 << 63

LSN = re.compile("[0-9A-F]{1,8}/[0-9A-F]{1,8}")
"""A WAL position as PostgreSQL writes it."""


def decode_member(raw: object, *, holds_lock: bool) -> MemberStatus:
    """Return the status in ``/patroni``'s body; ValueError for anything else."""
    status = mapping("the answer", raw)
    patroni = mapping("patroni", status.get("patroni"))
    timeline, server_version = status.get("timeline"), status.get("server_version")
    return MemberStatus(
        state=text("state", status.get("state")),
        role=text("role", status.get("role")),
        timeline=timeline if isinstance(timeline, int) else None,
        replication_state=text("replication_state", status.get("replication_state") or ""),
        holds_lock=holds_lock,
        location=location_of(mapping("xlog", status.get("xlog"))),
        paused=bool(status.get("pause", False)),
        pending_restart=bool(status.get("pending_restart", False)),
        pending_changes=decode_changes(
            mapping("pending_restart_reason", status.get("pending_restart_reason"))
        ),
        cluster_unlocked=bool(status.get("cluster_unlocked", False)),
        synchronous=synchronous_part(status),
        version=str(patroni.get("version", "")),
        server_version=server_version if isinstance(server_version, int) else 0,
        tags=mapping("tags", status.get("tags")),
        scope=str(patroni.get("scope", "")),
        name=str(patroni.get("name", "")),
        removed=decode_removed(status.get(REMOVED_KEY)),
    )


def decode_removed(raw: object) -> tuple[RemovedWal, ...]:
    """Return what a member's rewinds removed. An entry of another shape is left out: the rest of
    the answer is Patroni's."""
    entries = raw[-MOST_REMOVED:] if isinstance(raw, list) else []
    return tuple(found for entry in entries if (found := decode_rewind(entry)) is not None)


def decode_rewind(entry: object) -> RemovedWal | None:
    match entry:
        case {"timeline": int(timeline), "begin": int(begin), "at": int(at), **rest}:
            end, commits = rest.get("end"), rest.get("commits")
        case _:
            return None
    try:
        moment = datetime.fromtimestamp(at, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    if not (0 < timeline < 1 << 32 and 0 <= begin < FARTHEST):
        return None
    if not isinstance(end, int) or not isinstance(commits, int):
        return RemovedWal(timeline, begin, None, None, moment)
    is_possible = begin <= end < FARTHEST and 0 < commits < FARTHEST
    return RemovedWal(timeline, begin, end, commits, moment) if is_possible else None


def synchronous_part(status: Mapping[str, object]) -> Literal["", "sync", "quorum"]:
    """Return a replica's part in a commit; Patroni leaves the key out where it has none."""
    if status.get("quorum_standby") is True:
        return "quorum"
    return "sync" if status.get("sync_standby") is True else ""


def decode_changes(reasons: Mapping[str, object]) -> dict[str, tuple[str, str]]:
    """Return present and future value by parameter, in Patroni's units."""
    found = {}
    for name, reason in reasons.items():
        values = mapping(f"pending_restart_reason[{name}]", reason)
        found[name] = (
            text("old_value", values.get("old_value")),
            text("new_value", values.get("new_value")),
        )
    return found


def decode_history(raw: object) -> tuple[TimelineEnd, ...]:
    """Return the changes in ``/history``'s body: lists of timeline, location, reason, and, if
    Patroni recorded them, moment and new leader."""
    if not isinstance(raw, list):
        raise ValueError("not Patroni's answer: the history is not a list")  # noqa: TRY004  # as below
    return tuple(decode_change(entry) for entry in raw)


def decode_change(entry: object) -> TimelineEnd:
    match entry:
        case [int(timeline), int(location), str(reason), *rest]:
            at = datetime.fromisoformat(rest[0]) if rest and isinstance(rest[0], str) else None
            leader = rest[1] if len(rest) > 1 and isinstance(rest[1], str) else ""
            return TimelineEnd(timeline, location, reason, in_utc(at), leader)
        case _:
            raise ValueError("not Patroni's answer: the history has an entry of another shape")


def decode_leader_location(raw: object) -> int:
    """Return the last leader's WAL position by ``/cluster``'s body, which has each other member's
    position and how many bytes it is behind; 0 where none is behind, so that nothing shows it."""
    members = mapping("the answer", raw).get("members")
    found = []
    for member in members if isinstance(members, list) else ():
        match member:
            case {"lsn": str(at), "lag": lag} if type(lag) is int and LSN.fullmatch(at):
                high, _, low = at.partition("/")
                found.append((lag, (int(high, 16) << 32) + int(low, 16)))
            case _:
                pass
    if not found:
        raise ValueError("the answer has no WAL position of a replica")
    return max((at + lag for lag, at in found if lag > 0), default=0)


def in_utc(moment: datetime | None) -> datetime | None:
    """Return a moment in UTC; one without a zone is taken as UTC."""
    if moment is None:
        return None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def mapping(what: str, found: object) -> dict[str, Any]:
    """Return a part that is a mapping, or an empty one if it is absent."""
    if found is None and what != "the answer":
        return {}
    if not isinstance(found, dict):
        raise ValueError(f"not Patroni's answer: {what} is not a mapping")  # noqa: TRY004  # one error for all that is not credible
    return found


def text(what: str, found: object) -> str:
    if not isinstance(found, str):
        raise ValueError(f"not Patroni's answer: {what} is not text")  # noqa: TRY004  # as above
    return found


def location_of(xlog: dict[str, Any]) -> int | None:
    """Return a leader's WAL position, or the furthest that a replica has received or replayed."""
    found = [
        value
        for name in ("location", "received_location", "replayed_location")
        if isinstance(value := xlog.get(name), int)
    ]
    return max(found, default=None)
