"""Roles and databases on a real cluster: declared, made by hand, drifted, rotated, moved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.e2e.cluster.conftest import switch_over
from tests.e2e.cluster.database_facts import (
    apply,
    catalog,
    changes_of,
    create_db,
    logs_in,
    sql,
    text,
    through_the_proxy,
    value_of,
)
from tests.e2e.cluster.deployment import Deployment
from tests.e2e.shown_secrets import Watch, places, shown_in, watching
from tests.e2e.swarm_facts import eventually, leader_node

pytestmark = pytest.mark.lab

BY_HAND = "not 'the' \"usual\" \\ $password$ of 2026"


@pytest.fixture(scope="module")
def watch() -> Iterator[Watch]:
    with watching() as found:
        yield found


@pytest.fixture(scope="module")
def declared(watch: Watch, deployment: Deployment) -> Deployment:
    """The cluster with the roles and the database of the file."""
    apply(deployment, text(deployment.lab))
    return deployment


def test_the_file_is_carried_out_and_its_password_opens_the_database(declared: Deployment) -> None:
    lab = declared.lab
    password = value_of(lab, "shop_pw")
    assert len(password) == 44
    assert logs_in(lab, "shop", password, "shop")
    assert not logs_in(lab, "shop", "x", "shop")
    assert sql(
        lab,
        "SELECT rolconnlimit, rolsuper, pg_has_role('shop', 'pg_monitor', 'member') FROM pg_roles"
        " WHERE rolname = 'shop'",
    ) == [(20, False, True)]
    with psycopg.connect(
        host=lab.node("node3").address, port=5000, user="shop", password=password, dbname="shop"
    ) as connection:
        connection.execute("CREATE TABLE public.item (id int, at vector(3))")


def test_create_db_makes_what_the_file_makes(declared: Deployment) -> None:
    lab = declared.lab
    code, told = create_db(declared, "twin", "twin", "-", given=f"{BY_HAND}\n")
    assert code == 0, told
    assert "is the primary" in told
    assert logs_in(lab, "twin", BY_HAND, "twin")
    by_hand = catalog(lab, "twin", "twin")
    sql(lab, "DROP DATABASE twin", "DROP ROLE twin")
    with_twin = text(lab, more="    - {name: twin, owner: twin}\n").replace(
        "  roles:\n", "  roles:\n    - {name: twin, passwordSecret: twin_pw}\n"
    )
    apply(declared, with_twin)
    assert logs_in(lab, "twin", value_of(lab, "twin_pw"), "twin")
    assert catalog(lab, "twin", "twin") == by_hand
    assert len(by_hand[0]) == 2, "CREATE ROLE and ALTER ROLE"


def test_create_db_again_sets_the_password_and_keeps_the_rest(
    declared: Deployment, tmp_path: Path
) -> None:
    lab = declared.lab
    file = tmp_path / "password"
    file.write_text("the first one\n")
    assert create_db(declared, "again", "again user", "--password-file", str(file))[0] == 0
    before = catalog(lab, "again user", "again")
    sql(lab, "GRANT CONNECT ON DATABASE again TO PUBLIC")
    file.write_text(BY_HAND)
    code, told = create_db(declared, "again", "again user", "--password-file", str(file))
    assert code == 0, told
    assert logs_in(lab, "again user", BY_HAND, "again")
    assert not logs_in(lab, "again user", "the first one", "again")
    assert catalog(lab, "again user", "again") == before
    trail = (declared.operator.state / "commands" / "audit.jsonl").read_text()
    assert '"alter-role/main/again user"' in trail


def test_create_db_warns_of_a_password_that_others_can_read(declared: Deployment) -> None:
    code, told = create_db(declared, "open", "open_user", "seen by everybody")
    assert code == 0, told
    assert "queenright: warning: " in told
    assert logs_in(declared.lab, "open_user", "seen by everybody", "open")


def test_create_db_leaves_the_files_own_passwords_alone(declared: Deployment) -> None:
    code, told = create_db(declared, "shop", "shop", "-", given=BY_HAND)
    assert code == 1
    assert "in the file" in told
    assert logs_in(declared.lab, "shop", value_of(declared.lab, "shop_pw"), "shop")


def test_drift_is_repaired_and_told(declared: Deployment) -> None:
    lab, operator = declared.lab, declared.operator
    since = len(operator.audit("outcome"))
    sql(
        lab,
        "SET log_statement = 'none'",
        "BEGIN",  # roles and databases are read one after the other: each is to be seen whole
        "ALTER ROLE shop SUPERUSER CREATEDB CONNECTION LIMIT 3 PASSWORD 'an intruder''s'",
        "GRANT pg_write_all_data TO shop",
        "GRANT ALL ON DATABASE shop TO PUBLIC",
        "ALTER DATABASE shop OWNER TO postgres",
        "ALTER DATABASE shop CONNECTION LIMIT 1",
        "COMMIT",
    )
    for key in ("alter-role/main/shop", "alter-database/main/shop"):
        operator.wait_for(lambda key=key: changes_of(declared, key, since), f"{key}: repaired", 60)
    roles = changes_of(declared, "alter-role/main/shop", since)
    assert {path.rpartition(".")[2] for path in roles} == {
        "superuser",
        "createDb",
        "connectionLimit",
        "memberOf",
        "password",
    }
    databases = changes_of(declared, "alter-database/main/shop", since)
    assert {path.rpartition(".")[2] for path in databases} == {
        "owner",
        "public",
        "connectionLimit",
    }
    assert logs_in(lab, "shop", value_of(lab, "shop_pw"), "shop")
    assert not logs_in(lab, "shop", "an intruder's", "shop")
    assert sql(
        lab,
        "SELECT rolsuper, rolcreatedb, pg_has_role('shop', 'pg_write_all_data', 'member')"
        " FROM pg_roles WHERE rolname = 'shop'",
    ) == [(False, False, False)]


def test_what_the_file_does_not_own_is_left_alone(declared: Deployment) -> None:
    lab = declared.lab
    sql(lab, "CREATE ROLE stranger", "GRANT CONNECT ON DATABASE shop TO stranger")
    sql(lab, "ALTER ROLE shop SET work_mem = '8MB'", "CREATE DATABASE strange")
    since = len(list(declared.operator.passes()))
    declared.operator.wait_for(
        lambda: len(list(declared.operator.passes())) >= since + 2, "two passes"
    )
    assert sql(
        lab,
        "SELECT has_database_privilege('stranger', 'shop', 'CONNECT'),"
        " (SELECT rolconfig::text FROM pg_roles WHERE rolname = 'shop'),"
        " has_database_privilege('stranger', 'strange', 'CONNECT')",
    ) == [(True, "{work_mem=8MB}", True)]


def test_another_secrets_name_changes_the_password(declared: Deployment) -> None:
    lab = declared.lab
    old = value_of(lab, "shop_pw")
    apply(declared, text(lab, named="shop_pw-2"))
    new = value_of(lab, "shop_pw-2")
    assert new != old
    assert logs_in(lab, "shop", new, "shop")
    assert not logs_in(lab, "shop", old, "shop")


def test_an_extension_that_the_server_lacks_is_a_hold(declared: Deployment) -> None:
    declared.operator.write(text(declared.lab, named="shop_pw-2", extensions="vector, pg_trgm"))
    declared.operator.wait_for(
        lambda: "pg_trgm" in declared.operator.holds().get("extensions/main/shop", ""), "the hold"
    )
    apply(declared, text(declared.lab, named="shop_pw-2"))


def test_what_left_the_file_is_told_and_kept(declared: Deployment) -> None:
    lab = declared.lab
    apply(declared, text(lab, named="shop_pw-2"))
    declared.operator.wait_for(
        lambda: "role/main/twin" in declared.operator.holds(), "the hold for the role"
    )
    assert "retain" in declared.operator.holds()["database/main/twin"]
    assert logs_in(lab, "twin", value_of(lab, "twin_pw"), "twin")
    sql(lab, "DROP DATABASE twin", "DROP ROLE twin")
    declared.operator.wait_for(
        lambda: "role/main/twin" not in declared.operator.holds(), "nothing to tell any more"
    )


def test_a_new_leader_has_it_all_and_is_kept_so(declared: Deployment) -> None:
    lab, operator = declared.lab, declared.operator
    before = catalog(lab, "shop", "shop")
    former = switch_over(declared)
    eventually(lambda: leader_node(lab) not in {"", former}, "another leader")
    eventually(lambda: through_the_proxy(lab), "the proxies to follow", timeout_s=30)
    assert catalog(lab, "shop", "shop") == before
    since = len(operator.audit("outcome"))
    sql(lab, "ALTER ROLE shop CREATEROLE")
    operator.wait_for(
        lambda: changes_of(declared, "alter-role/main/shop", since), "the repair at the new leader"
    )


def test_no_password_is_anywhere_but_in_its_secret(declared: Deployment, watch: Watch) -> None:
    """Server logs, the operator's log and state, Docker's own objects, and every process."""
    lab, operator = declared.lab, declared.operator
    secrets = lab.manager.docker("secret", "ls", "--format", "{{.Name}}").stdout.split()
    assert {"shop_pw", "pg_superuser_pw", "pg_replication_pw"} <= {*secrets}
    values = {*(value_of(lab, name) for name in secrets), BY_HAND, "the first one"}
    found = places(lab, operator, watch)
    assert "create-db" in found["arguments"], "the search sees what it searches"
    assert "RAFT_SELF" in found["environments"], "as above"
    assert any("CREATE ROLE" in logs for logs in found.values()), "DDL is logged, as it should be"
    assert shown_in(found, values) == []


def test_a_password_that_was_judged_once_is_not_read_again(declared: Deployment) -> None:
    """No service is made to show a secret, in passes that have nothing to do."""
    lab, operator = declared.lab, declared.operator
    since = len(list(operator.passes()))
    operator.wait_for(lambda: len(list(operator.passes())) > since, "the pass in hand")
    began = lab.manager.docker("info", "--format", "{{.SystemTime}}").stdout.strip()
    operator.wait_for(lambda: len(list(operator.passes())) >= since + 3, "two more passes")
    ended = lab.manager.docker("info", "--format", "{{.SystemTime}}").stdout.strip()
    window = ("--since", began, "--until", ended)
    events = lab.manager.docker("events", *window, "--filter", "type=service").stdout
    assert "secret-reader" not in events
    assert operator.holds() == {}
