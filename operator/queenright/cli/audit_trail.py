"""The audit trail for people: both files of it, and its records as a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from heapq import merge
from pathlib import Path

from queenright.adapters.audit.file import FILE_NAME
from queenright.adapters.audit.reader import newest_records
from queenright.cli.console import Output
from queenright.core.audit.lines import COLUMNS, cells
from queenright.core.audit.reading import Record, moment_of, text

COMMANDS_DIRECTORY = "commands"
"""Within the state directory: the trail of the commands. It is a chain of its own, because only the
operator writes the operator's."""


def both(operator: Iterable[Record], commands: Iterable[Record]) -> Iterator[Record]:
    """Merge two trails, each newest first, into one."""
    return merge(operator, commands, key=lambda record: text(record, "at"), reverse=True)


def trail_paths(state_dir: Path) -> tuple[Path, Path]:
    """Return the operator's trail and that of the commands."""
    return state_dir / FILE_NAME, state_dir / COMMANDS_DIRECTORY / FILE_NAME


def known_records(state_dir: Path | None) -> Iterator[Record]:
    """Yield both trails, newest first, as far as they exist and can be read."""
    if state_dir is None:
        return
    operator, commands = (readable(path) for path in trail_paths(state_dir))
    yield from both(operator, commands)


def readable(path: Path) -> Iterator[Record]:
    with suppress(OSError):
        yield from newest_records(path)


def since(records: Iterable[Record], earliest: datetime | None) -> Iterator[Record]:
    """Yield records, newest first, back to a moment."""
    for record in records:
        if earliest is not None and (at := moment_of(record)) is not None and at < earliest:
            return
        yield record


def show_records(out: Output, records: Iterable[Record]) -> None:
    out.table(COLUMNS, [cells(record) for record in records])
