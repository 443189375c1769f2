"""Reads a trail's newest records first, as far back as somebody wants to look.

Decides nothing. Invariant: what is read grows with what is asked for, not with the trail's length.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from queenright.adapters.trail_file import trail_files
from queenright.core.audit_chain import decode

_BLOCK_BYTES = 1 << 16


def newest_records(path: Path) -> Iterator[dict[str, object]]:
    """The records of ``path`` and its older files, newest first. Raises OSError."""
    for file in reversed(trail_files(path) or [path]):
        for line in reversed_lines(file):
            record = decode(line)
            if record is not None:
                yield record


def reversed_lines(file: Path) -> Iterator[bytes]:
    """A file's lines, last one first, without their newlines; empty ones are left out."""
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
