"""What the members of one cluster agree on by Raft, and Patroni's settings among it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.raft_model import RaftModel
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

    raft: RaftModel = field(default_factory=RaftModel)
    timelines: Timelines = field(default_factory=Timelines)
    initialized_by: str = ""
    initialized_at_s: float = 0.0
    leader: str = ""
    lock_until_s: float = 0.0
    race_at_s: float = 0.0
    """Before this nobody takes a free lock: the members notice one after the other."""
    timeline: int = 0
    changed_at_s: float = -1.0
    planned_by_operator: bool = False
    """Whether the last change of leader was the operator's own."""
    last_location: int = 0
    settings: dict[str, Any] = field(default_factory=dict)
    """Replaced whole by every change, so that a stale copy is a reference."""
    request: MoveRequest | None = None
    late_patches: list[dict[str, Any]] = field(default_factory=list)
    """Patches that hang without quorum and are applied once it is back."""
    paused_at_s: float = -1.0
    resumed_at_s: float = -1.0
    foreign_pause: bool = False
    """Whether the present pause was set by somebody else than the operator."""

    @property
    def paused(self) -> bool:
        return bool(self.settings.get("pause"))

    @paused.setter
    def paused(self, value: bool) -> None:
        """By a person's hand (``patronictl pause`` and ``resume``)."""
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
    """As ``PATCH /config`` merges: mappings deeply, None removes, all else replaces."""
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
    """Whether the settings have the expected values under the expected keys; None is absent."""
    for key, value in expected.items():
        found = settings.get(key)
        if isinstance(value, Mapping) and isinstance(found, Mapping):
            if not agrees(found, value):
                return False
        elif found != value:
            return False
    return True
