"""`pg_rewind`, as Patroni finds it in its PATH: one that does not end leaves no data that start.

PostgreSQL's own program removes and overwrites files first, and writes the control file last. Ended
in between (a power cut, a killed container, a leader that goes away), it leaves a directory that
looks whole: PostgreSQL may start on pages of two timelines, or fails at each start for want of the
WAL that was removed. Its manual asks for a new base backup then.

So this one notes beside the data that a rewind is under way, runs the program, and empties the
control file as soon as that begins to change the directory; the program writes the file whole at
its end. Where the note is left, the entry point shows the directory as a copy that was interrupted,
which the operator has begun anew as soon as there is a leader. No row is lost by that which the
rewind would have kept. Invariant: where the program has changed nothing, nothing is changed here,
but for the manifest of a former copy, which no server reads.

It reads the former leader's own WAL back to the last checkpoint before the two went apart. The
recovery after a power cut ends with a checkpoint of its own, at which PostgreSQL removes that WAL:
without it no rewind is possible, at any try. Where the cluster archives its WAL, the program is run
again with the archive to read from.

The note is of the data that were there. A new copy may take their place while the container goes
on (`patronictl reinit`); the manifest that it ends with tells, since a rewind leaves none.
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from .raft_aside import sync_directory
from .removed import Counting
from .removed import note as note_removed

NOTE = "rewind"
"""Its name in Raft's directory, which no rewind and no copy of the data touches. It has the number
of this process, which the health check asks for."""
TORN = "queenright-rewind-interrupted"
"""A file in a data directory that a rewind has left half done."""
CONTROL = Path("global/pg_control")
CONTROL_BYTES = 8192
MANIFEST = "backup_manifest"
"""`pg_basebackup` writes it last, when its copy is whole and on the disk."""
BEGINS = "need to copy "
"""In the program's line before it changes the first file, with `--progress`."""
PROGRESS = " kB ("
"""In its lines while it copies, which nobody reads in a log."""
_LACKS_WAL = re.compile(r'could not open file ".*/pg_wal/[0-9A-F]{24}": No such file')
ARCHIVE = "BACKUP_URL"
"""The variable that a member of a cluster with an archive has."""
RESTORE_COMMAND = "wal-restore %f %p"


@dataclass
class Outcome:
    """The end of a run of PostgreSQL's program: its exit status, and what its words told."""

    status: int
    has_begun: bool
    lacks_wal: bool


def main() -> NoReturn:
    """`pg_rewind`: the arguments and the exit status are PostgreSQL's."""
    program = own_program(Path(sys.argv[0]))
    data = directory_in(sys.argv[1:])
    if data is None:
        os.execv(program, [program, *sys.argv[1:]])  # noqa: S606 - replacing this process is the aim
    sys.exit(rewind(program, sys.argv[1:], data))


def own_program(wrapper: Path) -> str:
    """Return the path of PostgreSQL's program: the next one of this name in PATH."""
    here = str(wrapper.resolve().parent)
    folders = [one for one in os.get_exec_path() if str(Path(one).resolve()) != here]
    found = shutil.which(wrapper.name, path=os.pathsep.join(folders))
    if found is None:
        print(f"{wrapper.name}: PostgreSQL's program is not in PATH", file=sys.stderr)
        sys.exit(1)
    return found


def directory_in(arguments: Sequence[str]) -> Path | None:
    """Return the data directory that a rewind is asked for; None for `--help` and the like."""
    with contextlib.suppress(ValueError, IndexError):
        return Path(arguments[arguments.index("-D") + 1])
    return None


def rewind(program: str, arguments: Sequence[str], data: Path) -> int:
    """Run the program, and return its exit status, as a shell's where a signal ended it."""
    note = data.parent / "raft" / NOTE
    forget_former(data, note)
    if note.exists():
        # The former one was ended before it could empty the file, and the container goes on.
        empty_control_file(data)
        print("pg_rewind: a former rewind did not end; a new copy is needed", file=sys.stderr)
        return 1
    remove_synced(data / MANIFEST)
    write_synced(note, str(os.getpid()))
    found = run(program, arguments, data)
    if found.lacks_wal and not found.has_begun and os.environ.get(ARCHIVE):
        print("pg_rewind: runs again, with the archive to read WAL from", file=sys.stderr)
        with configuration(data) as file:
            options = ["--restore-target-wal", f"--config-file={file}"]
            found = run(program, [*arguments, *options], data)
    if found.status == 0 or not found.has_begun:
        remove_synced(note)
    return found.status if found.status >= 0 else 128 - found.status


@contextlib.contextmanager
def configuration(data: Path) -> Iterator[Path]:
    """Make a configuration that is the server's own and reads the archive: the server has no
    `restore_command`, because each promotion would ask the archive first."""
    own = str(data / "postgresql.conf").replace("'", "''")
    with tempfile.TemporaryDirectory(prefix="rewind-") as folder:
        file = Path(folder) / "postgresql.conf"
        file.write_text(f"include '{own}'\nrestore_command = '{RESTORE_COMMAND}'\n")
        yield file


def run(program: str, arguments: Sequence[str], data: Path) -> Outcome:
    """Run PostgreSQL's program, and pass its words on."""
    child = subprocess.Popen(
        [program, "--progress", *arguments], stderr=subprocess.PIPE, text=True, errors="replace"
    )
    has_begun, lacks_wal = follow(child.stderr or (), data)
    return Outcome(child.wait(), has_begun, lacks_wal)


def follow(lines: Iterable[str], data: Path) -> tuple[bool, bool]:
    """Pass the program's lines on; return whether it has begun to change the directory, and whether
    it lacks WAL."""
    has_begun = lacks_wal = False
    counting, raft, removed = Counting(data), data.parent / "raft", None
    for line in without_progress(lines):
        counting.hear(line)
        if BEGINS in line and not has_begun:
            has_begun = True
            empty_control_file(data)
            removed = counting.end()
            note_removed(raft, removed)
        lacks_wal = lacks_wal or bool(_LACKS_WAL.search(line))
        sys.stderr.write(line)
    sys.stderr.flush()
    if removed is not None and removed.commits is None:
        note_removed(raft, counting.end(), removed)
    counting.close()
    return has_begun, lacks_wal


def without_progress(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines that are no figures of progress."""
    for line in lines:
        if PROGRESS not in line:
            yield line


def empty_control_file(data: Path) -> None:
    """Have no PostgreSQL start on the directory: the control file has no valid identifier. It keeps
    its size, and the program, which opens it again at its end, writes it whole."""
    with (data / CONTROL).open("r+b") as file:
        file.write(bytes(CONTROL_BYTES))
        file.flush()
        os.fsync(file.fileno())


def take_note(data: Path, raft: Path) -> bool:
    """Turn the note of a rewind that did not end into a directory without a control file, which is
    what an interrupted copy is; False where there is none."""
    note = raft / NOTE
    forget_former(data, note)
    if not note.exists():
        return False
    if any(data.iterdir()):
        take_away_control_file(data, TORN)
    remove_synced(note)
    return True


def take_away_control_file(data: Path, mark: str) -> None:
    """Have no PostgreSQL start on a directory, and a file of this name in it say why."""
    write_synced(data / mark)
    (data / CONTROL).unlink(missing_ok=True)
    with contextlib.suppress(FileNotFoundError):
        sync_directory(data / CONTROL.parent)


def forget_former(data: Path, note: Path) -> None:
    """Remove the note of data in whose place a new copy is; nothing where there is none."""
    if note.exists() and (data / MANIFEST).exists():
        remove_synced(note)


def write_synced(path: Path, text: str = "") -> None:
    """Make a file of one line that lasts through a power cut."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        os.write(descriptor, text.encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    sync_directory(path.parent)


def remove_synced(path: Path) -> None:
    path.unlink(missing_ok=True)
    sync_directory(path.parent)
