"""Names and passwords of every kind reach a real PostgreSQL unaltered, and no log."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator

import psycopg
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from psycopg import sql

from queenright.adapters.postgres.databases import PostgresCatalogs
from queenright.core.kinds.postgres_cluster.schema.databases import database_name, role_name
from queenright.core.postgres.catalog import DesiredDatabase, DesiredRole
from queenright.core.postgres.scram import is_password_of
from queenright.ports.databases import Question, Server
from queenright.ports.secrets import Password
from tests.contract.real_postgres import SUPERUSER_PASSWORD, RealPostgres, real_postgres

pytestmark = pytest.mark.lab

PASSWORD_ROLE = "some role"
CHARACTERS = st.characters(exclude_categories=("Cs",), exclude_characters="\0")
NASTY = st.sampled_from(
    ["'", '"', "\\", "$", "$$", "%s", "{}", "\n", "\t", "é", "ß", "ﬁ", "®", "😀"]
)
PASSWORDS = st.one_of(
    st.text(CHARACTERS, min_size=1, max_size=40),
    st.lists(st.one_of(NASTY, st.text(CHARACTERS, max_size=3)), min_size=1).map("".join),
).filter(bool)


def legal(check: object, name: str) -> bool:
    try:
        check(name)  # type: ignore[operator]
    except ValueError:
        return False
    return True


NAMES = st.text(CHARACTERS, min_size=1, max_size=30).filter(
    lambda name: legal(role_name, name) and legal(database_name, name)
)


@pytest.fixture(scope="module")
def postgres() -> Iterator[RealPostgres]:
    with real_postgres() as server:
        asyncio.run(PostgresCatalogs().create_role(at(server), DesiredRole(PASSWORD_ROLE), None))
        yield server


def at(postgres: RealPostgres) -> Server:
    return Server("127.0.0.1", postgres.port, Password(SUPERUSER_PASSWORD))


def logs_in(postgres: RealPostgres, user: str, password: str, database: str = "postgres") -> bool:
    try:
        with postgres.connect(database, user, password) as connection:
            found = connection.execute("SELECT current_user, current_database()").fetchone()
    except psycopg.OperationalError:
        return False
    return found == (user, database)


EVERY = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@EVERY
@given(PASSWORDS)
@example("'; DROP ROLE postgres; --")
@example("back\\slash \"quote\" 'quote' $dollar$ $$ %s {} \n line\ttab")
@example("pässwörd ﬁne Ⅸ a\u00adb  end")
@example("\u0627\u0644\u0639")
@example("\u06271\u0627 a")
@example("\u00a0")
@example("\u00ad")
@example("\ue000 private")
@example("\U0001fae8 newer than the tables")
@example("\u3377 newer than the tables, and dm when normalized")
@example("\u0340")
@example("é" * 1000)
@example("x" * 1000)
@example("'\"\\$\n" * 200)
def test_whoever_has_the_password_logs_in_through_libpq(
    postgres: RealPostgres, password: str
) -> None:
    role = DesiredRole(PASSWORD_ROLE)

    async def set_and_read() -> str:
        catalogs, server = PostgresCatalogs(), at(postgres)
        await catalogs.alter_role(server, role, ("password",), Password(password))
        found = await catalogs.read(server, Question(roles=(PASSWORD_ROLE,)))
        return found.verifiers[PASSWORD_ROLE].value

    verifier = asyncio.run(set_and_read())
    assert is_password_of(verifier, password), "what libpq makes of it is what is checked here"
    assert not is_password_of(verifier, password + "x")
    assert logs_in(postgres, PASSWORD_ROLE, password)
    if len(password) > 12:
        assert password not in postgres.log
    assert verifier not in postgres.log


@EVERY
@given(NAMES, NAMES)
@example('quo"te', "back\\slash")
@example("$1 %s {}", "'; DROP DATABASE postgres; --")
@example("UPPER lower", "ünï😀")
def test_a_name_is_what_was_written(postgres: RealPostgres, first: str, second: str) -> None:
    role, database = (
        f"{first[:12]}{uuid.uuid4().hex[:6]}",
        f"{second[:12]}{uuid.uuid4().hex[:6]}",
    )
    wanted = DesiredDatabase(database, role)

    async def make() -> None:
        catalogs, server = PostgresCatalogs(), at(postgres)
        await catalogs.create_role(server, DesiredRole(role), Password("known"))
        await catalogs.create_database(server, wanted)

    asyncio.run(make())
    try:
        assert logs_in(postgres, role, "known", database)
        owners = postgres.sql(
            sql.SQL("SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = {}").format(
                sql.Literal(database)
            )
        )
        assert owners == [(role,)]
    finally:
        postgres.sql(sql.SQL("DROP DATABASE {}").format(sql.Identifier(database)))
        postgres.sql(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))


def test_a_name_of_63_bytes_is_not_cut(postgres: RealPostgres) -> None:
    name = role_name("é" * 31 + "x")
    asyncio.run(PostgresCatalogs().create_role(at(postgres), DesiredRole(name), Password("a")))
    assert logs_in(postgres, name, "a")


def test_the_public_may_not_connect(postgres: RealPostgres) -> None:
    async def make() -> None:
        catalogs, server = PostgresCatalogs(), at(postgres)
        for name in ("keeper", "stranger"):
            await catalogs.create_role(server, DesiredRole(name), Password(name))
        await catalogs.create_database(server, DesiredDatabase("kept", "keeper"))

    asyncio.run(make())
    assert logs_in(postgres, "keeper", "keeper", "kept")
    assert not logs_in(postgres, "stranger", "stranger", "kept")
    with postgres.connect("kept", "keeper", "keeper") as connection:
        connection.execute("CREATE TABLE public.own (id int)")
