"""An asyncio event loop whose clock jumps to the next scheduled moment when nothing is ready.

anyio runs on asyncio, so ``anyio.sleep``, ``move_on_after`` and ``current_time`` become virtual
with it. Nothing outside may be waited for, neither a file nor a thread: what the engine would do in
a thread is done in place (see ``in_place``), which is also what keeps a run deterministic.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context, copy_context
from typing import Any, TypeVar

T = TypeVar("T")

MOST_TURNS_AT_ONCE = 200_000
SAME_MOMENT_S = 1e-9
"""Calls that are due within this time are due together."""


class StuckError(Exception):
    """Nothing is ready and nothing is scheduled, or time stands still for ever."""


class Call(asyncio.TimerHandle):
    """A call to be made, without what asyncio's own handles keep for its debug mode."""

    __slots__ = ("callback", "context")

    def __init__(
        self, callback: Callable[..., object], args: tuple[Any, ...], context: Context | None
    ) -> None:
        self.callback = callback
        self.context = copy_context() if context is None else context
        self._args = args
        self._cancelled = False

    def __repr__(self) -> str:
        return f"Call({self.callback}, {self._args})"

    def cancel(self) -> None:
        self._cancelled = True


class VirtualLoop(asyncio.BaseEventLoop):
    """Starts at 0 s; makes calls that are due at the same time in the order of their scheduling.

    Its turns have none of what asyncio's own do for real files, clocks and threads: a simulated
    history has thousands of turns.
    """

    def __init__(self) -> None:
        super().__init__()
        self.failures: list[BaseException] = []
        self.set_exception_handler(self._keep_failure)
        self._now_s = 0.0
        self._turns = 0
        """The number of turns since the clock has moved."""
        self._due: deque[Call] = deque()
        self._later: list[tuple[float, int, Call]] = []
        self._serial = 0

    def _keep_failure(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        failure = context.get("exception")
        self.failures.append(failure or RuntimeError(context["message"]))

    def time(self) -> float:
        return self._now_s

    def call_soon(  # type: ignore[override]  # another handle than asyncio's
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> Call:
        call = Call(callback, args, context)
        self._due.append(call)
        return call

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def call_at(  # type: ignore[override]
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> Call:
        call = Call(callback, args, context)
        self._serial += 1
        heapq.heappush(self._later, (when, self._serial, call))
        return call

    def call_later(  # type: ignore[override]
        self,
        delay: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> Call:
        return self.call_at(self._now_s + delay, callback, *args, context=context)

    def _run_once(self) -> None:
        """Make all calls that are due, after a jump of the clock where none is."""
        due, later = self._due, self._later
        while later and later[0][2].cancelled():
            heapq.heappop(later)
        self._turns += 1
        if not due and not self._stopping:  # type: ignore[attr-defined]
            if not later:
                raise StuckError(f"nothing is scheduled after {self._now_s} s")
            self._now_s, self._turns = max(self._now_s, later[0][0]), 0
        elif self._turns > MOST_TURNS_AT_ONCE:
            raise StuckError(f"time stands still at {self._now_s} s")
        while later and later[0][0] < self._now_s + SAME_MOMENT_S:
            due.append(heapq.heappop(later)[2])
        for _ in range(len(due)):
            call = due.popleft()
            if call._cancelled:
                continue
            try:
                call.context.run(call.callback, *call._args)
            except (SystemExit, KeyboardInterrupt):
                raise
            except BaseException as failure:  # noqa: BLE001  # it fails the run, at its end
                self.failures.append(failure)


def run_virtual(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine function to its end on a virtual loop of its own; a callback that failed
    meanwhile fails the run."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return run_on(runner, main)


def run_on(runner: asyncio.Runner, main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine function to its end on the runner's virtual loop; what it has started goes on
    in the runner's next run.

    The result is kept outside the task: ``Runner`` writes out its task twice, result included, when
    it restores the handler of SIGINT, and a whole world is much to write out.
    """
    results: list[T] = []

    async def keep_result() -> None:
        results.append(await main())

    runner.run(keep_result())
    loop = runner.get_loop()
    if isinstance(loop, VirtualLoop) and loop.failures:
        raise loop.failures[0]
    return results[0]


async def in_place(function: Callable[[], T]) -> T:
    """Stands for ``anyio.to_thread.run_sync``: calls the function here and now."""
    await asyncio.sleep(0)
    return function()
