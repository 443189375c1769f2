"""An operator that runs on a simulated world's loop, and the ways in which its process ends."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from queenright.engine.loop import Loop


@dataclass
class Operator:
    """A running operator process."""

    loop: Loop
    task: asyncio.Task[None]

    async def kill(self) -> None:
        """SIGKILL: whatever it is at."""
        self.task.cancel()
        await asyncio.wait([self.task])

    async def stop(self) -> None:
        """SIGTERM: the step in hand is finished."""
        self.loop.stop()
        await asyncio.wait([self.task])
        self.task.result()
