"""`pg_basebackup`, as Patroni finds it: one that does not end leaves no data to start on.

PostgreSQL's own program writes ``global/pg_control`` before it has synced what it copied. A power
cut in between leaves a directory that looks whole, with pages that were never on the disk. So this
one notes beside the data that a copy is under way, runs the program, and removes the note when that
has ended well, or has left nothing. Where the note is left, the entry point shows the directory as
a copy that was interrupted (``mark_interrupted``), which the operator has begun again.

Invariant: a directory that has files already, or that a server has run on, is never marked. A copy
that earlier images have made has no note, and is judged by its files as before.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import NoReturn

from .raft_aside import sync_directory
from .rewind import MANIFEST, own_program, remove_synced, take_away_control_file, write_synced

NOTE = "copy"
"""Its name in Raft's directory: the program copies into an empty one only."""
INTERRUPTED = "queenright-copy-interrupted"
"""A file in a data directory that a copy has left half done."""
OPTIONS = "postmaster.opts"
"""Each start of a server writes it, and no copy has it."""
_OF_DIRECTORY = ("-D", "--pgdata")
_DIES_WITH_PARENT = 1
"""Linux's PR_SET_PDEATHSIG."""


def main() -> NoReturn:
    """`pg_basebackup`: the arguments and the exit status are PostgreSQL's."""
    program = own_program(Path(sys.argv[0]))
    data = directory_in(sys.argv[1:])
    if data is None or not is_members(data):
        os.execv(program, [program, *sys.argv[1:]])  # noqa: S606 - replacing this process is the aim
    try:
        sys.exit(copy(program, sys.argv[1:], data))
    except OSError as error:
        print(f"pg_basebackup: no copy is made ({error}); Patroni tries again", file=sys.stderr)
        sys.exit(1)


def directory_in(arguments: Sequence[str]) -> Path | None:
    """Return the directory to copy into; None for `--help` and the like."""
    for word, following in zip_longest(arguments, arguments[1:]):
        if word in _OF_DIRECTORY and following:
            return Path(following)
        if word.startswith("--pgdata="):
            return Path(word.partition("=")[2])
    return None


def is_members(data: Path) -> bool:
    """Return True for an empty data directory of a member, with Raft's beside it."""
    return (data.parent / "raft").is_dir() and is_empty(data)


def is_empty(data: Path) -> bool:
    """Return True for a directory without a file, or none at all."""
    return not data.exists() or not any(data.iterdir())


def copy(program: str, arguments: Sequence[str], data: Path) -> int:
    """Run the program, and return its exit status, as a shell's where a signal ended it."""
    note = data.parent / "raft" / NOTE
    write_synced(note)
    if data.exists():
        sync_directory(data)  # what was removed from it does not come back in a power cut
    status = run([program, *arguments])
    if status == 0 or is_empty(data):
        remove_synced(note)
    return status if status >= 0 else 128 - status


def run(command: Sequence[str]) -> int:
    """Run a program that ends when this one does; return its exit status, or a signal's negative
    number. Its second process, which streams WAL, would go on without it: they end as a group."""
    library = ctypes.CDLL(None)

    def die_with_parent() -> None:
        library.prctl(_DIES_WITH_PARENT, signal.SIGKILL)

    child = subprocess.Popen(command, preexec_fn=die_with_parent, process_group=0)  # noqa: PLW1509 - no threads here

    def end(number: int, _: object = None) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, number)

    numbers = (signal.SIGTERM, signal.SIGINT)
    before = [signal.signal(number, end) for number in numbers]
    try:
        return child.wait()
    finally:
        end(signal.SIGKILL)
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def mark_interrupted(data: Path, raft: Path) -> bool:
    """Turn the note of a copy that did not end into a directory without a control file, which is
    what an interrupted copy is; False where there is none, or the data are whole or in use."""
    note = raft / NOTE
    if not note.exists():
        return False
    is_left = any(data.iterdir()) and not any(
        (data / name).exists() for name in (MANIFEST, OPTIONS)
    )
    if is_left:
        take_away_control_file(data, INTERRUPTED)
    remove_synced(note)
    return is_left
