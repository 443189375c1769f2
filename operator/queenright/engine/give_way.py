"""Let others run: how a pass over a thousand documents does not hold the event loop.

A pass is a chain of steps, most of them shorter than a millisecond. With ``anyio``'s checkpoint
alone, what fell due during one step waits for two more: one until the loop has seen its timer or
its socket, one until the task that this wakes has its turn. A thread that reads files would wait
after each of its calls to the disk until the pass gives the interpreter back: a look at a thousand
files takes 8 ms alone, and 0.6 s beside a pass. So the pass waits for it.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import anyio
from anyio.lowlevel import RunVar, checkpoint

TURNS = 3
"""Rounds of the event loop from something that is due to the end of the task that it wakes."""

SHORT_S = 0.002
"""Steps that take less than this together are made without a round between them."""

_gave_way_at_s = RunVar[float]("_gave_way_at_s")
"""The loop's time at which a task last gave way."""

LONGEST_READ_S = 0.2
"""The longest time that passes wait for one reading: a disk that does not answer stops none."""

_reading = RunVar[tuple[anyio.Event, float]]("_reading")
"""The last reading's end, and the loop's time until which passes wait for it."""


async def give_way() -> None:
    """Let the event loop run all that is due, before a step that may take long. Return at once if a
    task has done so less than ``SHORT_S`` ago: a pass over a few documents has some hundred
    steps, and three rounds for each would cost more than the steps."""
    if anyio.current_time() - _gave_way_at_s.get(float("-inf")) < SHORT_S:
        return
    for _ in range(TURNS):
        await checkpoint()
    _gave_way_at_s.set(anyio.current_time())


@contextmanager
def reading() -> Generator[None, None, None]:
    """Let passes wait between two documents while a thread reads files for this block."""
    ended = anyio.Event()
    _reading.set((ended, anyio.current_time() + LONGEST_READ_S))
    try:
        yield
    finally:
        ended.set()


async def between_documents() -> None:
    """Let the event loop run what is due, and a thread that reads files come to its end first."""
    await checkpoint()
    ended, until_s = _reading.get((None, 0.0))
    if ended is not None and not ended.is_set() and anyio.current_time() < until_s:
        with anyio.CancelScope(deadline=until_s):
            await ended.wait()
