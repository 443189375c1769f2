"""The world of a sweep, on a replica and a database of its own."""

from collections.abc import Callable, Iterator

import pytest

from tests.postgres import Postgres
from tests.replica import Replica
from tests.sweep.world import World

Start = Callable[..., Replica]


@pytest.fixture
def world(own_replica: Start, postgres: Postgres) -> Iterator[tuple[World, Replica]]:
    replica = own_replica(ADDRESS_HEADER="x-forwarded-for")
    with replica.client() as admin:
        admin.set_up()
        made = World(postgres, replica.database_url, admin)
        yield made, replica
        made.conn.close()
