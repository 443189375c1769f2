"""Fixtures: one PostgreSQL 16 and one replica for all tests that need no others."""

import itertools
import secrets
import time
from collections.abc import Callable, Iterator

import pytest

from tests import groups
from tests.postgres import Postgres
from tests.replica import Client, Replica
from tests.second_try import SecondTry
from tests.shares import Shares

ORIGIN = "https://notes.example.org"
_numbers = itertools.count(1)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(SecondTry(config))
    config.pluginmanager.register(Shares())
    config.pluginmanager.register(groups)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    with Postgres(16).serving() as server:
        yield server


@pytest.fixture(scope="session")
def replica(postgres: Postgres) -> Iterator[Replica]:
    env = {
        "ORIGIN": ORIGIN,
        "APP_EXTRA_HOSTS": "intern.example.org",
        "ADDRESS_HEADER": "x-forwarded-for",
        "MAX_ATTACHMENT_MB": "200",
    }
    with Replica(postgres.database("main"), env).running() as running:
        with running.client() as client:
            client.set_up().log_in()
            usual = client.ok("GET", "/api/v1/quotas")
            # One account makes the spaces and pages of all tests.
            more = {name: limit * 100 for name, limit in usual.items()}
            client.ok("PUT", "/api/v1/quotas", more)
        yield running
        failures = [line for line in running.lines() if line["level"] == "error"]
        assert not failures, failures
        assert running.deserted(), "a test left a connection open"
        assert running.stop() == 0
        assert is_left_alone(postgres), "a connection to the database was left open"


@pytest.fixture
def own_replica(postgres: Postgres) -> Iterator[Callable[..., Replica]]:
    """Starts separate replicas for a test; on a new database unless one is given."""
    started = list[Replica]()

    def start(url: str | None = None, *, wait: bool = True, **env: str) -> Replica:
        database = url or postgres.database(f"own{next(_numbers)}")
        running = Replica(database, {"ORIGIN": ORIGIN, **env})
        started.append(running)
        return running.start(wait=wait)

    yield start
    for running in started:
        running.end()


def _address() -> str:
    return f"10.{secrets.randbelow(256)}.{secrets.randbelow(256)}.{secrets.randbelow(256)}"


@pytest.fixture
def anybody(replica: Replica) -> Iterator[Client]:
    """A client that is not signed in, with its own address."""
    with replica.client(headers={"x-forwarded-for": _address()}) as client:
        yield client


@pytest.fixture
def admin(replica: Replica) -> Iterator[Client]:
    with replica.client(headers={"x-forwarded-for": _address()}) as client:
        yield client.log_in()


@pytest.fixture
def person(replica: Replica, admin: Client) -> Iterator[Callable[[str], Client]]:
    """Creates users and signs them in."""
    made = list[Client]()

    def make(name: str) -> Client:
        email = f"{name.lower()}-{next(_numbers)}@example.org"
        user = admin.ok(
            "POST", "/api/v1/users", {"email": email, "name": name, "password": "password of mine"}
        )
        client = replica.client(headers={"x-forwarded-for": _address()})
        client.log_in(email, "password of mine")
        client.user_id = user["id"]  # type: ignore[attr-defined]
        made.append(client)
        return client

    yield make
    for client in made:
        client.close()


def is_left_alone(postgres: Postgres) -> bool:
    """True if no client is connected. A server process ends shortly after its client."""
    query = (
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE datname = 'main' AND backend_type = 'client backend'"
    )
    deadline = time.monotonic() + 5
    while postgres.sql(query) != [(0,)]:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True
