"""An asyncio event loop whose clock jumps to the next scheduled moment when nothing is ready.

anyio runs on asyncio, so ``anyio.sleep``, ``move_on_after`` and ``current_time`` become virtual
with it. No thread may be waited for: what the engine would do in one is done in place (see
``in_place``), which is also what keeps a run deterministic.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

T = TypeVar("T")

MOST_TURNS_AT_ONCE = 200_000


class StuckError(Exception):
    """Nothing is ready and nothing is scheduled, or time stands still for ever."""


class JumpingSelector(selectors.BaseSelector):
    """Looks at real file descriptors without waiting; instead of waiting it moves the clock."""

    def __init__(self) -> None:
        self.real = selectors.DefaultSelector()
        self.now_s = 0.0
        self.turns = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = self.real.select(0)
        if found or timeout == 0:
            self.turns += 1
            if self.turns > MOST_TURNS_AT_ONCE:
                raise StuckError(f"time stands still at {self.now_s} s")
            return found
        if timeout is None:
            raise StuckError(f"nothing is scheduled after {self.now_s} s")
        self.now_s += timeout
        self.turns = 0
        return []

    def register(
        self, fileobj: Any, events: int, data: Any = None
    ) -> selectors.SelectorKey:  # pragma: no cover - delegation
        return self.real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self.real.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self.real.modify(fileobj, events, data)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self.real.get_map()

    def close(self) -> None:
        self.real.close()


class VirtualLoop(asyncio.SelectorEventLoop):
    """Starts at 0 s."""

    def __init__(self) -> None:
        self._jumping = JumpingSelector()
        super().__init__(self._jumping)
        self.failures: list[BaseException] = []
        self.set_exception_handler(self._keep_failure)

    def _keep_failure(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        failure = context.get("exception")
        self.failures.append(failure or RuntimeError(context["message"]))

    def time(self) -> float:
        return self._jumping.now_s


def run_virtual(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine function to its end on a virtual loop of its own; a callback that failed
    meanwhile fails the run."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        result = runner.run(main())
        loop = runner.get_loop()
        if isinstance(loop, VirtualLoop) and loop.failures:
            raise loop.failures[0]
        return result


async def in_place(function: Callable[[], T]) -> T:
    """Stands for ``anyio.to_thread.run_sync``: calls the function here and now."""
    await asyncio.sleep(0)
    return function()
