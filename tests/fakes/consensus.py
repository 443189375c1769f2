"""The state on which the members of one cluster agree by Raft, with Patroni's settings."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.raft_model import RaftModel
from tests.fakes.sync_key import NO_KEY, Acknowledged, SyncKey
from tests.fakes.volumes import Timelines

DEFAULTS = {"ttl": 30, "loop_wait": 10, "retry_timeout": 10, "maximum_lag_on_failover": 1048576}
"""Spec: database-cluster §2.5."""


@dataclass(frozen=True)
class MoveRequest:
    """A switchover (or failover: without ``leader``) that was asked for and is not carried out.
    ``due_s`` is when the leader takes it up; one that is ``vain`` is then dropped."""

    leader: str
    candidate: str
    due_s: float
    by_operator: bool = False
    is_vain: bool = False


@dataclass
class Consensus:
    """``leader`` holds the lock until ``lock_until_s``; ``last_location`` is the WAL position that
    it wrote beside it."""

    generation: str = ""
    """The volumes with Raft's files: those of a restore in place, by its moment."""
    raft: RaftModel = field(default_factory=RaftModel)
    timelines: Timelines = field(default_factory=Timelines)
    was_forgotten: bool = False
    """True from when the members' Raft logs began anew until somebody leads."""
    initialized_by: str = ""
    initialized_at_s: float = 0.0
    adopting_since_s: float = 0.0
    leader: str = ""
    lock_until_s: float = 0.0
    race_at_s: float = 0.0
    """The end of the delay in which nobody takes a free lock: members notice one by one."""
    timeline: int = 0
    recorded_timeline: int = 0
    """The newest timeline in Patroni's history, which its leader writes some seconds after it
    began; 0 for no history."""
    system: int = 0
    """The cluster's system identifier (``/initialize``)."""
    systems: int = 0
    """The number of databases that were initialised."""
    changed_at_s: float = -1.0
    is_forced: bool = False
    """True while a person lets a member lead, whatever that loses."""
    planned_by_operator: bool = False
    """True if the operator made the last change of leader."""
    last_location: int = 0
    settings: dict[str, Any] = field(default_factory=dict)
    """Replaced whole by every change, so that a stale copy is a reference."""
    request: MoveRequest | None = None
    sync: SyncKey = NO_KEY
    """Patroni's key of the members that may lead next; empty where replication is asynchronous."""
    sync_changed_s: float = -1.0
    sync_due_s: float = 0.0
    """The time of the leader's next look at its replicas."""
    acknowledged: Acknowledged | None = None
    """The furthest commit that was acknowledged under the key."""
    late_patches: list[dict[str, Any]] = field(default_factory=list)
    """Patches that hang without quorum and are applied once it is back."""
    paused_at_s: float = -1.0
    resumed_at_s: float = -1.0
    foreign_pause: bool = False
    """True if somebody else than the operator set the present pause."""

    def forget(self) -> None:
        """Raft's state is lost on every node: the lock, the history, the settings."""
        self.leader = self.initialized_by = ""
        self.lock_until_s = self.race_at_s = 0.0
        self.timeline = self.recorded_timeline = self.system = self.last_location = 0
        self.settings, self.request, self.late_patches = {}, None, []
        self.sync, self.acknowledged = NO_KEY, None

    @property
    def paused(self) -> bool:
        return bool(self.settings.get("pause"))

    @paused.setter
    def paused(self, value: bool) -> None:
        """Pause or resume as a person does (``patronictl pause`` and ``resume``)."""
        self.change({"pause": True if value else None}, by_operator=False)

    def change(self, patch: Mapping[str, Any], *, by_operator: bool) -> None:
        was_paused = self.paused
        self.settings = merged(self.settings, patch)
        if not self.paused:
            self.foreign_pause = False
            if was_paused:
                self.resumed_at_s = asyncio.get_running_loop().time()
        elif not was_paused:
            self.paused_at_s = asyncio.get_running_loop().time()
            self.foreign_pause = not by_operator and not self.settings.get("queenright_pause")

    def setting(self, name: str) -> int:
        """One of the cluster-wide numbers; unreadable ones count as their default."""
        value = self.settings.get(name)
        return value if isinstance(value, int) else DEFAULTS[name]


def merged(settings: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Merge as ``PATCH /config``: mappings deeply, None removes, all else replaces."""
    found = dict(settings)
    for key, value in patch.items():
        if value is None:
            found.pop(key, None)
        elif isinstance(value, Mapping):
            present = found.get(key)
            found[key] = merged(present if isinstance(present, Mapping) else {}, value)
        else:
            found[key] = value
    return found


def agrees(settings: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    """Return True if the settings have the expected values; None means an absent key."""
    for key, value in expected.items():
        found = settings.get(key)
        if isinstance(value, Mapping) and isinstance(found, Mapping):
            if not agrees(found, value):
                return False
        elif found != value:
            return False
    return True
