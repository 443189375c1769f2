"""Every mistake that can be made with roles and databases, one a case."""

from tests.support.documents import edited


def roles(*lines: str) -> str:
    return edited(more="roles:\n" + "".join(f"  - {line}\n" for line in lines))


def databases(*lines: str) -> str:
    return edited(more="databases:\n" + "".join(f"  - {line}\n" for line in lines))


A = "{name: a, passwordSecret: a_pw}"

DATABASES_CASES: dict[str, str] = {
    "roles a mapping": edited(more="roles: {name: a}"),
    "role without a name": roles("{login: false}"),
    "role a word": roles("shop"),
    "role without a password": roles("{name: a}"),
    "role's name empty": roles("{name: '', login: false}"),
    "role's name a number": roles("{name: 7, login: false}"),
    "role's name too long": roles("{name: " + "é" * 32 + ", login: false}"),
    "role's name with a line end": roles('{name: "a\\nb", login: false}'),
    "role the superuser": roles("{name: postgres, passwordSecret: a_pw}"),
    "role of replication": roles("{name: replicator, passwordSecret: a_pw}"),
    "role the public": roles("{name: public, login: false}"),
    "role none": roles("{name: none, login: false}"),
    "role of PostgreSQL's": roles("{name: pg_mine, login: false}"),
    "role of the operator's": roles("{name: queenright_canary, login: false}"),
    "role twice": roles(A, "{name: a, passwordSecret: b_pw}"),
    "role a superuser": roles("{name: a, passwordSecret: a_pw, superuser: true}"),
    "role for replication": roles("{name: a, passwordSecret: a_pw, replication: true}"),
    "role with a clear password": roles("{name: a, password: secret}"),
    "role's login a word": roles("{name: a, login: sometimes}"),
    "role's limit below none": roles("{name: a, passwordSecret: a_pw, connectionLimit: -2}"),
    "role's limit above the server's": roles(
        "{name: a, passwordSecret: a_pw, connectionLimit: 500}"
    ),
    "role's groups a word": roles("{name: a, passwordSecret: a_pw, memberOf: b}"),
    "role member of itself": roles("{name: a, passwordSecret: a_pw, memberOf: [a]}"),
    "roles in a circle": roles(
        "{name: a, login: false, memberOf: [b]}",
        "{name: b, login: false, memberOf: [c]}",
        "{name: c, login: false, memberOf: [a]}",
    ),
    "role member of the superuser": roles("{name: a, passwordSecret: a_pw, memberOf: [postgres]}"),
    "role as good as a superuser": roles(
        "{name: a, passwordSecret: a_pw, memberOf: [pg_execute_server_program]}"
    ),
    "role's inherit a number": roles("{name: a, passwordSecret: a_pw, inherit: 1}"),
    "role's createDb a word": roles("{name: a, passwordSecret: a_pw, createDb: maybe}"),
    "role's createRole a word": roles("{name: a, passwordSecret: a_pw, createRole: maybe}"),
    "role's bypassRls a word": roles("{name: a, passwordSecret: a_pw, bypassRls: maybe}"),
    "role's end without a zone": roles(
        "{name: a, passwordSecret: a_pw, validUntil: 2030-01-01T00:00}"
    ),
    "role's secret misspelt": roles("{name: a, passwordSecret: 'a pw'}"),
    "role's secret the superuser's": roles("{name: a, passwordSecret: pg_superuser_pw}"),
    "role's secret another's": roles(A, "{name: b, passwordSecret: a_pw}"),
    "role's secret without login": roles("{name: a, login: false, passwordSecret: a_pw}"),
    "database without an owner": databases("{name: d}"),
    "database without a name": databases("{owner: a}"),
    "database the superuser's": databases("{name: postgres, owner: a}"),
    "database a template": databases("{name: template1, owner: a}"),
    "database of the operator's": databases("{name: queenright_canary, owner: a}"),
    "database of the superuser": databases("{name: d, owner: postgres}"),
    "one database twice": databases("{name: d, owner: a}", "{name: d, owner: b}"),
    "database's limit a word": databases("{name: d, owner: a, connectionLimit: few}"),
    "database's extensions a word": databases("{name: d, owner: a, extensions: pg_trgm}"),
    "database's extension a path": databases("{name: d, owner: a, extensions: [../x]}"),
    "database's guests a word": databases("{name: d, owner: a, connect: b}"),
    "database's policy": databases("{name: d, owner: a, deletionPolicy: drop}"),
    "database's template foreign": databases("{name: d, owner: a, template: other}"),
    "database's locale of a template": databases(
        "{name: d, owner: a, template: template1, locale: C}"
    ),
    "database's encoding a number": databases("{name: d, owner: a, encoding: 8}"),
}

BEYOND = (
    *("role without a password", "role's name too long", "role twice"),
    *("role's limit above the server's", "role member of itself", "roles in a circle"),
    *("role's secret the superuser's", "role's secret another's", "role's secret without login"),
    *("one database twice", "database's locale of a template"),
)
"""Mistakes that take more than one field, and bytes."""
