"""Combine many triggers into one wake-up: triggers during a pass cause one more pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from typing import Final

import anyio

from queenright.core.audit.record import Trigger

SETTLE_S: Final = 0.05
RANK: Final = {"start": 0, "command": 0, "file": 1, "docker": 2, "member": 3, "timer": 4}
"""The order in which a combined wake-up names its trigger: the nearest to a person first."""


class Wakeup:
    """``notify`` from anywhere on the event loop; ``wait`` from the loop that runs the passes."""

    def __init__(self) -> None:
        self._event, self._edited = anyio.Event(), anyio.Event()
        self._cause: Trigger | None = None
        self._names: set[str] | None = set()
        self.heard: Callable[[AbstractSet[str]], None] = lambda _: None
        """Called with the names that a trigger has."""

    def notify(self, trigger: Trigger, names: Iterable[str] | None = None) -> None:
        """Wake the loop. ``names`` are those of the swarm's objects that have changed;
        None where it may concern everything."""
        if self._cause is None or RANK[trigger.kind] < RANK[self._cause.kind]:
            self._cause = trigger
        if names is None:
            self._names = None
        elif self._names is not None:
            found = {*names}
            self._names |= found
            self.heard(found)
        self._event.set()
        if trigger.file:
            self._edited.set()

    def take_names(self) -> frozenset[str] | None:
        """Return the names that all triggers since the last call had; None if one may
        concern everything."""
        found, self._names = self._names, set()
        return None if found is None else frozenset(found)

    def edit(self) -> Trigger | None:
        """Return the edit that ``wait`` is to return next, if it is one."""
        is_edit = self._cause is not None and bool(self._cause.file)
        return self._cause if is_edit else None

    async def wait(self, limit_s: float) -> Trigger:
        """Return the most important trigger since the last call; the timer itself after
        ``limit_s``.

        Triggers come in bursts: one wake-up answers all that arrive within ``SETTLE_S``. An edit
        waits for no others: its files have been quiet for a while.
        """
        with anyio.move_on_after(limit_s):
            await self._event.wait()
            with anyio.move_on_after(SETTLE_S):
                await self._edited.wait()
        cause, self._cause = self._cause, None
        self._event, self._edited = anyio.Event(), anyio.Event()
        return cause or Trigger("timer")
