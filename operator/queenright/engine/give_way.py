"""Let others run: how a pass over a thousand documents does not hold the event loop.

A pass is a chain of steps, most of them shorter than a millisecond. With ``anyio``'s checkpoint
alone, what fell due during one step waits for two more: one until the loop has seen its timer or
its socket, one until the task that this wakes has its turn.
"""

from __future__ import annotations

import anyio
from anyio.lowlevel import RunVar, checkpoint

TURNS = 3
"""Rounds of the event loop from something that is due to the end of the task that it wakes."""

SHORT_S = 0.002
"""Steps that take less than this together are made without a round between them."""

_gave_way_at_s = RunVar[float]("_gave_way_at_s")
"""The loop's time at which a task last gave way."""


async def give_way() -> None:
    """Let the event loop run all that is due, before a step that may take long. Return at once if a
    task has done so less than ``SHORT_S`` ago: a pass over a few documents has some hundred
    steps, and three rounds for each would cost more than the steps."""
    if anyio.current_time() - _gave_way_at_s.get(float("-inf")) < SHORT_S:
        return
    for _ in range(TURNS):
        await checkpoint()
    _gave_way_at_s.set(anyio.current_time())
