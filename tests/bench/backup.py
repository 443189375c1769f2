"""Throughput of base backups and restores beside ``pg_basebackup`` alone, in turn.

Needs no lab: PostgreSQL, the member image's programs and an S3 server (OpenStack Swift, in Python,
with its disks in a directory) are processes of this machine, so that nothing but them is measured.
Half of the data can be compressed well, half by a half.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.bench.figures import spread
from tests.contract.backup_places import archived, initialise, passable, programs_in, server_in
from tests.contract.postgres_server import Server
from tests.contract.real_postgres import NOBODY
from tests.support.member_programs import MemberPrograms
from tests.support.object_store import ObjectStore

BUCKET = "backups"
ROUNDS = 3
ROWS = 1_600_000
MEBI = 1 << 20
FILL = (
    "CREATE TABLE plain AS SELECT n, repeat('x', 120) AS text FROM generate_series(1, %s) n",
    (
        "CREATE TABLE mixed AS SELECT n, md5(n::text) || md5((n + 1)::text) || md5((n + 2)::text) "
        "AS text FROM generate_series(1, %s) n"
    ),
)


def bench_backup() -> None:
    with tempfile.TemporaryDirectory() as home, passable("bench-") as place:
        store = ObjectStore(Path(home) / "swift")
        try:
            store.start()
            measure(programs_in(place, store, f"{BUCKET}/main"), server_in(place, "main"))
        finally:
            store.stop()


def measure(programs: MemberPrograms, server: Server) -> None:
    programs.make_bucket(BUCKET)
    initialise(server)
    command = programs.command("wal-archive", "%p")
    server.start(archive_mode="on", archive_command=command, max_wal_size="4GB")
    try:
        for statement in FILL:
            server.sql(statement, ROWS)
        server.sql("CHECKPOINT")
        archived(server)
        print(f"data: {size_of(server) / MEBI:.0f} MB")
        rates: dict[str, list[float]] = {}
        for _ in range(ROUNDS):
            for name, work in works(programs, server).items():
                rates.setdefault(name, []).append(rate_of(work, server))
        base = rates["pg_basebackup alone"]
        for name, found in rates.items():
            ratio = sorted(found)[len(found) // 2] / sorted(base)[len(base) // 2]
            print(f"{name:24} {spread(found, 'MB/s', 0)}  {ratio:.2f} of pg_basebackup")
    finally:
        server.stop()


def works(programs: MemberPrograms, server: Server) -> dict[str, Callable[[], None]]:
    """Return what is measured, by name, in turn."""

    def plain() -> None:
        target = server.home / "plain"
        server.program(
            "pg_basebackup", "-h", "127.0.0.1", "-p", str(server.port), "-U", "postgres",
            "-D", str(target), "-c", "fast", "-X", "none", "--no-sync",
        )  # fmt: skip
        shutil.rmtree(target)

    def backup(compression: str) -> None:
        at = {"BACKUP_HOST": "127.0.0.1", "BACKUP_PORT": str(server.port)}
        made = programs.run(
            "base-backup", str(server.data), user=NOBODY, BACKUP_COMPRESSION=compression, **at
        )
        if made.returncode != 0:
            raise RuntimeError(made.stderr)

    def restore() -> None:
        target = programs.home / "restored"
        words = ("latest", str(target))
        found = programs.run("base-restore", str(server.data), *words)
        if found.returncode != 0 or not re.match("restored ", found.stdout):
            raise RuntimeError(found.stderr)
        shutil.rmtree(target)

    return {
        "pg_basebackup alone": plain,
        "backup, gzip": lambda: backup("gzip"),
        "restore, gzip": restore,
        "backup, none": lambda: backup("none"),
        "restore, none": restore,
    }


def rate_of(work: Callable[[], None], server: Server) -> float:
    began = time.monotonic()
    work()
    return size_of(server) / MEBI / (time.monotonic() - began)


def size_of(server: Server) -> float:
    """Return the size of the databases, in bytes."""
    ((found,),) = server.sql("SELECT sum(pg_database_size(oid)) FROM pg_database")
    return float(str(found))
