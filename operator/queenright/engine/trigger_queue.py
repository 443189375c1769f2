"""Combine many triggers into one wake-up: triggers during a pass cause one more pass."""

from __future__ import annotations

from typing import Final

import anyio

from queenright.core.audit.record import Trigger

SETTLE_S: Final = 0.05
RANK: Final = {"start": 0, "command": 0, "file": 1, "docker": 2, "member": 3, "timer": 4}
"""The order in which a combined wake-up names its trigger: the nearest to a person first."""


class Wakeup:
    """``notify`` from anywhere on the event loop; ``wait`` from the loop that runs the passes."""

    def __init__(self) -> None:
        self._event = anyio.Event()
        self._cause: Trigger | None = None

    def notify(self, trigger: Trigger) -> None:
        if self._cause is None or RANK[trigger.kind] < RANK[self._cause.kind]:
            self._cause = trigger
        self._event.set()

    def edit(self) -> Trigger | None:
        """Return the edit that ``wait`` is to return next, if it is one."""
        is_edit = self._cause is not None and bool(self._cause.file)
        return self._cause if is_edit else None

    async def wait(self, limit_s: float) -> Trigger:
        """Return the most important trigger since the last call; the timer itself after
        ``limit_s``.

        Triggers come in bursts: one wake-up answers all that arrive within ``SETTLE_S``.
        """
        with anyio.move_on_after(limit_s):
            await self._event.wait()
            await anyio.sleep(SETTLE_S)
        cause, self._cause = self._cause, None
        self._event = anyio.Event()
        return cause or Trigger("timer")
