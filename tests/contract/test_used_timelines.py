"""A member leads on without the newest one, which then comes back: on real PostgreSQL servers.

The former leader ended on timeline 1; the newest one was promoted to timeline 2 and nobody heard of
it; the third one is promoted from timeline 1. PostgreSQL would begin timeline 2 once more.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from images.member.queenright_member.used_timelines import forget, newest_in, skip
from tests.contract.backup_places import copied, initialise, servers_in
from tests.contract.postgres_server import Server

HISTORY = [[1, 50331648, "no recovery target specified", "2026-01-01T00:00:00+00:00", "newest"]]
TIMELINE = "SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)"
ROWS = "SELECT number FROM kept ORDER BY number"
SMALL = {"max_wal_size": "64MB", "shared_buffers": "16MB", "wal_log_hints": "on"}


@pytest.fixture
def servers(place: Path) -> Iterator[dict[str, Server]]:
    with servers_in(place, "former", "newest", "left") as found:
        yield found


def test_the_newest_member_that_comes_back_is_rewound(servers: dict[str, Server]) -> None:
    former, newest, left = servers["former"], servers["newest"], servers["left"]
    unheard(former, newest, left)
    assert skip(left.data / "pg_wal", newest_in(HISTORY)) == [2]
    hand_over(left)
    promoted(left, [2, 3])
    assert left.sql(TIMELINE) == [("00000003",)]
    rewind(newest, left)
    newest.start(**SMALL)
    await_rows(newest, [0, 2, 3])
    await_answer(newest, "SELECT received_tli FROM pg_stat_wal_receiver", [(3,)])


def test_without_it_two_leaders_have_one_number(servers: dict[str, Server]) -> None:
    former, newest, left = servers["former"], servers["newest"], servers["left"]
    unheard(former, newest, left)
    promoted(left, [2, 3])
    assert left.sql(TIMELINE) == [("00000002",)]
    follow(newest, left)  # without a rewind: Patroni compares the numbers of the timelines first
    newest.start(**SMALL)
    await_rows(newest, [0, 1])
    left.sql("INSERT INTO kept VALUES (4)")
    left.sql("SELECT pg_switch_wal()")
    time.sleep(5)
    assert newest.sql(ROWS)[:2] == [(0,), (1,)], "a row that its leader does not have"


def test_a_replica_that_never_heard_of_it_follows(servers: dict[str, Server]) -> None:
    former, newest, left = servers["former"], servers["newest"], servers["left"]
    unheard(former, newest, left)
    skip(left.data / "pg_wal", newest_in(HISTORY))
    hand_over(left)
    promoted(left, [2, 3])
    follow(former, left)
    former.start(**SMALL)
    await_rows(former, [0, 2, 3])
    assert sorted(path.name for path in (former.data / "pg_wal").glob("*.history")) == [
        "00000002.history",
        "00000003.history",
    ]


def test_a_member_that_was_kept_from_its_promotion_starts_as_a_replica(
    servers: dict[str, Server],
) -> None:
    """Recovery follows the newest history file, whose timeline has no WAL and no ancestor."""
    leader, left = servers["former"], servers["left"]
    followed_by(leader, left)
    assert skip(left.data / "pg_wal", 3) == [2, 3]
    hand_over(left)
    left.kill()
    left.start(**SMALL)
    await_words(left, "unexpected timeline ID 1 in WAL segment")
    left.kill()
    assert "ready to accept read-only connections" not in words_of(left)
    assert forget(left.data / "pg_wal") == [2, 3]
    left.start(**SMALL)
    leader.sql("INSERT INTO kept VALUES (1)")
    await_rows(left, [0, 1])


def test_a_member_that_was_promoted_keeps_the_numbers_before_its_own(
    servers: dict[str, Server],
) -> None:
    leader, left = servers["former"], servers["left"]
    followed_by(leader, left)
    skip(left.data / "pg_wal", 3)
    hand_over(left)
    leader.stop()
    left.sql("SELECT pg_promote(true, 60)")
    left.kill()
    assert forget(left.data / "pg_wal") == []
    (left.data / "standby.signal").touch()
    left.start(**SMALL)
    await_rows(left, [0])
    left.sql("SELECT pg_promote(true, 60)")
    assert left.sql(TIMELINE) == [("00000005",)]


def followed_by(leader: Server, other: Server) -> None:
    """Start a leader with row 0 on timeline 1, and a replica of it."""
    initialise(leader)
    leader.start(**SMALL)
    leader.sql("CREATE TABLE kept (number integer)")
    leader.sql("INSERT INTO kept VALUES (0)")
    copied(leader, other)
    other.start(**SMALL)
    await_rows(other, [0])


def await_words(server: Server, words: str) -> None:
    deadline = time.monotonic() + 30
    while words not in words_of(server):
        assert time.monotonic() < deadline, words_of(server)
        time.sleep(0.1)


def words_of(server: Server) -> str:
    """The server's log since its last start."""
    return (server.home / "log").read_text().rpartition("starting PostgreSQL")[2]


def unheard(former: Server, newest: Server, left: Server) -> None:
    """Let all have row 0, and only the newest one row 1, on timeline 2; the former one is off."""
    initialise(former)
    former.start(**SMALL)
    former.sql("CREATE TABLE kept (number integer)")
    for server in (newest, left):
        copied(former, server)
        server.start(**SMALL)
    former.sql("INSERT INTO kept VALUES (0)")
    for server in (newest, left):
        await_rows(server, [0])
    former.stop()
    promoted(newest, [1])
    assert newest.sql(TIMELINE) == [("00000002",)]
    newest.stop()


def promoted(server: Server, numbers: list[int]) -> None:
    server.sql("SELECT pg_promote(true, 60)")
    for number in numbers:
        server.sql("INSERT INTO kept VALUES (%s)", number)
    server.sql("CHECKPOINT")


def hand_over(server: Server) -> None:
    """Give the files that root has made to the server, whose user makes them in a member."""
    owner = server.data.stat()
    for path in (server.data / "pg_wal").glob("*.history"):
        os.chown(path, owner.st_uid, owner.st_gid)


def rewind(server: Server, leader: Server) -> None:
    source = f"host=127.0.0.1 port={leader.port} user=postgres dbname=postgres"
    server.program("pg_rewind", "-D", str(server.data), "--source-server", source, "--no-sync")
    follow(server, leader)


def follow(server: Server, leader: Server) -> None:
    """Let a server stream from the leader, with the connection that ``pg_basebackup -R`` wrote."""
    (server.data / "standby.signal").touch()
    settings = server.data / "postgresql.auto.conf"
    written = (leader.data / settings.name).read_text()
    settings.write_text(re.sub(r"port=\d+", f"port={leader.port}", written))
    owner = server.data.stat()
    for path in (settings, server.data / "standby.signal"):
        os.chown(path, owner.st_uid, owner.st_gid)


def await_rows(server: Server, numbers: list[int]) -> None:
    await_answer(server, ROWS, [(number,) for number in numbers])


def await_answer(server: Server, statement: str, answer: list[tuple[int]]) -> None:
    deadline = time.monotonic() + 30
    while server.sql(statement) != answer:
        assert time.monotonic() < deadline, Path(server.home / "log").read_text()[-4000:]
        time.sleep(0.1)
