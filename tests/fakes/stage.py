"""A simulated world that stands still at one moment; several tests go on from there."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from tests.fakes.virtual_loop import VirtualLoop, run_on
from tests.support.forked import in_a_fork

S = TypeVar("S")
T = TypeVar("T")


class StandingStill(Generic[S]):
    """``begin`` has been run to its end on a virtual loop of its own; what it has started, such as
    an operator, waits there."""

    def __init__(self, begin: Callable[[], Coroutine[Any, Any, S]]) -> None:
        self._runner = asyncio.Runner(loop_factory=VirtualLoop)
        weakref.finalize(self, self._runner.close)
        self._scene = run_on(self._runner, begin)

    def go_on(self, act: Callable[[S], Coroutine[Any, Any, T]]) -> T:
        """Return what ``act`` returns of the scene; the scene stays as it is, because the time goes
        on in a fork of this process only."""
        return in_a_fork(lambda: run_on(self._runner, lambda: act(self._scene)))
