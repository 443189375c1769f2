"""Counts the processor time that one purpose takes, in this process and in workers.

Who measures needs no word of those who work for it: a meter is that of the asyncio task that began
it, and of the threads that this task waits for.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Meter:
    """The processor time, in seconds, that was counted so far."""

    seconds: float = 0.0


_running: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def metered() -> Iterator[Meter]:
    """Counts what is added until the end of the block."""
    meter = Meter()
    token = _running.set(meter)
    try:
        yield meter
    finally:
        _running.reset(token)


def add(seconds: float) -> None:
    """Adds processor time to the meter that runs, if one does."""
    meter = _running.get()
    if meter is not None:
        meter.seconds += seconds


@contextmanager
def working() -> Iterator[None]:
    """Adds the processor time of this thread in the block, which may wait for nothing else."""
    begun = time.thread_time()
    try:
        yield
    finally:
        add(time.thread_time() - begun)
