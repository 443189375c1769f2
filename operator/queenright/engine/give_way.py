"""Let others run: how a pass over a thousand documents does not hold the event loop.

A pass is a chain of steps of some milliseconds each. With ``anyio``'s checkpoint alone, what fell
due during one step waits for two more: one until the loop has seen its timer or its socket, one
until the task that this wakes has its turn.
"""

from __future__ import annotations

from anyio.lowlevel import checkpoint

TURNS = 3
"""Rounds of the event loop from something that is due to the end of the task that it wakes."""


async def give_way() -> None:
    """Let the event loop run all that is due, before a step that takes long."""
    for _ in range(TURNS):
        await checkpoint()
