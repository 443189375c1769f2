"""Lets a trigger end a full pass that has not begun to act, so that its documents come first: an
edit, or an event or an answer about few of many documents.

Invariant: after a pass that was ended so, the next one is not: however fast such triggers follow
each other, every second full pass is whole.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

import anyio


@dataclass
class Interruption:
    """The scope that can be ended now, if there is one."""

    _scope: anyio.CancelScope | None = field(default=None, init=False)
    _was_used: bool = field(default=False, init=False)

    @contextmanager
    def may_end(self) -> Generator[anyio.CancelScope, None, None]:
        """Hold the block that ``end`` ends; it has been ended if the scope's
        ``cancelled_caught`` is True."""
        with anyio.CancelScope() as scope:
            self._scope = None if self._was_used else scope
            try:
                yield scope
            finally:
                self._scope = None
        self._was_used = scope.cancelled_caught

    def end(self) -> None:
        """End the block that runs now, unless the last one was ended."""
        if self._scope is not None:
            self._scope.cancel()
