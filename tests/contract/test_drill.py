"""Drills with a real PostgreSQL and a real S3 server: what a good backup and a damaged one say."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.backup_places import (
    archived,
    initialise,
    programs_in,
    server_in,
)
from tests.contract.postgres_server import Server
from tests.contract.real_postgres import NOBODY, binaries
from tests.support.member_programs import MemberPrograms
from tests.support.object_store import SECRET_KEY, ObjectStore, object_store

pytestmark = pytest.mark.lab

BUCKET = "drills"
CANARY = "queenright_canary"
PROVED = re.compile(
    r"proved backup=(\S+) seconds=([0-9]+) bytes=([0-9]+) databases=([0-9]+) "
    r"reached=(\S+) canary=(\S+)"
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    with object_store(tmp_path_factory.mktemp("store") / "swift") as found:
        yield found


@pytest.fixture
def programs(store: ObjectStore, place: Path) -> MemberPrograms:
    return programs_in(place, store, f"{BUCKET}/main")


@pytest.fixture
def server(programs: MemberPrograms, place: Path) -> Iterator[Server]:
    """A server that archives, with a canary's table."""
    programs.make_bucket(BUCKET)
    found = server_in(place, "server")
    initialise(found)
    found.start(
        archive_mode="on",
        archive_command=programs.command("wal-archive", "%p"),
        max_connections="120",
    )
    found.sql(f"CREATE DATABASE {CANARY}")
    try:
        yield found
    finally:
        found.stop()


def beat(server: Server) -> None:
    """Write a row as the canary does, in its own database."""
    statement = (
        "CREATE TABLE IF NOT EXISTS public.beat (id bigint PRIMARY KEY, at timestamptz NOT NULL "
        "DEFAULT now()); INSERT INTO public.beat SELECT coalesce(max(id), 0) + 1 FROM public.beat"
    )
    server.program(
        "psql", "-h", "127.0.0.1", "-p", str(server.port), "-U", "postgres", "-d", CANARY,
        "-c", statement,
    )  # fmt: skip


def made(programs: MemberPrograms, server: Server) -> str:
    """Make a base backup; return its id."""
    at = {"BACKUP_HOST": "127.0.0.1", "BACKUP_PORT": str(server.port)}
    done = programs.run("base-backup", str(server.data), user=NOBODY, **at)
    assert (done.stderr, done.returncode) == ("", 0)
    found = re.search(r"id=(\S+)", done.stdout)
    assert found is not None
    return found[1]


def drill(
    programs: MemberPrograms, place: Path, server: Server, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a drill in an empty directory, which is gone afterwards."""
    ((system,),) = server.sql("SELECT system_identifier::text FROM pg_control_system()")
    restore = programs.command("wal-restore", "%f", "%p")
    with tempfile.TemporaryDirectory(dir=place) as found:
        data = Path(found)
        os.chown(data, NOBODY, NOBODY)
        subprocess.run(["rm", "-rf", str(programs.home / "tmp/drill")], check=True)
        return programs.run(
            "backup-drill", str(data), str(binaries()), restore, user=NOBODY,
            BACKUP_SYSTEM=str(system), **variables,
        )  # fmt: skip


def failure(programs: MemberPrograms, place: Path, server: Server, **variables: str) -> str:
    """Return the one line with which a drill fails."""
    done = drill(programs, place, server, **variables)
    assert done.returncode == 1, done.stdout
    (line,) = done.stderr.splitlines()
    assert SECRET_KEY not in done.stdout + line
    return line.removeprefix("backup-drill: failed: ")


@pytest.mark.timeout(1800)
def test_a_drill_tells_what_it_proved_and_finds_what_is_missing(
    programs: MemberPrograms, server: Server, place: Path, store: ObjectStore
) -> None:
    server.sql("CREATE TABLE kept (number integer PRIMARY KEY)")
    server.sql("INSERT INTO kept SELECT generate_series(1, 1000)")
    backup = made(programs, server)
    server.sql("CREATE SUBSCRIPTION elsewhere CONNECTION 'host=127.0.0.1 port=1' PUBLICATION p "
               "WITH (connect = false)")  # fmt: skip
    server.sql("INSERT INTO kept SELECT generate_series(1001, 2000)")
    middle = archived(server)
    beat(server)
    server.sql(f"ALTER ROLE postgres IN DATABASE {CANARY} SET statement_timeout = 1")
    server.sql(f"ALTER DATABASE {CANARY} SET default_transaction_read_only = on")
    before = server.sql("SELECT now()::text, clock_timestamp()")[0][1]
    last = archived(server)
    asked = {"DRILL_BACKUP": backup, "DRILL_WAL": last, "DRILL_CANARY": CANARY}
    stored = programs.stored(BUCKET)

    done = drill(programs, place, server, **asked)
    assert (done.returncode, done.stderr) == (0, "")
    told = PROVED.search(done.stdout)
    assert told is not None, done.stdout
    assert told[1] == backup
    assert int(told[3]) > 1_000_000
    assert int(told[4]) == 3
    assert told[6][:10] == f"{before:%Y-%m-%d}"
    assert told[5] >= told[6]
    log = (programs.home / "tmp/drill/log").read_text()
    assert "listening on IPv" not in log
    assert programs.stored(BUCKET) == stored

    assert_tells_refusals(programs, place, server, store, backup)
    names = programs.stored(BUCKET)
    (gone,) = [name for name in names if middle in name]
    assert_found(programs, place, server, gone, (
        f"before WAL file {last}, which was archived when the drill began; WAL file {middle} (or "
        "that of a former timeline) is missing in the repository or damaged"
    ), **asked)  # fmt: skip


def assert_tells_refusals(
    programs: MemberPrograms, place: Path, server: Server, store: ObjectStore, backup: str
) -> None:
    later = "99990101T000000"
    assert failure(programs, place, server, DRILL_BACKUP=later) == (
        f"base backup {later} was made, and s3://{BUCKET}/main has it no more; the newest that is "
        f"whole is {backup}"
    )
    assert failure(programs, place, server, BACKUP_URL="s3://nowhere/main") == (
        f"there is no bucket nowhere at {store.endpoint}; create the bucket or correct its name"
    )


def assert_found(
    programs: MemberPrograms, place: Path, server: Server, gone: str, why: str, **asked: str
) -> None:
    """Delete an object; the drill says so."""
    assert gone not in programs.stored(BUCKET, gone)
    assert failure(programs, place, server, **asked).endswith(why)


@pytest.mark.timeout(1800)
def test_a_drill_finds_a_backup_without_its_data_and_a_damaged_table(
    programs: MemberPrograms, server: Server, place: Path
) -> None:
    server.sql("CREATE TABLE kept (number integer PRIMARY KEY)")
    server.sql("INSERT INTO kept SELECT generate_series(1, 20000)")
    ((file,),) = server.sql("SELECT pg_relation_filepath('kept_pkey')")
    server.stop()
    damage(server.data / str(file))
    server.start(archive_mode="on", archive_command=programs.command("wal-archive", "%p"))
    backup = made(programs, server)
    why = failure(programs, place, server, DRILL_BACKUP=backup)
    assert why.startswith(f"base backup {backup}: pg_amcheck found damage: ")
    assert "kept_pkey" in why

    (gone,) = [n for n in programs.stored(BUCKET) if backup in n and n.endswith("data.tar.gz")]
    programs.stored(BUCKET, gone)
    why = failure(programs, place, server, DRILL_BACKUP=backup)
    assert why.startswith(f"base backup {backup} is not restored: ")
    assert "Missing file main/" in why


def damage(file: Path) -> None:
    """Exchange two items in the first leaf page of an index, as a failing disk would."""
    with file.open("r+b") as opened:
        opened.seek(8192)
        page = bytearray(opened.read(8192))
        # Line pointers begin after the page's header of 24 bytes, 4 bytes each.
        page[40:44], page[60:64] = page[60:64], page[40:44]
        opened.seek(8192)
        opened.write(page)
