"""Lets a trigger end a full pass that has not begun to act, so that its documents come first: an
edit, or an event or an answer about few of many documents.

Invariants: edits that follow each other without a pause keep the next whole full pass away for
``LONGEST_WITHOUT_S`` at most; of the passes that events and answers would end, every second one is
whole.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import anyio

LONGEST_WITHOUT_S: Final = 120.0
"""Seconds after a whole full pass in which an edit ends the following ones. A pass that begins
later is whole, and an edit waits for it: at 1,000 documents for 0.6 s, so that fewer than one edit
of a hundred does."""


@dataclass
class Interruption:
    """The scope that can be ended now, if there is one. Moments are by a clock that never jumps."""

    _scope: anyio.CancelScope | None = field(default=None, init=False)
    _any: anyio.CancelScope | None = field(default=None, init=False)
    """The scope that runs now, also where it has to be whole."""
    _was_used: bool = field(default=False, init=False)
    _whole_s: float | None = field(default=None, init=False)

    @contextmanager
    def may_end(self) -> Generator[anyio.CancelScope, None, None]:
        """Hold the block that ``end`` and ``end_for_edit`` end; it has been ended if the scope's
        ``cancelled_caught`` is True."""
        began_s = anyio.current_time()
        if self._whole_s is None:
            self._whole_s = began_s
        with anyio.CancelScope() as scope:
            self._scope = scope if began_s < self._whole_s + LONGEST_WITHOUT_S else None
            self._any = scope
            try:
                yield scope
            finally:
                self._scope = self._any = None
        self._was_used = scope.cancelled_caught
        if not self._was_used:
            self._whole_s = anyio.current_time()

    def end(self) -> None:
        """End the block that runs now, unless the last one was ended."""
        if not self._was_used:
            self.end_for_edit()

    def end_for_edit(self) -> None:
        """End the block that runs now, unless it has to be whole."""
        if self._scope is not None:
            self._scope.cancel()

    def end_in_any_case(self) -> None:
        """End the block that runs now: no action can come of it."""
        if self._any is not None:
            self._any.cancel()
