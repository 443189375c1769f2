"""Limits for requests to many peers: how many are open, and how long each may take.

Decides when a request may begin. Invariants: a request's time limit begins with its turn, not with
its wait for one; a silent peer keeps its turn for at most ``BUSY_S``, so that it delays no other
answer; a period in which this process did not run counts as one tick.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, nullcontext

import anyio

BUSY = 48
"""Requests that may need this process at the same time; with more, answers would wait for the
processor and be read late."""
BUSY_S = 0.25
"""After this time without an answer a request only waits, which costs nothing but its sockets."""
SOCKETS = 2
"""The most connections of one request."""
MOST_OPEN = 1024
WANTED_FILES = 16_384
TICKS = 8


class Turns:
    """Turns for one purpose; those for another purpose are independent."""

    def __init__(self, busy: int = BUSY, most_open: int | None = None) -> None:
        self._open = anyio.Semaphore(most_open or open_at_most())
        self._busy = anyio.Semaphore(busy)

    @asynccontextmanager
    async def turn(self, limit_s: float | None = None) -> AsyncGenerator[None, None]:
        """Hold one request's turn. TimeoutError if it takes longer than ``limit_s``; without that
        the caller limits the time."""
        async with self._open:
            await self._busy.acquire()
            given_back = False

            def give_back() -> None:
                nonlocal given_back
                if not given_back:
                    given_back = True
                    self._busy.release()

            timer = asyncio.get_running_loop().call_later(BUSY_S, give_back)
            try:
                with nullcontext() if limit_s is None else attentive(limit_s):
                    yield
            finally:
                timer.cancel()
                give_back()


@contextmanager
def attentive(limit_s: float) -> Generator[None, None, None]:
    """Raise TimeoutError after ``limit_s``, counted in ticks: an answer that came while this
    process was busy is read before the time is over."""
    scope, loop = anyio.CancelScope(), asyncio.get_running_loop()
    timers: list[asyncio.TimerHandle] = []

    def tick() -> None:
        if len(timers) < TICKS:
            timers.append(loop.call_later(limit_s / TICKS, tick))
        else:
            scope.cancel()

    tick()
    try:
        with scope:
            yield
    finally:
        timers[-1].cancel()
    if scope.cancelled_caught:
        raise TimeoutError(f"no answer within {limit_s:g} s")


def open_at_most() -> int:
    """Return a quarter of this process's limit of open files: watchers and passes have turns of
    their own, and other parts need files too."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = MOST_OPEN if files == resource.RLIM_INFINITY else files // (4 * SOCKETS)
    return max(16, min(MOST_OPEN, allowed))


def allow_many_files() -> None:
    """Raise the soft limit of open files towards the hard one, as servers do."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED_FILES if hard == resource.RLIM_INFINITY else min(WANTED_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
