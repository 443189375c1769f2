"""Writes a Raft node's files to the disk every two seconds, beside Patroni.

A net below `raft_durable`, by which what counts is on the disk at once: pysyncobj itself syncs
nothing, and half a minute of committed entries could be gone. This is a small process of its own,
which imports nothing of Patroni's: it ends with Patroni (it waits on Patroni's process descriptor),
and Patroni never waits for it, nor learns of its end. Invariant: it reads directories and syncs; it
writes nothing.
"""

import os
import select
import sys
import time
from collections.abc import Callable, Iterator

PERIOD_S = 2.0
ENDINGS = (".journal", ".journal.meta", ".dump")


def sync_beside(directory: str, period_s: float = PERIOD_S) -> None:
    """Start the process for the one that calls this, which then becomes Patroni.

    Forked twice, so that it is nobody's child, and Patroni has no unexpected one.
    """
    own = os.getpid()
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if not os.fork():
            command = [sys.executable, "-I", "-S", os.path.abspath(__file__)]  # noqa: PTH100 - no pathlib: it is small
            os.execve(command[0], [*command, directory, str(own), str(period_s)], {})  # noqa: S606 - no shell
    finally:
        os._exit(0)


def files_in(directory: str) -> Iterator[str]:
    """The files to sync, then their directory: their names must last as well."""
    with os.scandir(directory) as entries:
        yield from sorted(entry.path for entry in entries if entry.name.endswith(ENDINGS))
    yield directory


def sync_all(directory: str, fsync: Callable[[int], None] = os.fsync) -> str:
    """Sync every file once; what failed, as text. A file that is gone by then was replaced."""
    failed = ""
    try:
        for path in files_in(directory):
            try:
                descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            except FileNotFoundError:
                continue
            try:
                fsync(descriptor)
            except OSError as error:
                failed = f"{path}: {error.strerror}"
            finally:
                os.close(descriptor)
    except OSError as error:
        failed = f"{directory}: {error.strerror}"
    return failed


def waiting_for(pid: int) -> Callable[[float], bool]:
    """Returns a function that waits at most so many seconds, and is True once the process ended."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return lambda _: True
    except OSError:  # an old kernel, or a strict seccomp profile
        return lambda seconds: time.sleep(seconds) or not os.path.exists(f"/proc/{pid}")  # noqa: PTH110 - as above
    return lambda seconds: bool(select.select([descriptor], [], [], seconds)[0])


def main() -> None:
    """`raft_sync.py DIRECTORY PID SECONDS`: sync until that process has ended, and once more."""
    directory, pid, period_s = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    has_ended, told = waiting_for(pid), ""
    while not has_ended(period_s):
        failed = sync_all(directory)
        if failed and failed != told:
            print(f"WARNING: Raft file {failed}; it is not safe from a power cut", file=sys.stderr)
        told = failed
    sync_all(directory)


if __name__ == "__main__":
    main()
