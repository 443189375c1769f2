"""Tests that no restart is needed after the database was unreachable or read-only."""

import time
from collections.abc import Iterator

import pytest

from tests.postgres import Postgres
from tests.replica import Client, Replica, get
from tests.test_events import listening
from tests.workspace import page, space

pytestmark = pytest.mark.slow
Standing = tuple[Postgres, Replica, Client]


@pytest.fixture
def standing() -> Iterator[Standing]:
    """A database server, a replica on it that is set up, and a signed-in client."""
    with (
        Postgres(16, durable=True).serving() as server,
        Replica(server.database("notes"), {"ORIGIN": "https://notes.example.org"}).running() as one,
    ):
        with one.client() as client:
            yield server, one, client.set_up()
        assert one.process is not None
        assert one.process.poll() is None, "no restart was needed"
        assert "Traceback" not in one.log, one.log[-4000:]
        assert 500 not in {line.get("status") for line in one.lines()}
        assert one.stop() == 0


def test_a_server_that_takes_no_writes_is_a_dead_connection(standing: Standing) -> None:
    """A demoted primary still answers; a replica that stayed connected could not write."""
    server, replica, client = standing
    made = page(client, space(client))
    server.sql("ALTER SYSTEM SET default_transaction_read_only = on")
    server.sql("SELECT pg_reload_conf()")
    deadline = time.monotonic() + 10
    while get(f"{replica.url}/readyz", timeout=10).status_code != 503:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    refused = client.put(f"/api/v1/nodes/{made}", json={"base_version": 1, "title": "during"})
    assert refused.status_code == 503
    server.sql("ALTER SYSTEM RESET default_transaction_read_only")
    server.sql("SELECT pg_reload_conf()")
    replica.wait_ready(15)
    client.ok("PUT", f"/api/v1/nodes/{made}", {"base_version": 1, "title": "after"})


def test_a_database_away_for_long_needs_no_restart(standing: Standing) -> None:
    server, replica, client = standing
    made = page(client, space(client))
    server.kill()
    time.sleep(12)  # longer than any single request waits
    assert client.get(f"/api/v1/nodes/{made}").status_code == 503
    assert get(f"{replica.url}/healthz").status_code == 200
    server.start()
    assert replica.wait_ready(15) < 10
    with listening(client) as stream:
        client.ok("PUT", f"/api/v1/nodes/{made}", {"base_version": 1, "title": "back"})
        stream.wait("page.saved")
