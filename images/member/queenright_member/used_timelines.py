"""Keeps a member that is promoted from taking the number of a timeline that another one has used.

PostgreSQL takes the first number without a history file in its own ``pg_wal``. A member that never
heard of the newest timeline, and leads on without whom wrote on it, would begin that number anew;
Patroni takes two members on one number for the same history, so that the other one, when it comes
back, is not rewound and goes on with rows that its leader does not have. Patroni runs this before
each promotion (``pre_promote``): each number that Patroni's history knows, and ``pg_wal`` does not,
gets a history file without a line, which is nobody's ancestor. Invariant: no file is changed, and
whatever fails here keeps nobody from leading.

A member that is kept from the promotion after all goes on as a replica, and such a file keeps it
from starting: before each start of PostgreSQL they go again (``before_start``).
"""

import json
import os
import socket
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import yaml

from .raft_aside import sync_directory

PROGRAM = "/usr/local/bin/skip-used-timelines"
WAL = Path("/home/postgres/pgdata/pg_wal")
PORT = 8008
ANSWER_BYTES = 1 << 20
TIMEOUT_S = 1.5
MOST = 100
"""Numbers to skip at once: a history that asks for more is damaged."""
TEXT = "# Used by a leader whose data this member does not have.\n"


def main() -> None:
    """`skip-used-timelines [PORT]`: exit status 0, whatever happens; a failure is a warning."""
    port = int(sys.argv[1]) if sys.argv[1:2] and sys.argv[1].isdigit() else PORT
    try:
        made = skip(WAL, newest_in(ask(port)))
    except Exception as error:  # noqa: BLE001 - a leader is worth more than a free number
        print(f"WARNING: used timelines are not skipped: {error}", file=sys.stderr, flush=True)
        return
    for number in made:
        print(f"WARNING: timeline {number} was used by a leader whose data is not here; skipped")


def ask(port: int, host: str = "127.0.0.1") -> object:
    """The history of the cluster's timelines, as this member's Patroni has it; OSError or
    ValueError where it does not answer."""
    with socket.create_connection((host, port), TIMEOUT_S) as connection:
        connection.sendall(f"GET /history HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
        head, _, body = connection.makefile("rb").read(ANSWER_BYTES).partition(b"\r\n\r\n")
    if b" 200 " not in head.split(b"\r\n")[0]:
        raise ValueError(f"no history on port {port}")
    return json.loads(body)


def newest_in(history: object) -> int:
    """The newest timeline of a history, whose lines each name one that has ended; 0 without any."""
    if not isinstance(history, Sequence) or not history:
        return 0
    return max(int(line[0]) for line in history) + 1


def skip(wal: Path, newest: int) -> list[int]:
    """Make the history files of the numbers up to ``newest`` that are not there and are newer than
    all that are; return these numbers. ValueError where they are too many to be true."""
    numbers = range(max(known(wal.iterdir()), default=1) + 1, newest + 1)
    if len(numbers) > MOST:
        raise ValueError(f"the history ends with timeline {newest}, {len(numbers)} after the own")
    for number in numbers:
        with file_of(wal, number).open("x", encoding="utf-8") as file:
            file.write(TEXT)
            file.flush()
            os.fsync(file.fileno())
    if numbers:
        sync_directory(wal)
    return list(numbers)


def forget(wal: Path) -> list[int]:
    """Remove the history files that ``skip`` has made and no promotion came after; return their
    numbers. These are newer than all that PostgreSQL has made or fetched.

    Why: a replica follows the newest history file, and that timeline has no WAL and no ancestor."""
    numbers = sorted(known(wal.iterdir()))
    found: list[int] = []
    while numbers and is_made(file_of(wal, numbers[-1])):
        found.insert(0, numbers.pop())
        file_of(wal, found[0]).unlink()
    if found:
        sync_directory(wal)
    return found


def is_made(path: Path) -> bool:
    """Return True for a history file of ``skip``'s, whole or cut off while it was written."""
    return TEXT.encode().startswith(path.read_bytes())


def file_of(wal: Path, number: int) -> Path:
    """The history file of a timeline."""
    return wal / f"{number:08X}.history"


def known(files: Iterable[Path]) -> Iterable[int]:
    """The numbers of the timelines that have a history file."""
    for path in files:
        if path.suffix == ".history" and len(path.stem) == 8:
            yield int(path.stem, 16)


def skipping(text: str) -> str:
    """Patroni's configuration with this program before each promotion, unless it has another."""
    configuration = yaml.safe_load(text)
    own = configuration.get("postgresql") if isinstance(configuration, dict) else None
    if not isinstance(own, dict) or "pre_promote" in own:
        return text  # Patroni says what is wrong with it
    own["pre_promote"] = PROGRAM
    return str(yaml.safe_dump(configuration, sort_keys=False))
