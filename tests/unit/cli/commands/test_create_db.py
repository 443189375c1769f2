"""``create-db`` on a simulated cluster: its steps, its refusals, and whence the password comes."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from queenright.cli.cluster_session import Session, on_cluster
from queenright.cli.commands.create_db import checked, create, create_db, given_password
from queenright.cli.exit_codes import USAGE, CommandError
from queenright.core.kinds.claims import claims_of
from queenright.core.planning.faults import DocumentKey
from queenright.core.postgres.catalog import DesiredCatalog
from queenright.core.postgres.scram import is_password_of
from queenright.ports.secrets import Password
from tests.fakes.fake_catalogs import EVERYBODYS, FakeServer
from tests.support.app_builders import APP, documents
from tests.support.builders import MANIFEST, manifest
from tests.support.simulated_commands import Act, Stage, on_stage

GIVEN = "a b'c"
SHOP = manifest(roles="[{name: shop, passwordSecret: shop_pw}]")

MAIN = DocumentKey("PostgresCluster", "main")


def creating(database: str = "shop", user: str = "shop", password: str = GIVEN) -> Act:
    return lambda live: create(live, database, user, Password(password))


def server(stage: Stage) -> FakeServer:
    return stage.world.servers.of("main")


def test_a_new_user_and_a_new_database() -> None:
    async def play(stage: Stage) -> None:
        assert await stage.command(creating(), "create-db") == 0
        assert "member-1 is the primary" in stage.out
        assert server(stage).databases["shop"].public == ()
        assert is_password_of(server(stage).verifiers["shop"], "a b'c")
        kinds = [type(found.action).__name__ for found in stage.world.audit.outcomes[-2:]]
        assert kinds == ["CreateRole", "CreateDatabase"]
        assert "a b'c" not in repr(stage.world.audit.outcomes)

    on_stage(play)


def test_again_it_sets_the_password_and_closes_the_database() -> None:
    async def play(stage: Stage) -> None:
        await stage.command(creating())
        found = server(stage)
        found.databases["shop"] = dataclasses.replace(found.databases["shop"], public=EVERYBODYS)
        found.roles["shop"] = dataclasses.replace(found.roles["shop"], connection_limit=3)
        assert await stage.command(creating(password="another")) == 0
        assert is_password_of(found.verifiers["shop"], "another")
        assert found.databases["shop"].public == ()
        assert found.roles["shop"].connection_limit == 3, "nobody asked for another"
        assert "its password is set anew" in stage.out

    on_stage(play)


def test_another_users_database_stays_his_and_that_is_said() -> None:
    async def play(stage: Stage) -> None:
        await stage.command(creating())
        assert await stage.command(creating(user="guest")) == 0
        assert server(stage).databases["shop"].owner == "shop"
        assert "GRANT CONNECT" in stage.out

    on_stage(play)


def test_what_a_creation_that_was_cut_short_left_is_opened() -> None:
    async def play(stage: Stage) -> None:
        await stage.command(creating())
        found = server(stage)
        found.databases["shop"] = dataclasses.replace(found.databases["shop"], connection_limit=0)
        assert await stage.command(creating()) == 0
        assert found.databases["shop"].connection_limit == -1

    on_stage(play)


def test_a_role_of_the_file_keeps_its_secrets_password() -> None:
    async def play(stage: Stage) -> None:
        assert await stage.command(creating()) == 1
        assert "shop_pw" in stage.err

    on_stage(play, SHOP)


def test_an_applications_roles_are_its_own() -> None:
    claims = claims_of(documents())[MAIN]
    owner, login = (role.name for role in claims.roles)

    async def play(stage: Stage) -> None:
        stage.claims = claims
        assert await stage.command(creating("x", login)) == 1
        assert "notes_db_password" in stage.err
        assert await stage.command(creating("x", owner)) == 1
        assert "role notes owns" in stage.err
        assert await stage.command(creating("x", f"{owner}_{'0' * 8}")) == 1
        assert "a former login" in stage.err
        assert stage.err.count("\n") == 3
        assert server(stage).changes == []

    on_stage(play)


def test_a_look_for_a_command_waits_for_no_secret() -> None:
    """An emergency does not wait while the passwords of roles are compared."""

    async def play(stage: Stage) -> None:
        stage.world.secrets.is_unavailable = True

        async def look(live: Session) -> int:
            assert (await live.look()).observed.catalogs == {}
            return 0

        assert await stage.command(look) == 0

    on_stage(play, SHOP)


def test_a_command_knows_what_the_applications_of_its_files_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "main.yaml").write_text(MANIFEST)
    (tmp_path / "notes.yaml").write_text(APP)
    monkeypatch.setenv("QUEENRIGHT_STATE_DIR", str(tmp_path / "state"))
    known: list[DesiredCatalog] = []

    async def act(live: Session) -> int:
        known.append(live.claims)
        return 0

    assert on_cluster(tmp_path, None, "a test", act) == 0
    assert known == [claims_of(documents())[MAIN]]


def test_without_a_primary_nothing_is_done() -> None:
    async def play(stage: Stage) -> None:
        for node in ("node2", "node3", "node4"):
            stage.world.partition(node)
        assert await stage.command(creating()) == 1
        assert "no primary" in stage.err
        assert server(stage).changes == []

    on_stage(play)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["postgres", "a", "-"], "the superuser's database"),
        (["template1", "a", "-"], "PostgreSQL's own"),
        (["a", "postgres", "-"], "the superuser"),
        (["a", "replicator", "-"], "replication"),
        (["a", "queenright_canary", "-"], "ours"),
        (["a", "pg_a", "-"], "pg_"),
        (["", "a", "-"], "must not be empty"),
        (["x" * 64, "a", "-"], "64 bytes"),
        (["a\nb", "a", "-"], "control character"),
        (["a", "b"], "give the password once"),
        (["a", "b", "c", "--password-file", "d"], "give the password once"),
        (["a", "b", "--password-file", "/nowhere/at/all"], "No such file"),
    ],
)
def test_what_can_not_be_is_one_line(arguments: list[str], said: str) -> None:
    found = CliRunner().invoke(create_db, arguments, standalone_mode=False)
    assert isinstance(found.exception, CommandError)
    assert found.exception.code == USAGE
    assert said in found.exception.message
    assert "\n" not in found.exception.message


@pytest.mark.parametrize("raw", [b"", b"\n", b"a\0b", b"\xff", b"x" * 70000])
def test_what_is_no_password_is_refused_without_being_shown(raw: bytes) -> None:
    with pytest.raises(CommandError) as refused:
        checked(raw)
    assert refused.value.code == USAGE
    assert "xxx" not in refused.value.message


def test_one_line_end_is_not_part_of_a_password(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_bytes(b" with spaces \n\r\n")
    assert given_password(None, file).value == " with spaces \n"
    assert given_password("an argument\n", None).value == "an argument\n"


def test_an_argument_is_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    given_password("seen by all", None)
    told = capsys.readouterr()
    assert "queenright: warning: " in told.err
    assert "seen by all" not in told.err + json.dumps(told.out)
