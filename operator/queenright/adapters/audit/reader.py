"""Read a trail's records from the newest back.

Invariant: the cost of a read grows with the records asked for, not with the trail's length.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from queenright.adapters.audit.file import trail_files
from queenright.core.audit.chain import decode

_BLOCK_BYTES = 1 << 16


def newest_records(path: Path) -> Iterator[dict[str, object]]:
    """Yield the records of ``path`` and its older files, newest first. Raises OSError."""
    for file in reversed(trail_files(path) or [path]):
        for line in reversed_lines(file):
            record = decode(line)
            if record is not None:
                yield record


def reversed_lines(file: Path) -> Iterator[bytes]:
    """Yield a file's lines, last one first, without newlines and without empty lines."""
    with file.open("rb") as stream:
        position = stream.seek(0, os.SEEK_END)
        rest = b""
        while position > 0:
            size = min(_BLOCK_BYTES, position)
            position -= size
            stream.seek(position)
            rest, *lines = (stream.read(size) + rest).split(b"\n")
            yield from filter(None, reversed(lines))
        if rest:
            yield rest
