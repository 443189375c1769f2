"""The end of a member's data while no PostgreSQL runs, as a member tells it after a power loss.

By it the operator decides whose data lead on, so it is judged on the files of real servers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from images.member.queenright_member.data_end import DataEnd, end_of, end_of_wal, told
from images.member.queenright_member.wal_files import (
    CONTROL,
    UnknownEndError,
    bytes_of,
    read_control,
    run,
)
from tests.contract.backup_places import copied, initialise, servers_in
from tests.contract.postgres_server import Server
from tests.contract.real_postgres import binaries
from tests.contract.test_used_timelines import await_answer, follow, promoted

pytestmark = pytest.mark.lab

SMALL = {"max_wal_size": "64MB", "shared_buffers": "16MB"}
NO_RESTARTPOINT = {**SMALL, "checkpoint_timeout": "1h"}
SLOW_CHECKPOINT = {**NO_RESTARTPOINT, "max_wal_size": "4GB"}
SEGMENT_BYTES = 16 << 20
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
    copied(leader, server)
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


def unfinished_promotion(servers: dict[str, Server], rows: int) -> tuple[Server, int]:
    """Promote a replica whose many changed pages keep its first checkpoint from ending, write rows,
    kill it, and return it with the position that it has flushed."""
    leader, other = servers["leader"], servers["next"]
    led(leader)
    copied(leader, other)
    other.start(**SLOW_CHECKPOINT)
    before = written(leader, 20_000)
    await_answer(other, f"SELECT ({REPLAYED}) >= {before}", [(1,)])
    leader.stop()
    other.sql("SELECT pg_promote(true, 60)")
    flushed = written(other, rows) if rows else 0
    other.kill()
    return other, flushed


def test_a_leader_killed_before_its_timelines_first_checkpoint_has_all_its_segments(
    servers: dict[str, Server],
) -> None:
    """Its control file still names the former timeline, and ``pg_waldump`` reads but one segment
    where it is given one alone."""
    other, flushed = unfinished_promotion(servers, 60_000)
    text = run(CONTROL, str(other.data))
    assert re.search(r"Latest checkpoint's TimeLineID: +1$", text, re.MULTILINE)
    assert len([*(other.data / "pg_wal").glob("00000002" + "[0-9A-F]" * 16)]) > 2
    end = end_of(other.data)
    assert end.timeline == 2
    assert flushed <= end.location <= flushed + A_RECORD


def test_a_timeline_without_a_record_yet_begins_where_the_former_one_ended(
    servers: dict[str, Server],
) -> None:
    """A replica makes the segment before it has received a record of it."""
    other, _ = unfinished_promotion(servers, 1)
    switch = bytes_of((other.data / "pg_wal/00000002.history").read_text().split()[1])
    segments = sorted((other.data / "pg_wal").glob("00000002" + "[0-9A-F]" * 16))
    inside = switch % SEGMENT_BYTES
    segments[0].write_bytes(segments[0].read_bytes()[:inside].ljust(SEGMENT_BYTES, b"\0"))
    assert end_of_wal(other.data, 2, read_control(run(CONTROL, str(other.data)))) == switch
    segments[0].write_bytes(bytes(SEGMENT_BYTES))
    assert end_of_wal(other.data, 2, read_control(run(CONTROL, str(other.data)))) == switch
    segments[0].write_bytes(b"")
    with pytest.raises(UnknownEndError, match="does not begin"):
        end_of(other.data)
    segments[0].rename(segments[0].with_name(f"{int(segments[0].name, 16) + 1:024X}"))
    with pytest.raises(UnknownEndError, match="does not begin"):
        end_of(other.data)


def test_wal_that_ends_with_its_segment_is_read_to_the_end(servers: dict[str, Server]) -> None:
    """The last record goes on in a segment that the cut has taken; ``pg_waldump`` says nothing of
    positions where it asks for a file that is not there."""
    leader = servers["leader"]
    led(leader, 60_000)
    leader.kill()
    control = read_control(run(CONTROL, str(leader.data)))
    first = bytes_of(control.redo) // SEGMENT_BYTES
    for path in (leader.data / "pg_wal").glob("00000001" + "[0-9A-F]" * 16):
        if int(path.name[-8:], 16) > first + 1:
            path.unlink()
    edge = (first + 2) * SEGMENT_BYTES
    assert edge - A_RECORD <= end_of(leader.data).location <= edge


def test_segments_without_the_one_that_recovery_reads_first_are_unknown(
    servers: dict[str, Server],
) -> None:
    leader = servers["leader"]
    led(leader, 60_000)
    leader.kill()
    control = read_control(run(CONTROL, str(leader.data)))
    number = bytes_of(control.redo) // SEGMENT_BYTES
    (leader.data / f"pg_wal/{1:08X}{0:08X}{number:08X}").unlink()
    with pytest.raises(UnknownEndError, match="does not begin"):
        end_of(leader.data)
    # A base backup out of an archive has no WAL yet; recovery begins elsewhere, by its label.
    (leader.data / "backup_label").touch()
    assert end_of(leader.data).location == control.floor


def test_wal_behind_a_hole_does_not_count(servers: dict[str, Server]) -> None:
    """A segment that was made beforehand has old records, or none."""
    leader = servers["leader"]
    flushed = led(leader, 2_000)
    leader.kill()
    last = max((leader.data / "pg_wal").glob("0" * 7 + "1*"))
    (last.parent / f"{int(last.name, 16) + 1:024X}").write_bytes(last.read_bytes())
    assert flushed <= end_of(leader.data).location <= flushed + A_RECORD


def test_segments_that_were_made_beforehand_hide_nothing(servers: dict[str, Server]) -> None:
    """``pg_waldump`` takes the size of segments from any of them, unless one is named: that of a
    segment without content is none."""
    leader = servers["leader"]
    flushed = led(leader, 2_000)
    leader.kill()
    last = int(max((leader.data / "pg_wal").glob("0" * 7 + "1*")).name, 16)
    for number in range(1, 9):
        (leader.data / f"pg_wal/{last + number:024X}").write_bytes(bytes(SEGMENT_BYTES))
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
