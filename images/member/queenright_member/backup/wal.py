"""Programs for PostgreSQL: `wal-archive PATH` (archive_command), `wal-restore NAME PATH`, and
`parent-wal-restore NAME PATH`, which reads the repository of a cluster that this one is made from.

`wal-archive` ends with 0 only once the repository has the file, which `kept_wal` decides, and
otherwise with 1, so that PostgreSQL keeps the file and tries again. A status above 125 ends
PostgreSQL's archiver: on a replica that is told to end it would else try thrice first.
`wal-restore` ends with 1 if the repository has not got the file, which is how a recovery finds its
end; any other failure ends it with 255, at which PostgreSQL stops the recovery: it must not end
before the WAL does because a server was away.

The data directory is found from PATH, two levels above the file. PostgreSQL names it relative to
its data directory, in which it runs the command. Patroni, which archives what a former leader has
left before it rewinds that, names it in full and runs the command elsewhere.
"""

import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from .archive import ABSENT
from .barman import PROGRAMS, Barman, BarmanError
from .kept_wal import LOOKS_S, Call, Verdict, note_fetched, verdict
from .repository import OWN, PARENT, SECRETS, RepositoryError, read_repository, system_identifier

TIMEOUT_S = 300.0
ABSENT_STATUS = 1
STOP_RECOVERY = 255
STOP_ARCHIVER = 143
FAILED = Path("/tmp/wal-archive.failed")
"""The cause of the last try, while it failed; the operator reads it through PostgreSQL."""
LONGEST_CAUSE = 300
TRIES, AGAIN_S = 30, 10.0
"""The tries, and the pauses between them, for a file of a restored cluster's parent."""


def archive_main() -> NoReturn:
    """`wal-archive PATH`: archive the file that PostgreSQL names, relative to its own folder."""
    sys.exit(archive(sys.argv[1:], os.environ, failed=FAILED))


def restore_main() -> NoReturn:
    """`wal-restore NAME PATH`: fetch a file for a recovery."""
    sys.exit(restore(sys.argv[1:], os.environ))


def parent_restore_main() -> NoReturn:
    """`parent-wal-restore NAME PATH`: fetch a file of the cluster that this one is made from."""
    sys.exit(patiently_restore(sys.argv[1:], os.environ))


def patiently_restore(
    arguments: Sequence[str],
    environ: Mapping[str, str],
    secrets: Path = SECRETS,
    programs: Path = PROGRAMS,
    again_s: float = AGAIN_S,
) -> int:
    """Fetch one of the parent's files, and return the exit status; a failure is tried again for
    some minutes, because one that stops the recovery costs all of what was restored."""
    for _ in range(TRIES - 1):
        status = restore(arguments, environ, secrets, programs, PARENT)
        if status != STOP_RECOVERY or len(arguments) != 2:
            return status
        time.sleep(again_s)
    return restore(arguments, environ, secrets, programs, PARENT)


def archive(
    arguments: Sequence[str],
    environ: Mapping[str, str],
    secrets: Path = SECRETS,
    programs: Path = PROGRAMS,
    looks_s: Sequence[float] = LOOKS_S,
    *,
    failed: Path | None = None,
) -> int:
    """Send one file to the repository, or wait on a replica until it is there, and return the exit
    status; ``failed`` is the file for the cause, where one is kept."""
    if len(arguments) != 1:
        print("usage: wal-archive PATH", file=sys.stderr)
        return 1
    given = Path(arguments[0])
    path = given.absolute()

    def archive_of_system() -> Barman:
        repository = read_repository(environ, secrets)
        return Barman(repository, system_identifier(data_of(path)), programs)

    try:
        match verdict(Call(path, given.is_absolute(), looks_s), archive_of_system):
            case Verdict.UPLOAD:
                barman = archive_of_system()
                options = barman.repository.upload_options
                barman.run("wal-archive", options, [str(path)], timeout_s=TIMEOUT_S)
            case Verdict.KEEP:
                print(f"WAL {path.name}: is kept until the leader has archived it", file=sys.stderr)
                return 1
            case Verdict.STOP:
                return STOP_ARCHIVER
            case Verdict.DONE:
                pass
    except (RepositoryError, BarmanError, OSError) as error:
        print(f"WAL {path.name}: is not archived: {error}", file=sys.stderr)
        note(failed, str(error))
        # A leader that ends would try thrice while nobody can write. The next one has the file.
        return STOP_ARCHIVER if Call(path).is_told_to_stop() else 1
    note(failed, "")
    return 0


def note(file: Path | None, cause: str) -> None:
    """Keep the cause of a failure for the status, in letters that every encoding has; none where
    the text is empty. The archiving does not depend on it."""
    text = " ".join(cause.split()).encode("ascii", "replace")[:LONGEST_CAUSE]
    if file is None:
        return
    new = file.with_suffix(".new")
    try:
        if text:
            new.write_bytes(text)
            new.replace(file)
        else:
            file.unlink(missing_ok=True)
    except OSError:
        return


def restore(
    arguments: Sequence[str],
    environ: Mapping[str, str],
    secrets: Path = SECRETS,
    programs: Path = PROGRAMS,
    kind: str = OWN,
) -> int:
    """Fetch one file, and return the exit status."""
    if len(arguments) != 2:
        print("usage: wal-restore NAME PATH", file=sys.stderr)
        return STOP_RECOVERY
    name, path = arguments[0], Path(arguments[1]).absolute()
    try:
        repository = read_repository(environ, secrets, kind)
        barman = Barman(repository, system_identifier(data_of(path)), programs)
        found = barman.run(
            "wal-restore",
            arguments=[name, str(path)],
            timeout_s=TIMEOUT_S,
            absent=ABSENT,
        )
        if kind == PARENT and found is not None:
            note_fetched(data_of(path), name)
    except (RepositoryError, BarmanError, OSError) as error:
        print(f"WAL {name}: is not restored: {error}", file=sys.stderr)
        return STOP_RECOVERY
    return 0 if found is not None else ABSENT_STATUS


def data_of(path: Path) -> Path:
    """Return the data directory of a file in its `pg_wal`."""
    return path.parent.parent
