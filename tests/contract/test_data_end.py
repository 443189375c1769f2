"""The end of a member's data while no PostgreSQL runs, as a member tells it after a power loss.

By it the operator decides whose data lead on, so it is judged on the files of real servers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from images.member.queenright_member.data_end import DataEnd, UnknownEndError, end_of, told
from tests.contract.backup_places import initialise, servers_in
from tests.contract.postgres_server import Server
from tests.contract.real_postgres import binaries
from tests.contract.test_used_timelines import await_answer, follow, promoted

pytestmark = pytest.mark.lab

SMALL = {"max_wal_size": "64MB", "shared_buffers": "16MB"}
NO_RESTARTPOINT = {**SMALL, "checkpoint_timeout": "1h"}
FLUSHED = "SELECT pg_current_wal_flush_lsn() - '0/0'::pg_lsn"
REPLAYED = "SELECT pg_last_wal_replay_lsn() - '0/0'::pg_lsn"
ON_DISK = "SELECT flushed_lsn - '0/0'::pg_lsn FROM pg_stat_wal_receiver"
A_RECORD = 8192
"""The last record may be one that no statement waited for: it is short."""


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{binaries()}:{os.environ['PATH']}")


@pytest.fixture
def servers(place: Path) -> Iterator[dict[str, Server]]:
    with servers_in(place, "leader", "next", "third") as found:
        yield found


def number(server: Server, statement: str) -> int:
    return int(str(server.sql(statement)[0][0]))


def led(server: Server, rows: int = 1000) -> int:
    """Start a server that leads, write rows, and return the position that it has flushed."""
    initialise(server)
    server.start(**NO_RESTARTPOINT)
    server.sql("CREATE TABLE kept (number integer, words text)")
    return written(server, rows)


def written(server: Server, rows: int) -> int:
    server.sql("INSERT INTO kept SELECT n, repeat('x', 500) FROM generate_series(1, %s) n", rows)
    return number(server, FLUSHED)


def replica(server: Server, leader: Server) -> None:
    server.program(
        "pg_basebackup", "-h", "127.0.0.1", "-p", str(leader.port), "-U", "postgres",
        "-D", str(server.data), "-R", "-c", "fast",
    )  # fmt: skip
    server.start(**NO_RESTARTPOINT)


def test_a_leader_that_lost_power_has_all_that_it_had_acknowledged(
    servers: dict[str, Server],
) -> None:
    """Its control file names its last checkpoint, long before."""
    flushed = led(servers["leader"], 20_000)
    servers["leader"].kill()
    end = end_of(servers["leader"].data)
    assert end.timeline == 1
    assert flushed <= end.location <= flushed + A_RECORD
    assert end.system.isdigit()
    assert end.history == ""


def test_a_replica_has_what_it_had_on_its_disk(servers: dict[str, Server]) -> None:
    leader, other = servers["leader"], servers["next"]
    led(leader)
    replica(other, leader)
    flushed = written(leader, 20_000)
    await_answer(other, f"SELECT ({REPLAYED}) >= {flushed}", [(1,)])
    other.kill()
    end = end_of(other.data)
    assert (end.timeline, end.system) == (1, end_of(other.data).system)
    assert flushed <= end.location <= flushed + A_RECORD


def test_a_replica_that_followed_to_another_timeline_tells_that_one(
    servers: dict[str, Server],
) -> None:
    """Its control file still names the first one: its last restartpoint is older."""
    leader, other, third = servers["leader"], servers["next"], servers["third"]
    led(leader)
    replica(other, leader)
    replica(third, leader)
    leader.stop()
    promoted(other, [])
    third.stop()
    follow(third, other)
    third.start(**NO_RESTARTPOINT)
    flushed = written(other, 2_000)
    await_answer(third, f"SELECT ({REPLAYED}) >= {flushed}", [(1,)])
    third.kill()
    end = end_of(third.data)
    assert end.timeline == 2
    assert flushed <= end.location <= flushed + A_RECORD
    assert end.history != ""
    other.kill()
    newest = end_of(other.data)
    assert (newest.timeline, newest.system, newest.history) == (2, end.system, end.history)
    assert newest.location >= end.location
    former = end_of(leader.data)
    assert (former.timeline, former.history) == (1, "")


def test_wal_behind_a_hole_does_not_count(servers: dict[str, Server]) -> None:
    """A segment that was made beforehand has old records, or none."""
    leader = servers["leader"]
    flushed = led(leader, 2_000)
    leader.kill()
    last = max((leader.data / "pg_wal").glob("0" * 7 + "1*"))
    (last.parent / f"{int(last.name, 16) + 1:024X}").write_bytes(last.read_bytes())
    assert flushed <= end_of(leader.data).location <= flushed + A_RECORD


def test_a_member_without_data_has_none(tmp_path: Path) -> None:
    assert end_of(tmp_path) == DataEnd()


def test_a_first_copy_that_was_interrupted_is_no_data(servers: dict[str, Server]) -> None:
    leader = servers["leader"]
    led(leader, 1)
    leader.stop()
    (leader.data / "global/pg_control").unlink()
    (leader.data / "backup_label").touch()
    assert end_of(leader.data) == DataEnd()


def test_damaged_data_are_unknown_and_never_less(servers: dict[str, Server]) -> None:
    leader = servers["leader"]
    led(leader, 1)
    leader.stop()
    control = leader.data / "global/pg_control"
    control.write_bytes(bytes(control.stat().st_size))
    with pytest.raises(UnknownEndError):
        end_of(leader.data)
    assert {*told(leader.data)} == {"why"}
