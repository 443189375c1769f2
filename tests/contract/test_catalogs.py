"""Contract of ``Catalogs``: the fake, and the real one on a real PostgreSQL."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from queenright.adapters.postgres.databases import PostgresCatalogs
from queenright.core.postgres.catalog import DesiredDatabase, DesiredRole
from queenright.core.postgres.scram import is_password_of
from queenright.ports.databases import Catalogs, Found, Question, Server
from queenright.ports.errors import ConflictError, PortError, RejectedError
from queenright.ports.secrets import Password
from tests.contract.real_postgres import SUPERUSER_PASSWORD, RealPostgres, real_postgres
from tests.fakes.fake_catalogs import FakeCatalogs, FakeServer

ODD = "o\"d\\d '$na%me%s é"
"""A name with characters that a careless statement fails on."""


@dataclass
class Cluster:
    """A server with a port to it, and names of this test's own."""

    catalogs: Catalogs
    server: Server
    prefix: str

    def name(self, word: str) -> str:
        return f"{self.prefix} {word} {ODD}"[:40]

    async def role(self, name: str) -> Found:
        return await self.catalogs.read(self.server, Question(roles=(name,)))

    async def database(self, name: str, *extended: str) -> Found:
        question = Question(databases=(name,), extended=extended)
        return await self.catalogs.read(self.server, question)


@pytest.fixture(scope="module")
def postgres() -> Iterator[RealPostgres]:
    with real_postgres() as server:
        yield server


@pytest.fixture(params=["fake", pytest.param("postgresql", marks=pytest.mark.lab)])
async def cluster(request: pytest.FixtureRequest) -> AsyncIterator[Cluster]:
    prefix = uuid.uuid4().hex[:6]
    if request.param == "fake":
        modelled = FakeServer()

        async def find(server: Server) -> FakeServer:
            if server.superuser.value != SUPERUSER_PASSWORD:
                raise RejectedError("password authentication failed")
            return modelled

        yield Cluster(FakeCatalogs(find), server_at(5432), prefix)
        return
    real: RealPostgres = request.getfixturevalue("postgres")
    yield Cluster(PostgresCatalogs(), server_at(real.port), prefix)


def server_at(port: int) -> Server:
    return Server("127.0.0.1", port, Password(SUPERUSER_PASSWORD))


async def test_what_is_not_there_is_not_found(cluster: Cluster) -> None:
    names = (cluster.name("nobody"),)
    question = Question(roles=names, referred=(*names, "pg_monitor"), databases=names)
    found = await cluster.catalogs.read(cluster.server, question)
    assert found.catalog.roles == found.catalog.databases == ()
    assert found.catalog.others == {"pg_monitor"}
    assert not found.verifiers


async def test_a_role_is_made_as_desired(cluster: Cluster) -> None:
    group = DesiredRole(cluster.name("group"), login=False, create_db=True, inherit=False)
    role = DesiredRole(
        cluster.name("role"),
        password_secret="a",
        connection_limit=7,
        member_of=tuple(sorted((group.name, "pg_monitor"))),
        valid_until=datetime(2031, 1, 2, 3, 4, tzinfo=UTC),
    )
    await cluster.catalogs.create_role(cluster.server, group, None)
    await cluster.catalogs.create_role(cluster.server, role, Password("its own"))
    found = await cluster.role(role.name)
    live = found.catalog.roles[0]
    assert live.member_of == role.member_of
    assert (live.login, live.connection_limit, live.valid_until) == (True, 7, role.valid_until)
    assert not any((live.superuser, live.replication, live.create_db, live.create_role))
    assert live.has_password
    assert is_password_of(found.verifiers[role.name].value, "its own")
    assert not is_password_of(found.verifiers[role.name].value, "another's")
    bare = (await cluster.role(group.name)).catalog.roles[0]
    assert (bare.login, bare.create_db, bare.inherit, bare.has_password) == (
        False,
        True,
        False,
        False,
    )


async def test_a_role_that_is_there_is_a_conflict_and_stays(cluster: Cluster) -> None:
    role = DesiredRole(cluster.name("role"), connection_limit=3)
    await cluster.catalogs.create_role(cluster.server, role, None)
    with pytest.raises(ConflictError):
        await cluster.catalogs.create_role(
            cluster.server, dataclasses.replace(role, connection_limit=4), None
        )
    assert (await cluster.role(role.name)).catalog.roles[0].connection_limit == 3


async def test_a_role_whose_group_is_not_there_is_not_made_at_all(cluster: Cluster) -> None:
    role = DesiredRole(cluster.name("role"), member_of=(cluster.name("nobody"),))
    with pytest.raises(PortError):
        await cluster.catalogs.create_role(cluster.server, role, None)
    assert (await cluster.role(role.name)).catalog.roles == ()


async def test_only_the_named_fields_of_a_role_are_set(cluster: Cluster) -> None:
    first = DesiredRole(cluster.name("role"), connection_limit=3, member_of=("pg_monitor",))
    await cluster.catalogs.create_role(cluster.server, first, Password("first"))
    second = dataclasses.replace(first, connection_limit=9, create_db=True, member_of=())
    catalogs, server = cluster.catalogs, cluster.server
    await catalogs.alter_role(server, second, ("connection_limit",), None)
    live = (await cluster.role(first.name)).catalog.roles[0]
    assert (live.connection_limit, live.create_db, live.member_of) == (9, False, ("pg_monitor",))
    await catalogs.alter_role(server, second, ("member_of", "create_db"), None)
    live = (await cluster.role(first.name)).catalog.roles[0]
    assert (live.create_db, live.member_of) == (True, ())
    await catalogs.alter_role(server, second, ("password",), Password("second"))
    verifier = (await cluster.role(first.name)).verifiers[first.name].value
    assert is_password_of(verifier, "second")


async def test_a_role_that_is_gone_is_a_conflict(cluster: Cluster) -> None:
    role = DesiredRole(cluster.name("nobody"))
    with pytest.raises(ConflictError):
        await cluster.catalogs.alter_role(cluster.server, role, ("login",), None)


async def test_a_database_is_made_closed_to_the_public(cluster: Cluster) -> None:
    owner, guest = DesiredRole(cluster.name("owner")), DesiredRole(cluster.name("guest"))
    for role in (owner, guest):
        await cluster.catalogs.create_role(cluster.server, role, None)
    wanted = DesiredDatabase(cluster.name("db"), owner.name, 5, connect=(guest.name,))
    await cluster.catalogs.create_database(cluster.server, wanted)
    live = (await cluster.database(wanted.name)).catalog.databases[0]
    assert (live.owner, live.connection_limit, live.public) == (owner.name, 5, ())
    assert set(live.connect) == {owner.name, guest.name}
    with pytest.raises(ConflictError):
        await cluster.catalogs.create_database(cluster.server, wanted)


async def test_a_database_changes_its_owner_and_its_limit(cluster: Cluster) -> None:
    first, second = DesiredRole(cluster.name("first")), DesiredRole(cluster.name("second"))
    for role in (first, second):
        await cluster.catalogs.create_role(cluster.server, role, None)
    wanted = DesiredDatabase(cluster.name("db"), first.name)
    await cluster.catalogs.create_database(cluster.server, wanted)
    other = dataclasses.replace(wanted, owner=second.name, connection_limit=8)
    await cluster.catalogs.alter_database(cluster.server, other, ("owner",))
    live = (await cluster.database(wanted.name)).catalog.databases[0]
    assert (live.owner, live.connection_limit, live.connect) == (second.name, -1, (second.name,))
    await cluster.catalogs.alter_database(cluster.server, other, ("connection_limit", "public"))
    live = (await cluster.database(wanted.name)).catalog.databases[0]
    assert (live.connection_limit, live.public) == (8, ())


async def test_an_extension_is_made_where_the_server_has_it(cluster: Cluster) -> None:
    owner = DesiredRole(cluster.name("owner"))
    await cluster.catalogs.create_role(cluster.server, owner, None)
    wanted = DesiredDatabase(cluster.name("db"), owner.name)
    await cluster.catalogs.create_database(cluster.server, wanted)
    found = await cluster.database(wanted.name, wanted.name)
    assert found.catalog.databases[0].extensions == ("plpgsql",)
    assert "vector" in found.catalog.available
    await cluster.catalogs.create_extension(cluster.server, wanted.name, "vector")
    found = await cluster.database(wanted.name, wanted.name)
    assert found.catalog.databases[0].extensions == ("plpgsql", "vector")
    with pytest.raises(PortError):
        await cluster.catalogs.create_extension(cluster.server, wanted.name, "no such thing")


async def test_a_new_database_has_its_extensions_from_the_start(cluster: Cluster) -> None:
    owner = DesiredRole(cluster.name("owner"))
    await cluster.catalogs.create_role(cluster.server, owner, None)
    wanted = DesiredDatabase(cluster.name("db"), owner.name, 7, ("vector", "no such thing"))
    await cluster.catalogs.create_database(cluster.server, wanted)
    (live,) = (await cluster.database(wanted.name, wanted.name)).catalog.databases
    assert live.extensions == ("plpgsql", "vector"), "one that the server lacks holds up nothing"
    assert (live.owner, live.connection_limit, live.public) == (owner.name, 7, ())
    assert live.connect == (owner.name,)


async def test_extensions_that_nobody_asks_for_are_not_read(cluster: Cluster) -> None:
    owner = DesiredRole(cluster.name("owner"))
    await cluster.catalogs.create_role(cluster.server, owner, None)
    wanted = DesiredDatabase(cluster.name("db"), owner.name)
    await cluster.catalogs.create_database(cluster.server, wanted)
    assert (await cluster.database(wanted.name)).catalog.databases[0].extensions is None


async def test_another_superuser_password_is_refused(cluster: Cluster) -> None:
    server = dataclasses.replace(cluster.server, superuser=Password("wrong"))
    with pytest.raises(PortError) as refused:
        await cluster.catalogs.read(server, Question())
    assert "wrong" not in str(refused.value)
