"""Nothing that a database's owner does in it makes the operator act for that owner."""

from __future__ import annotations

import asyncio
import importlib
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from queenright.adapters.postgres.connections import PostgresSql
from queenright.adapters.postgres.databases import PostgresCatalogs
from queenright.adapters.postgres.session import pinned_settings
from queenright.core.kinds.postgres_cluster.canary import canary
from queenright.core.postgres.catalog import DesiredDatabase, DesiredRole
from queenright.engine.canary import provide_database
from queenright.ports.database import Endpoint
from queenright.ports.databases import Found, Question
from queenright.ports.errors import PortError, RejectedError
from queenright.ports.secrets import Password
from tests.contract.hostile_owner import (
    AGGREGATES,
    ATTACKS,
    MALLORY,
    OPEN_PUBLIC,
    PASSWORD,
    SETTINGS,
    Attack,
    careless_binaries,
    is_superuser,
    under_attack,
)
from tests.contract.operator_sessions import at, look, make, opened_plainly, shown
from tests.contract.real_postgres import SUPERUSER_PASSWORD, RealPostgres, binaries

pytestmark = pytest.mark.lab
ROOT = Path(__file__).parents[2]
PLAIN = Attack("none", "")
AGGREGATE = Attack("an aggregate that fits better", AGGREGATES.format(schema="public"))


@pytest.fixture(scope="module")
def postgres() -> Iterator[RealPostgres]:
    with careless_binaries() as programs:
        server = RealPostgres(programs=programs)
        try:
            yield server.start()
        finally:
            server.stop()


def test_the_payload_works(postgres: RealPostgres) -> None:
    with under_attack(postgres, PLAIN):
        postgres.sql("SELECT evil.payload()", "prey")
        assert is_superuser(postgres)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_nobody_becomes_superuser_by_a_look_or_an_action(
    postgres: RealPostgres, attack: Attack
) -> None:
    with under_attack(postgres, attack):
        found = look(postgres)
        assert not is_superuser(postgres), "a look made her superuser"
        (database,) = found.catalog.databases
        assert (database.extensions, database.owner) == (("plpgsql",), MALLORY)
        make(postgres, "qr_careless")
        assert not is_superuser(postgres), "making an extension made her superuser"
        assert "qr_careless" in (look(postgres).catalog.databases[0].extensions or ())
        asyncio.run(
            PostgresCatalogs().alter_database(
                at(postgres),
                DesiredDatabase("prey", MALLORY, 5),
                ("owner", "public", "connect", "connection_limit"),
            )
        )
        asyncio.run(
            PostgresCatalogs().alter_role(
                at(postgres),
                DesiredRole(MALLORY, member_of=()),
                ("login", "member_of", "password"),
                Password("new"),
            )
        )
        assert not is_superuser(postgres)


@pytest.mark.parametrize("name", SETTINGS)
def test_no_setting_of_a_database_reaches_the_operator(postgres: RealPostgres, name: str) -> None:
    """The owner sets it, or the superuser for her."""
    with under_attack(postgres, PLAIN):
        statement = f"ALTER DATABASE prey SET {name} = '{SETTINGS[name]}'"
        try:
            with postgres.connect("prey", MALLORY, PASSWORD) as session:
                session.execute(statement)
        except psycopg.Error:
            try:
                postgres.sql(statement)
            except psycopg.Error as error:
                pytest.skip(f"nobody can set it: {error}")
        assert (look(postgres).catalog.databases[0].extensions) == ("plpgsql",)
        make(postgres, "qr_careless")
        found = look(postgres).catalog.databases[0]
        assert found.extensions == ("plpgsql", "qr_careless")


@pytest.mark.parametrize("level", ["role", "database", "role in database"])
def test_what_a_session_asks_for_outranks_every_level(postgres: RealPostgres, level: str) -> None:
    """Each pinned setting is as it is pinned, for the superuser and for a role like the canary."""
    hostile = {
        name: value
        for name, value in SETTINGS.items()
        # A library that can't be loaded, or a session that ends, would end the test's own sessions.
        if name not in {"session_preload_libraries", "idle_session_timeout"}
    }
    with under_attack(postgres, PLAIN):
        for user, password in (("postgres", SUPERUSER_PASSWORD), (MALLORY, PASSWORD)):
            where = {
                "role": f"ROLE {user}",
                "database": "DATABASE prey",
                "role in database": f"ROLE {user} IN DATABASE prey",
            }[level]
            statements = [f"ALTER {where} SET {key} = '{text}'" for key, text in hostile.items()]
            try:
                with postgres.connect() as session:
                    for statement in statements:
                        try:
                            session.execute(statement)
                        except psycopg.Error:
                            continue
                assert asyncio.run(shown(postgres, user, password)) == pinned_settings(user, 3.0)
            finally:
                with opened_plainly(postgres) as session:
                    session.execute(f"ALTER {where} RESET ALL")


@pytest.mark.parametrize("extension", ["qr_fixed", "qr_needy", "qr_own"])
def test_an_extension_that_can_not_be_kept_apart_is_refused(
    postgres: RealPostgres, extension: str
) -> None:
    with under_attack(postgres, AGGREGATE):
        assert extension in look(postgres).catalog.unsafe
        with pytest.raises(RejectedError, match="would run as the superuser within reach"):
            make(postgres, extension)
        assert not is_superuser(postgres)
        assert extension not in (look(postgres).catalog.databases[0].extensions or ())


def test_a_trusted_extension_is_made_as_the_owner(postgres: RealPostgres) -> None:
    with under_attack(postgres, PLAIN):
        make(postgres, "qr_trusted")
        owner = postgres.sql(
            "SELECT pg_catalog.pg_get_userbyid(extowner) FROM pg_catalog.pg_extension"
            " WHERE extname = 'qr_trusted'",
            "prey",
        )
        assert owner == [(MALLORY,)]


def test_a_name_that_the_owner_has_taken_is_told_and_nothing_is_left(
    postgres: RealPostgres,
) -> None:
    with under_attack(postgres, Attack("a table", "CREATE TABLE public.careless (id integer);")):
        with pytest.raises(PortError, match="careless"):
            make(postgres, "qr_careless")
        left = postgres.sql(
            "SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname LIKE 'queenright%'", "prey"
        )
        assert left == []


def test_every_extension_is_made_in_a_new_database_while_it_is_nobodys(
    postgres: RealPostgres,
) -> None:
    wanted = ("qr_careless", "qr_fixed", "qr_needy", "vector")
    desired = DesiredDatabase("fresh", "keeper", extensions=wanted, connect=())
    catalogs, server = PostgresCatalogs(), at(postgres)

    async def main() -> Found:
        await catalogs.create_role(server, DesiredRole("keeper"), Password("keeper"))
        await catalogs.create_database(server, desired)
        return await catalogs.read(server, Question(databases=("fresh",), extended=("fresh",)))

    try:
        (live,) = asyncio.run(main()).catalog.databases
        assert live.extensions == tuple(sorted(("plpgsql", *wanted)))
        assert (live.owner, live.public, live.connection_limit) == ("keeper", (), -1)
    finally:
        postgres.sql("DROP DATABASE fresh")
        postgres.sql("DROP ROLE keeper")


def test_every_extension_that_the_image_offers_can_be_made_safely(postgres: RealPostgres) -> None:
    with under_attack(postgres, PLAIN):
        catalog = look(postgres).catalog
        for name in sorted(catalog.available - catalog.unsafe):
            if not name.startswith("qr_"):
                make(postgres, name)
                make(postgres, name)
        extensions = look(postgres).catalog.databases[0].extensions or ()
        assert {*extensions} >= {n for n in catalog.available - catalog.unsafe if n[:3] != "qr_"}


def test_the_canarys_statements_serve_a_plain_role(postgres: RealPostgres) -> None:
    async def main() -> object:
        sql = PostgresSql()
        superuser = Endpoint("127.0.0.1", postgres.port, "postgres", "postgres")
        async with sql.connect(superuser, Password(SUPERUSER_PASSWORD)) as connection:
            for _ in range(2):
                await provide_database(connection, Password("canary"))
        own = Endpoint("127.0.0.1", postgres.port, canary.DATABASE, canary.ROLE)
        async with sql.connect(own, Password("canary")) as connection:
            for _ in range(2):
                await connection.run(canary.TABLE_SQL)
            for number in (1, 2, 3):
                await connection.run(canary.INSERT_SQL, [number])
            await connection.run(canary.PRUNE_SQL, [2])
            last = await connection.run(canary.LAST_SQL)
            found = await connection.run(canary.FIND_SQL, [[1, 2, 3]])
            timeline = await connection.run(canary.TIMELINE_SQL)
        return last, sorted(found), timeline

    assert asyncio.run(main()) == ([(3,)], [(2,), (3,)], [(1,)])


def test_the_images_own_create_db_is_out_of_reach(
    postgres: RealPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The script that ``create-db`` gives psql in a member's container, with its connection's
    options, in a superuser's database where others may create."""
    for name in ("psycopg2", "psycopg2.extensions"):  # the image's; only verifiers need it
        module = types.ModuleType(name)
        module.encrypt_password = None  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.syspath_prepend(str(ROOT / "images/member"))
    create_db = importlib.import_module("queenright_member.create_db")
    attack = Attack(
        "format that fits better",
        """
        CREATE FUNCTION public.format(text, text) RETURNS text LANGUAGE plpgsql AS
          $body$ BEGIN PERFORM evil.payload(); RETURN 'SELECT 1'; END $body$;
        CREATE FUNCTION evil.format(text, text) RETURNS text LANGUAGE plpgsql AS
          $body$ BEGIN PERFORM evil.payload(); RETURN 'SELECT 1'; END $body$;
        """,
        leave=OPEN_PUBLIC,
        careless="ALTER DATABASE postgres SET search_path = evil, public, pg_catalog",
        database="postgres",
    )
    verifier = "SCRAM-SHA-256$4096:c2FsdA==$c3RvcmVk:c2VydmVy"
    with under_attack(postgres, attack):
        try:
            script = create_db.sql("shop", "shop_user", verifier)
            result = subprocess.run(
                [str(binaries() / "psql"), "-X", "-q", "-d", "postgres", "-U", "postgres"],
                env={
                    "PGHOST": "127.0.0.1",
                    "PGPORT": str(postgres.port),
                    "PGPASSWORD": SUPERUSER_PASSWORD,
                    "PGOPTIONS": getattr(create_db, "OPTIONS", ""),
                },
                input=script,
                capture_output=True,
                text=True,
                check=False,
            )
            assert not is_superuser(postgres)
            assert (result.returncode, result.stderr) == (0, "")
            owner = "SELECT pg_catalog.pg_get_userbyid(datdba) FROM pg_catalog.pg_database"
            assert postgres.sql(f"{owner} WHERE datname = 'shop'") == [("shop_user",)]
        finally:
            for statement in (
                "ALTER DATABASE postgres RESET search_path",
                "DROP DATABASE IF EXISTS shop",
                "DROP ROLE IF EXISTS shop_user",
            ):
                postgres.sql(statement)
