"""Output for people: tables and colours on a terminal, aligned plain text in a pipe.

Invariant: a pipe gets the same words in the same order, without colour, borders or wrapping, and no
text from outside can control the terminal.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import IO, Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from queenright.core.audit.redaction import redact, redact_text

GAP = "  "
STYLES: Mapping[str, str] = {
    "Leader": "bold green",
    "running": "green",
    "unknown": "bold yellow",
    "none": "bold red",
    "failed": "bold red",
    "rejected": "bold red",
    "conflict": "yellow",
    "refused": "bold yellow",
    "done": "green",
}


class Output:
    """Writes to standard output, or to ``stream``; ``is_terminal`` None detects a terminal."""

    def __init__(
        self,
        stream: IO[str] | None = None,
        *,
        is_terminal: bool | None = None,
        width: int | None = None,
    ) -> None:
        stream = stream or sys.stdout
        if is_terminal is None:
            is_terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
        self.is_terminal = is_terminal
        self._stream = stream
        self._console = Console(
            file=stream, force_terminal=is_terminal, width=width, highlight=False, soft_wrap=False
        )

    def heading(self, text: str, rest: str = "") -> None:
        """Write a title, and a summary after it."""
        if not self.is_terminal:
            self._plain(f"{text}{GAP}{rest}")
            return
        line = Text(one_line(text), style="bold")
        if rest:
            line.append(GAP + one_line(rest), style="not bold dim")
        self._console.print(line)

    def line(self, text: str = "", *, style: str = "", indent: int = 0) -> None:
        if self.is_terminal:
            margin = " " * indent
            said = Text(one_line(text), style=style)
            for wrapped in said.wrap(self._console, self._console.width - indent) or [said]:
                self._console.print(Text(margin) + wrapped)
        else:
            self._plain(" " * indent + one_line(text))

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        clean = [[one_line(cell) for cell in row] for row in rows]
        if self.is_terminal:
            self._console.print(rich_table(columns, clean))
        else:
            for text in aligned(columns, clean):
                self._plain(text)

    def blank(self) -> None:
        self._stream.write("\n")

    def flush(self) -> None:
        self._stream.flush()

    def _plain(self, text: str) -> None:
        self._stream.write(text.rstrip() + "\n")


def one_line(text: str) -> str:
    """Return text on one line, without secrets and without control characters."""
    return "".join(letter if letter.isprintable() else " " for letter in redact_text(text))


def print_json(value: object, *, compact: bool = False) -> None:
    """Print ``value`` as JSON with every secret hidden: indented, or (compact) as one line."""
    layout: dict[str, Any] = {"separators": (",", ":")} if compact else {"indent": 2}
    click.echo(json.dumps(redact(value), ensure_ascii=False, **layout))


def aligned(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows as lines, each column as wide as its widest cell."""
    lines = [columns, *rows]
    widths = [max(len(line[index]) for line in lines) for index in range(len(columns))]
    return [
        GAP.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    ]


def rich_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(header_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in row))
    return table
