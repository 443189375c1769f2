"""Tests start, health and stop, with the real command and real servers."""

import asyncio
import contextlib
import signal
import socket
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from notes.db.connect import Conn
from notes.db.failures import UnavailableError
from notes.db.migrate import LOCK
from notes.db.pool import READY_TIMEOUT_S, Database
from notes.files import chunks
from notes.files.ranges import Span
from tests.postgres import Postgres, versions
from tests.replica import KEY, Replica, get

Start = Callable[..., Replica]


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("major", versions())
def test_several_replicas_migrate_an_empty_database_once(major: int, count: int) -> None:
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(Postgres(major).serving())
        url = server.database("empty")
        replicas = [Replica(url) for _ in range(count)]
        for replica in replicas:
            stack.callback(replica.start(wait=False).end)
        for replica in replicas:
            replica.wait_ready()
        ran = [n for r in replicas for line in r.lines() for n in line.get("migrations", ())]
        rows = server.sql("SELECT count(*) FROM schema_migrations", "empty")
        assert sorted(ran) == list(range(1, int(str(rows[0][0])) + 1))
        query = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'empty'"
        assert int(str(server.sql(query)[0][0])) <= count * 12


def test_a_database_that_is_down_at_start_is_waited_for() -> None:
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(Postgres(16).serving())
        replica = Replica(server.database("later"))
        server.kill()
        stack.callback(replica.start(wait=False).end)
        deadline = time.monotonic() + 60
        while True:
            try:
                assert get(f"{replica.url}/healthz").status_code == 200
                break
            except httpx.TransportError:
                assert time.monotonic() < deadline
                time.sleep(0.05)
        assert get(f"{replica.url}/readyz").status_code == 503
        early = get(f"{replica.url}/api/v1/setup")
        assert early.status_code == 503
        assert early.headers["retry-after"] == "1"
        server.start()
        replica.wait_ready(10)
        server.kill()
        assert get(f"{replica.url}/readyz", timeout=10).status_code == 503
        assert get(f"{replica.url}/healthz").status_code == 200
        server.start()
        replica.wait_ready(10)
        assert replica.stop() == 0


def test_a_changed_key_is_refused_and_nothing_overwritten(
    postgres: Postgres, own_replica: Start
) -> None:
    first = own_replica()
    assert first.stop() == 0
    database = first.database_url.rsplit("/", 1)[1]
    before = postgres.sql("SELECT key_check FROM settings", database)
    other = own_replica(first.database_url, wait=False, APP_ENCRYPTION_KEY="another key " * 4)
    assert other.process is not None
    assert other.process.wait(60) == 2
    assert "APP_ENCRYPTION_KEY is not the key" in other.log
    assert "another key" not in other.log
    assert postgres.sql("SELECT key_check FROM settings", database) == before
    assert KEY not in first.log


def test_a_newer_schema_is_refused(postgres: Postgres, own_replica: Start) -> None:
    first = own_replica()
    first.stop()
    database = first.database_url.rsplit("/", 1)[1]
    postgres.sql("INSERT INTO schema_migrations VALUES (999, 'later')", database)
    other = own_replica(first.database_url, wait=False)
    assert other.process is not None
    assert other.process.wait(60) == 2
    assert "use a newer one" in other.log


def test_sigterm_finishes_requests_in_flight_and_exits_0(own_replica: Start) -> None:
    replica = own_replica(SHUTDOWN_TIMEOUT="10")
    told = list[int]()

    def slowly() -> None:
        def parts():  # type: ignore[no-untyped-def]
            yield b'{"email": "x@y'
            time.sleep(2)
            yield b'.example", "password": "p"}'

        with replica.client() as client:
            answer = client.post(
                "/api/v1/session", content=parts(), headers={"content-type": "application/json"}
            )
            told.append(answer.status_code)

    thread = threading.Thread(target=slowly)
    thread.start()
    time.sleep(0.7)
    begun = time.monotonic()
    assert replica.stop() == 0
    thread.join()
    assert told == [401]
    assert time.monotonic() - begun < 8


def test_a_request_that_never_ends_is_cut_at_the_timeout(own_replica: Start) -> None:
    replica = own_replica(SHUTDOWN_TIMEOUT="1")
    done = threading.Event()
    told = list[int]()

    def hang() -> None:
        def parts():  # type: ignore[no-untyped-def]
            yield b"{"
            done.wait(20)

        with replica.client() as client:
            answer = client.post(
                "/api/v1/session", content=parts(), headers={"content-type": "application/json"}
            )
            told.append(answer.status_code)

    thread = threading.Thread(target=hang)
    thread.start()
    time.sleep(0.5)
    begun = time.monotonic()
    assert replica.stop() == 0
    assert time.monotonic() - begun < 8
    done.set()
    thread.join()
    assert told == [503]


class Counted(Database):
    """Counts its calls."""

    asked = 0

    async def run(self, work: Callable[[Conn], Awaitable[Any]]) -> Any:
        self.asked += 1
        return await super().run(work)


async def test_who_reads_a_file_gives_up_at_once_when_the_replica_stops(postgres: Postgres) -> None:
    """Retrying for the length of an outage would keep the process from ending."""
    database = Counted(postgres.url("postgres"))
    await database.open()
    await database.close()
    with pytest.raises(UnavailableError):
        await chunks.read(database, uuid4(), 0, Span(0, 1))
    assert database.asked == 1


async def test_those_who_ask_for_readiness_do_not_queue_up() -> None:
    """If the database does not answer, each request waits two seconds, not in sequence."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        db = Database(f"postgresql://x@127.0.0.1:{silent.getsockname()[1]}/x")
        begun = time.monotonic()
        assert await asyncio.gather(*(db.writable() for _ in range(4))) == [False] * 4
        assert time.monotonic() - begun < 2 * READY_TIMEOUT_S


def test_a_port_in_use_is_told(own_replica: Start) -> None:
    first = own_replica()
    second = Replica(first.database_url, port=first.port).start(wait=False)
    try:
        assert second.process is not None
        assert second.process.wait(60) != 0
        assert "address already in use" in second.log.lower()
    finally:
        second.end()


@pytest.mark.parametrize("after_s", [0, 0.25, 0.6, 1.0])
def test_a_stop_before_the_server_listens_exits_0_at_once(
    own_replica: Start, after_s: float
) -> None:
    replica = own_replica(wait=False)
    process = replica.process
    assert process is not None
    caught = f"/proc/{process.pid}/status"
    # The interpreter needs some time before it runs the application's code.
    deadline = time.monotonic() + 60
    while not _catches_sigterm(caught):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    time.sleep(after_s)
    begun = time.monotonic()
    assert replica.stop() == 0, replica.log
    assert time.monotonic() - begun < 5
    assert "Traceback" not in replica.log


def test_a_stop_while_the_migration_waits_exits_0_soon(
    postgres: Postgres, own_replica: Start
) -> None:
    url = postgres.database("held")
    with psycopg.connect(url) as conn:
        conn.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        replica = own_replica(url, wait=False)
        waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        deadline = time.monotonic() + 20
        while postgres.sql(waits, "held") == [(0,)]:
            assert time.monotonic() < deadline, replica.log
            time.sleep(0.05)
        begun = time.monotonic()
        assert replica.stop() == 0, replica.log
        assert time.monotonic() - begun < 5
        assert postgres.sql(waits, "held") == [(0,)]
        assert "Traceback" not in replica.log


def _catches_sigterm(status_path: str) -> bool:
    for line in Path(status_path).read_text().splitlines():
        if line.startswith("SigCgt:"):
            return bool(int(line.split()[1], 16) >> (signal.SIGTERM - 1) & 1)
    return False
