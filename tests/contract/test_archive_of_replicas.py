"""Archiving across a change of the leader, with a real PostgreSQL and a real S3 server: a replica
keeps what the leader has not archived, and archives it when it leads."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from images.member.queenright_member.backup.kept_wal import FETCHED
from tests.contract.backup_places import archived, programs_in, servers_in
from tests.contract.postgres_server import Server
from tests.contract.real_postgres import NOBODY
from tests.contract.test_backup import BUCKET, MODE, insert, pair, restored_rows, whole_files
from tests.support.member_programs import MemberPrograms
from tests.support.object_store import ObjectStore

pytestmark = pytest.mark.lab


@pytest.fixture
def programs(store: ObjectStore, place: Path) -> MemberPrograms:
    return programs_in(place, store, f"{BUCKET}/of/replicas")


@pytest.fixture
def servers(place: Path) -> Iterator[dict[str, Server]]:
    with servers_in(place, "first", "second", "restored") as found:
        yield found


def files(server: Server, numbers: range) -> list[str]:
    """Write a row into a WAL file each, and return the files' names."""
    names = []
    for number in numbers:
        insert(server, range(number, number + 1))
        ((name,),) = server.sql("SELECT pg_walfile_name(pg_switch_wal())")
        names.append(str(name))
    return names


def waiting(server: Server) -> set[str]:
    """Return the names of the files that a server keeps until they are archived."""
    status = server.data / "pg_wal/archive_status"
    return {path.name.removesuffix(".ready") for path in status.glob("*.ready")}


def until_received(first: Server, second: Server) -> None:
    ((end,),) = first.sql("SELECT pg_current_wal_lsn()::text")
    while second.sql("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", end) != [(True,)]:
        time.sleep(0.1)


def backed_up(programs: MemberPrograms, server: Server) -> None:
    at = {"BACKUP_HOST": "127.0.0.1", "BACKUP_PORT": str(server.port)}
    made = programs.run("base-backup", str(server.data), user=NOBODY, **at)
    assert (made.stderr, made.returncode) == ("", 0)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("is_killed", [True, False], ids=["killed", "shut-down"])
def test_the_next_leader_archives_what_the_former_one_could_not(
    programs: MemberPrograms, servers: dict[str, Server], *, is_killed: bool
) -> None:
    first, second = pair(programs, servers)
    archived(first)
    backed_up(programs, second)
    (first.home / "stuck").touch()
    names = files(first, range(10, 16))
    insert(first, range(16, 20))
    until_received(first, second)
    # Restart points of a replica remove what is done.
    first.sql("CHECKPOINT")
    until_received(first, second)
    second.sql("CHECKPOINT")
    assert not whole_files(programs, second) & set(names)
    if is_killed:
        first.kill()
    else:
        first.stop()
    begun = time.monotonic()
    second.sql("SELECT pg_promote(true, 60)")
    print(f"promoted in {time.monotonic() - begun:.1f} s")
    insert(second, range(20, 30))
    archived(second)
    assert set(names) <= whole_files(programs, second)
    assert not waiting(second)
    restored = restored_rows(programs, servers["restored"], second)
    assert restored == [(number,) for number in range(30)]


@pytest.mark.timeout(1800)
def test_a_replica_waits_without_a_word_and_neither_a_stop_nor_a_promotion_waits_for_it(
    programs: MemberPrograms, servers: dict[str, Server], store: ObjectStore
) -> None:
    first, second = pair(programs, servers)
    # In normal operation the leader archives a file while the replica waits for it.
    names = files(first, range(10, 13))
    until(lambda: not waiting(second) and set(names) <= whole_files(programs, second))
    assert "archive command failed" not in (second.home / "log").read_text()

    store.stop_proxy()
    kept = files(first, range(13, 16))
    until_received(first, second)
    until(lambda: set(kept) <= waiting(second))
    until(lambda: f"WAL {kept[0]}: is not archived: " in (second.home / "log").read_text())
    assert not set(kept) - waiting(second)
    begun = time.monotonic()
    second.stop()
    stopped_s = time.monotonic() - begun
    second.start(**second_settings(programs))
    until_received(first, second)
    first.kill()
    begun = time.monotonic()
    second.sql("SELECT pg_promote(true, 60)")
    promoted_s = time.monotonic() - begun
    print(f"with the repository away: stopped in {stopped_s:.1f} s, promoted in {promoted_s:.1f} s")
    assert stopped_s < 10
    assert promoted_s < 10
    store.start_proxy()
    archived(second)
    assert set(kept) <= whole_files(programs, second)
    ((last, failed),) = second.sql(
        "SELECT last_archived_wal, coalesce(last_failed_time > last_archived_time, false) "
        "FROM pg_stat_archiver"
    )
    assert (str(last)[:8], failed) == ("00000002", False)


@pytest.mark.timeout(1800)
def test_a_restored_server_archives_nothing_of_its_parents(
    programs: MemberPrograms, servers: dict[str, Server]
) -> None:
    first, second = pair(programs, servers)
    backed_up(programs, second)
    former = files(first, range(10, 14))
    archived(first)
    restored = servers["restored"]
    own = replace(
        programs,
        variables={
            **programs.variables,
            "BACKUP_URL": f"s3://{BUCKET}/of/the-restored",
            "RESTORE_URL": programs.variables["BACKUP_URL"],
            "RESTORE_ENDPOINT": programs.variables["BACKUP_ENDPOINT"],
        },
    )
    for file in ("credentials", "ca"):
        text = (programs.secrets / f"backup_{file}").read_text()
        (programs.secrets / f"restore_{file}").write_text(text)
    laid_out = programs.run(
        "base-restore", str(first.data), "latest", str(restored.data), user=NOBODY
    )
    assert laid_out.returncode == 0, laid_out.stderr
    (restored.data / "standby.signal").unlink(missing_ok=True)
    (restored.data / "recovery.signal").touch()
    os.chown(restored.data / "recovery.signal", NOBODY, NOBODY)
    restored.start(
        archive_mode="always",
        archive_command=own.command("wal-archive", "%p"),
        restore_command=own.command("parent-wal-restore", "%f", "%p"),
        recovery_target_action="promote",
    )
    until(lambda: restored.sql("SELECT pg_is_in_recovery()") == [(False,)])
    assert restored.sql("SELECT number FROM kept ORDER BY 1") == [(n,) for n in range(14)]
    archived(restored)
    until(lambda: not waiting(restored))
    fetched = (restored.data / FETCHED).read_text().split()
    assert set(former) <= set(fetched)
    stored = [name for name in programs.stored(BUCKET) if "/of/the-restored/" in f"/{name}"]
    names = [name.rpartition("/")[2] for name in stored]
    assert "00000002.history.gz" in names
    assert {name[:8] for name in names} == {"00000002"}, names


def second_settings(programs: MemberPrograms) -> dict[str, str]:
    return {
        "archive_mode": MODE,
        "wal_level": "replica",
        "archive_command": programs.command("wal-archive", "%p"),
    }


def until(wanted: Callable[[], bool], timeout_s: float = 600) -> None:
    deadline = time.monotonic() + timeout_s
    while not wanted():
        assert time.monotonic() < deadline
        time.sleep(0.5)
