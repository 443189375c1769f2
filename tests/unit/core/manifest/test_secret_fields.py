"""A password that somebody writes where a secret's name belongs is in no message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from queenright.core.kinds.load import load
from queenright.core.kinds.notes_app.schema.app import NotesApp
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.manifest.error_messages import fields_of, inner_part
from queenright.core.manifest.secret_fields import takes_secret_name
from queenright.core.manifest.suggestions import describe
from queenright.core.postgres.hba import parse_rule
from tests.support.builders import FILE, MANIFEST, manifest

PASSWORDS = ("hunter2 is not a name", "-hunter2!", "12345678901", "[hunter2]", "hunter2" * 12)
"""Values in YAML's types: none of them can be a secret's name."""
MEANT = "never the password or key itself"


def secret_paths(model: type[BaseModel], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every field of a kind that takes a secret's name."""
    for alias, field in fields_of(model).items():
        inner = inner_part(field.annotation)
        if takes_secret_name(field):
            yield (*path, alias)
        elif inner is not None:
            yield from secret_paths(inner, (*path, alias))


def text_of(kind: type[Any], path: tuple[str, ...], value: str) -> str:
    """A document with nothing but this field, which is refused for more than that."""
    lists = {"roles", "databases", "members"}
    lines, indent = [f"apiVersion: queenright/v1alpha1\nkind: {kind.KIND}"], ""
    for step in path[:-1]:
        lines.append(f"{indent}{step}:")
        indent += "  "
        if step in lists:
            lines.append(f"{indent}-")
            indent += "  "
    return "\n".join([*lines, f"{indent}{path[-1]}: {value}", ""])


CASES = [
    pytest.param(kind, path, id=".".join(path))
    for kind in (PostgresCluster, NotesApp)
    for path in secret_paths(kind)
]


def test_every_secret_is_found() -> None:
    found = {".".join(case.values[1]) for case in CASES}  # type: ignore[arg-type]
    assert found == {
        "spec.backup.repository.ca",
        "spec.backup.repository.credentials",
        "spec.backup.repository.volume.certificate",
        "spec.bootstrap.from.backup.repository.ca",
        "spec.bootstrap.from.backup.repository.credentials",
        "spec.secrets.replication",
        "spec.secrets.superuser",
        "spec.secrets.restApi",
        "spec.roles.passwordSecret",
        "spec.vip.secret",
        "spec.database.passwordSecret",
        "spec.database.urlSecret",
        "spec.encryptionKey.secret",
        "spec.oidc.clientSecret",
        "spec.edge.tls.directoryRoot",
        "spec.edge.tls.certificate",
        "spec.edge.tls.key",
    }


@pytest.mark.parametrize("password", PASSWORDS)
@pytest.mark.parametrize(("kind", "path"), CASES)
def test_no_message_repeats_what_stands_there(
    kind: type[Any], path: tuple[str, ...], password: str
) -> None:
    problems = load({FILE: text_of(kind, path, password)}).problems
    told = [str(problem) for problem in problems]
    assert any(path[-1] in line for line in told)
    assert not any("hunter2" in line or "12345678901" in line for line in told)


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"roles": "[{name: a, password: hunter2}]"}, "spec.roles[0].password"),
        ({"roles": "[{name: a, pw: hunter2}]"}, "spec.roles[0].pw"),
        ({"roles": "[{name: a, secret: hunter2}]"}, "spec.roles[0].secret"),
        ({"secrets": "{superuserPassword: hunter2}"}, "spec.secrets.superuserPassword"),
        ({"secrets": "{superUser: hunter2}"}, "spec.secrets.superUser"),
        ({"superuserPassword": "hunter2"}, "spec.superuserPassword"),
    ],
)
def test_who_writes_a_password_is_told_what_a_secrets_name_is(
    fields: dict[str, str], place: str
) -> None:
    told = [str(problem) for problem in load({FILE: manifest(**fields)}).problems]
    (line,) = (line for line in told if place in line)
    assert MEANT in line
    assert "docker secret create NAME FILE" in line
    assert "hunter2" not in "".join(told)


@pytest.mark.parametrize(
    "fields", [{"secrets": "hunter2"}, {"roles": "[{name: a, passwordSecret: {value: hunter2}}]"}]
)
def test_a_password_in_place_of_a_part_is_not_repeated(fields: dict[str, str]) -> None:
    told = [str(problem) for problem in load({FILE: manifest(**fields)}).problems]
    assert told
    assert "hunter2" not in "".join(told)


def test_two_secrets_of_one_name_are_told_without_it() -> None:
    text = manifest(secrets="{superuser: hunter2, replication: hunter2}")
    told = [str(problem) for problem in load({FILE: text}).problems]
    assert "is also secrets.replication" in "".join(told)
    assert "hunter2" not in "".join(told)


def test_a_url_is_quoted_without_its_password() -> None:
    assert describe("postgres://app:hunter2@db/x") == '"postgres://app:***@db/x"'
    assert describe("postgres://app:hun@ter2@db/x") == '"postgres://app:***@db/x"'
    assert load({FILE: MANIFEST}).problems == ()


def test_the_options_of_an_access_rule_are_not_repeated_where_one_is_a_password() -> None:
    rule = 'host all all 10.77.0.0/24 ldap ldapserver=x ldapbindpasswd="hunt er2"'
    assert "er2" not in str(parse_rule(rule))
