"""A terminal's screen that is painted again and again in place.

Invariant: a line that has not changed is written as it was, and nothing is erased before its new
text is there, so that the screen does not flicker.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Sequence
from typing import IO

from queenright.cli.console import Output

HOME = "\x1b[H"
REST_OF_LINE = "\x1b[K"
REST_OF_SCREEN = "\x1b[J"
ERASED = "\x1b[2J"


class Screen:
    """Collects one look's output, and paints it from the top of the terminal."""

    def __init__(self, stream: IO[str], size: tuple[int, int] | None = None) -> None:
        """``size`` is columns and lines; None asks the terminal at each look, whose size may
        change."""
        self._stream = stream
        self._size = size
        self._is_first = True
        self._text = io.StringIO()

    def page(self) -> Output:
        """Return the output for one look."""
        self._text = io.StringIO()
        return Output(self._text, is_terminal=True, width=self._measure()[0])

    def paint(self) -> None:
        """Show what the page has. Of one that is too long, the last line tells how much is cut."""
        lines = fitted(self._text.getvalue().rstrip("\n").split("\n"), self._measure()[1])
        begin = (ERASED if self._is_first else "") + HOME
        body = "\n".join(line + REST_OF_LINE for line in lines)
        self._stream.write(f"{begin}{body}\n{REST_OF_SCREEN}")
        self._stream.flush()
        self._is_first = False

    def _measure(self) -> tuple[int, int]:
        columns, lines = self._size or shutil.get_terminal_size()
        return columns, lines


def fitted(lines: Sequence[str], height: int) -> list[str]:
    """Return the lines that fit above the cursor's line."""
    room = max(2, height - 1)
    if len(lines) <= room:
        return [*lines]
    cut = len(lines) - room + 1
    return [*lines[: room - 1], f"… {cut} more lines (--cluster NAME shows one document)"]
