"""Replication in Patroni's settings: what the file writes there, and what is in force.

Reads as Patroni does (``global_config``): any spelling of a switch, and numbers in text. Invariant:
the keys are the file's only where it has the field, or had it, as ``queenright_replication`` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from queenright.core.kinds.postgres_cluster.schema.replication import ReplicationSpec
from queenright.core.manifest.remembered import MOST_DOCUMENTS
from queenright.core.swarm.label_values import read_whole

Mode = Literal["asynchronous", "synchronous", "quorum"]

REPLICATION_KEY = "queenright_replication"
"""The file's mode, in Patroni's settings; absent where the file never had the field."""
MODE_KEY = "synchronous_mode"
STRICT_KEY = "synchronous_mode_strict"
COUNT_KEY = "synchronous_node_count"
LAG_KEY = "maximum_lag_on_syncnode"
KEYS = (MODE_KEY, STRICT_KEY, COUNT_KEY, LAG_KEY)
_KEYS = frozenset(KEYS)

LONGEST_TEXT = 32
"""No word and no number that Patroni takes is longer; a longer text is not remembered."""
_ON = frozenset({"on", "true", "yes", "1"})
_MODES: Mapping[Mode, str | None] = {
    "asynchronous": None,
    "synchronous": "on",
    "quorum": "quorum",
}


@dataclass(frozen=True, slots=True)
class Replication:
    """``nodes`` replicas confirm a commit; ``maximum_lag_bytes`` is None where none is too far
    behind to be synchronous."""

    mode: Mode = "asynchronous"
    strict: bool = False
    nodes: int = 1
    maximum_lag_bytes: int | None = None

    @property
    def is_synchronous(self) -> bool:
        """Return True if a commit waits for a replica."""
        return self.mode != "asynchronous"


ASYNCHRONOUS = Replication()
"""Patroni's own defaults."""


def written_settings(spec: ReplicationSpec | None) -> dict[str, Any]:
    """Return the file's keys. Switches are texts: Patroni reads ``true`` and ``quorum`` as two
    modes, and a merge that compares them as switches would see no difference."""
    if spec is None:
        return {}
    found: dict[str, Any] = {REPLICATION_KEY: spec.mode}
    if (mode := _MODES[spec.mode]) is None:
        return found
    found |= {MODE_KEY: mode, COUNT_KEY: spec.nodes}
    if spec.strict:
        found[STRICT_KEY] = "on"
    if spec.maximum_lag_on_sync_bytes is not None:
        found[LAG_KEY] = spec.maximum_lag_on_sync_bytes
    return found


def wanted_settings(written: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys as they should be, None for one to remove; none at all where the file has not
    the field, and never had it."""
    if REPLICATION_KEY not in written and REPLICATION_KEY not in found:
        return {}
    return {key: written.get(key) for key in (REPLICATION_KEY, *KEYS)}


def read_replication(settings: Mapping[str, Any]) -> Replication:
    """Return what Patroni makes of its settings."""
    if _KEYS.isdisjoint(settings):  # most clusters, several times in each pass
        return ASYNCHRONOUS
    texts = (
        str(settings.get(MODE_KEY) or "").strip().lower(),
        str(settings.get(STRICT_KEY) or "").strip().lower(),
        str(settings.get(COUNT_KEY, 1)),
        str(settings.get(LAG_KEY, -1)),
    )
    return _read(*(text if len(text) <= LONGEST_TEXT else "" for text in texts))


@lru_cache(maxsize=MOST_DOCUMENTS)
def _read(word: str, switch: str, count: str, lag: str) -> Replication:
    """Return the replication by the texts of its keys: every pass reads the same ones often."""
    mode: Mode = "quorum" if word == "quorum" else "asynchronous"
    if word in _ON:
        mode = "synchronous"
    strict = switch in _ON
    nodes, lag_bytes = read_whole(count), read_whole(lag)
    least = 1 if strict else 0
    return Replication(
        mode,
        strict,
        max(least, 1 if nodes is None else nodes),
        lag_bytes if lag_bytes is not None and lag_bytes > 0 else None,
    )


def price(found: Mapping[str, Any], written: Mapping[str, Any]) -> str:
    """Return what a change of these settings costs and buys, for people; empty where none is."""
    before, after = read_replication(found), read_replication(written)
    if before == after:
        return ""
    if not after.is_synchronous:
        return "commits no longer wait for a replica, and a failover may lose acknowledged rows"
    whom = f"{after.nodes} replica{'s' if after.nodes > 1 else ''}"
    if after.mode == "quorum":
        whom = f"the fastest {after.nodes} of the replicas"
    text = (
        f"each commit waits until {whom} wrote it to disk, a network round trip and a flush more; "
        "a failover loses no acknowledged row"
    )
    if after.strict:
        text += "; while no replica is synchronous, commits wait"
    return text
