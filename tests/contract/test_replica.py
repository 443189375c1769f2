"""Replicas made from a base backup and the archive, by a real PostgreSQL and a real S3 server.

The leader has removed the WAL that follows the base backup, so that only the archive has it.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from images.member.queenright_member.backup.repository import system_identifier
from queenright.core.kinds.postgres_cluster.schema.parameters import (
    REPLICA_NOTE,
    REPLICA_PARAMETERS,
)
from tests.contract.backup_places import archived, copied, initialise, programs_in, servers_in
from tests.contract.postgres_server import Server
from tests.contract.real_postgres import NOBODY, SUPERUSER_PASSWORD
from tests.support.member_programs import MemberPrograms
from tests.support.object_store import SECRET_KEY, ObjectStore

pytestmark = pytest.mark.lab

BUCKET = "backups"
ARCHIVING = {"archive_mode": "on", "wal_level": "replica", "hot_standby": "on"}
SMALL = {"min_wal_size": "32MB", "max_wal_size": "64MB", "wal_recycle": "off"}
SLOT = "member_2"


@pytest.fixture
def programs(store: ObjectStore, place: Path) -> MemberPrograms:
    found = programs_in(place, store, f"{BUCKET}/main")
    found.make_bucket(BUCKET)
    return found


@pytest.fixture
def servers(place: Path) -> Iterator[dict[str, Server]]:
    with servers_in(place, "first", "second", "replica") as found:
        yield found


def leading(programs: MemberPrograms, first: Server) -> None:
    """Start a server that archives, with a base backup of it, and ten rows after that."""
    initialise(first)
    command = programs.command("wal-archive", "%p")
    first.start(archive_command=command, **ARCHIVING, **SMALL)
    first.sql("CREATE TABLE kept (number integer)")
    at_first = {"BACKUP_HOST": "127.0.0.1", "BACKUP_PORT": str(first.port)}
    made = programs.run("base-backup", str(first.data), user=NOBODY, **at_first)
    assert made.returncode == 0, made.stderr


def go_on(server: Server, numbers: range) -> str:
    """Insert rows, each in a WAL file of its own, which is archived and then removed; return the
    first file's name."""
    (begun,) = server.sql("SELECT pg_walfile_name(pg_current_wal_lsn())")[0]
    for number in numbers:
        server.sql("INSERT INTO kept VALUES (%s)", number)
        archived(server)
    server.sql("CHECKPOINT")
    assert not (server.data / f"pg_wal/{begun}").exists(), "the leader has removed it"
    return str(begun)


def make(
    programs: MemberPrograms, replica: Server, leader: Server, **variables: str
) -> subprocess.CompletedProcess[str]:
    replica.data.mkdir(mode=0o700, exist_ok=True)
    os.chown(replica.data, NOBODY, NOBODY)
    words = [f"--datadir={replica.data}", f"--connstring=host=127.0.0.1 port={leader.port}"]
    words += ["--scope=main", "--role=replica"]
    variables = {"NODE_NAME": "member-2", **variables}
    return programs.run("replica-restore", *words, user=NOBODY, **variables)


def follow(programs: MemberPrograms, replica: Server, leader: Server) -> None:
    """Start a replica as Patroni does, with the restore command of the product."""
    (replica.data / "standby.signal").touch()
    os.chown(replica.data / "standby.signal", NOBODY, NOBODY)
    command = REPLICA_PARAMETERS["restore_command"]
    command = command.replace(REPLICA_NOTE, str(programs.replica_note))
    word = programs.command("replica-wal-restore")
    password = SUPERUSER_PASSWORD.replace("'", "\\'")
    replica.start(
        restore_command=command.replace("replica-wal-restore", word),
        primary_conninfo=f"host=127.0.0.1 port={leader.port} user=postgres password='{password}'",
        primary_slot_name=SLOT,
        recovery_target_timeline="latest",
        archive_command="false",
        **ARCHIVING,
    )


def caught_up(replica: Server, count: int) -> None:
    answers(replica, "SELECT count(*) FROM kept", count)


def streams(replica: Server, timeline: int) -> None:
    """Wait until it streams: what the archive has, it may have replayed before."""
    answers(replica, "SELECT received_tli FROM pg_stat_wal_receiver", timeline)


def answers(replica: Server, statement: str, number: int) -> None:
    deadline = time.monotonic() + 120
    while replica.sql(statement) != [(number,)]:
        assert time.monotonic() < deadline, log_of(replica)[-4000:]
        time.sleep(0.2)


def log_of(server: Server) -> str:
    return (server.home / "log").read_text()


@pytest.mark.timeout(900)
def test_a_replica_begins_with_the_backup_and_ends_with_the_leaders_stream(
    programs: MemberPrograms, servers: dict[str, Server]
) -> None:
    first, replica = servers["first"], servers["replica"]
    leading(programs, first)
    begun = go_on(first, range(6))

    # Without a slot, nothing says what the leader keeps.
    refused = make(programs, replica, first)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert f"keeps no WAL for this member (no replication slot {SLOT})" in refused.stderr
    first.sql("SELECT pg_create_physical_replication_slot(%s, true)", SLOT)
    # The archive has a timeline that was given up: a recovery would follow it.
    (position,) = first.sql("SELECT pg_current_wal_lsn()")[0]
    given_up = first.data / "pg_wal/00000002.history"
    given_up.write_text(f"1\t{position}\tno recovery target specified\n")
    assert programs.run("wal-archive", str(given_up), user=NOBODY).returncode == 0
    given_up.unlink()

    made = make(programs, replica, first)
    assert (made.stderr, made.returncode) == ("", 0)
    assert "replica-restore: restored base backup 2" in made.stdout
    assert programs.replica_note.exists()
    assert not (replica.data / ".from-backup").exists()
    first.sql("INSERT INTO kept VALUES (100)")
    follow(programs, replica, first)
    caught_up(replica, 7)
    assert f'restored log file "{begun}" from archive' in log_of(replica)
    streams(replica, 1)
    assert not programs.replica_note.exists(), "the archive has come to its end"
    times = []
    for _ in range(20):
        asked = time.monotonic()
        command = REPLICA_PARAMETERS["restore_command"].replace(REPLICA_NOTE, "/nowhere")
        assert subprocess.run(["/bin/sh", "-c", command], check=False).returncode == 1
        times.append(time.monotonic() - asked)
    print(f"restore_command without its note: {sorted(times)[10] * 1000:.1f} ms")
    before = log_of(replica).count("replica-wal-restore")
    first.stop()
    asked = time.monotonic()
    replica.sql("SELECT pg_promote(true, 60)")
    print(f"promoted in {time.monotonic() - asked:.2f} s")
    assert replica.sql("SELECT count(*) FROM kept") == [(7,)]
    assert log_of(replica).count("replica-wal-restore") == before
    assert SECRET_KEY not in log_of(replica) + made.stdout


@pytest.mark.timeout(900)
def test_a_backup_of_a_former_timeline_leads_to_the_present_one(
    programs: MemberPrograms, servers: dict[str, Server]
) -> None:
    first, second, replica = servers["first"], servers["second"], servers["replica"]
    leading(programs, first)
    copied(first, second)
    command = programs.command("wal-archive", "%p")
    second.start(archive_command=command, **ARCHIVING, **SMALL)
    go_on(first, range(3))
    caught_up(second, 3)
    first.kill()
    second.sql("SELECT pg_promote(true, 60)")
    second.sql("CHECKPOINT")
    go_on(second, range(3, 6))
    second.sql("SELECT pg_create_physical_replication_slot(%s, true)", SLOT)
    made = make(programs, replica, second)
    assert (made.stderr, made.returncode) == ("", 0)
    follow(programs, replica, second)
    caught_up(replica, 6)
    streams(replica, 2)
    assert not programs.replica_note.exists()


@pytest.mark.timeout(900)
def test_what_does_not_lead_to_the_leader_leaves_an_empty_directory_and_one_line(
    programs: MemberPrograms, servers: dict[str, Server], store: ObjectStore
) -> None:
    first, replica = servers["first"], servers["replica"]
    leading(programs, first)
    go_on(first, range(3))
    first.sql("SELECT pg_create_physical_replication_slot(%s, true)", SLOT)

    def refusal() -> str:
        found = make(programs, replica, first)
        assert found.returncode == 1
        assert not any(replica.data.iterdir())
        assert not programs.replica_note.exists()
        (line,) = found.stderr.splitlines()
        assert line.endswith("; this member is copied from another one")
        assert SECRET_KEY not in found.stdout + line
        return line

    of_system = f"/{system_identifier(first.data)}/wals/"
    files = [name for name in programs.stored(BUCKET) if of_system in name]
    lost = sorted(name for name in files if ".backup" not in name)[-2]
    programs.stored(BUCKET, lost)
    name = lost.rpartition("/")[2].removesuffix(".gz")
    assert f"WAL file {name}, which base backup 2" in refusal()
    store.stop_proxy()
    assert f"{store.endpoint} does not answer" in refusal()
    store.start_proxy()
    base = [name for name in programs.stored(BUCKET) if "/base/" in name]
    programs.stored(BUCKET, *base)
    assert "has no whole base backup from which timeline 1 is reached" in refusal()
    first.stop()
    assert "the leader does not answer" in refusal()
