"""One role, one database: what has to be done that it is as wished.

Decides from the wish and what was found of it, field by field, so that an action changes what
differs and its changes tell old and new. Invariant: nothing found as wished is touched again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import TypedDict

from queenright.core.actions import (
    Action,
    AlterDatabase,
    AlterRole,
    CreateDatabase,
    CreateExtension,
    CreateRole,
    FieldChange,
)
from queenright.core.catalog import (
    UNLIMITED,
    Catalog,
    Database,
    DesiredDatabase,
    DesiredRole,
    Role,
)
from queenright.core.plan import Hold
from queenright.core.situation import Situation

HIDDEN = "(hidden)"
PLAIN_FIELDS = (
    "login",
    "inherit",
    "create_db",
    "create_role",
    "bypass_rls",
    "connection_limit",
    "valid_until",
)


class Target(TypedDict):
    """Where a deed over SQL goes: the fields that ``SqlDeed`` adds, by name."""

    cluster: str
    host: str
    port: int
    secret: str


def sql_target(situation: Situation) -> Target:
    """The leader's PostgreSQL; without an address where nobody leads, and then nothing is done."""
    desired, leader = situation.desired, situation.leader
    return Target(
        cluster=desired.name,
        host=leader.address if leader is not None else "",
        port=desired.postgresql_port,
        secret=desired.superuser_secret,
    )


def why_no_sql(situation: Situation) -> str | None:
    """Why nothing is changed over SQL now."""
    leader = situation.leader
    if leader is None:
        return "there is no leader that every observation agrees on"
    if (move := situation.notes.move) is not None:
        return f"the lead is moving from {move.leader} to {move.candidate}"
    raft = situation.raft_of(leader)
    if raft is None:
        return f"the Raft node of {leader.name} does not answer"
    if not raft.has_quorum:
        return f"the Raft node of {leader.name} has no quorum"
    return None


def role_steps(
    target: Target, role: DesiredRole, catalog: Catalog, now: datetime
) -> Iterator[Action | Hold]:
    scope = target["cluster"]
    live = catalog.role(role.name)
    if live is None:
        yield CreateRole(**target, role=role, reason=f"there is no role {role.name}")
        return
    if live.verifier == "not known":
        yield Hold(
            f"password/{scope}/{role.name}",
            f"whether role {role.name} has the password of secret {role.password_secret} is not "
            f"known: {live.why_unread}",
        )
    if live.verifier == "not here":
        yield Hold(
            f"password/{scope}/{role.name}",
            f"whether role {role.name} has the password of secret {role.password_secret} is not "
            f"compared here: {live.why_unread}",
            is_news=True,
        )
    if live.verifier == "not yet":
        yield Hold(
            f"password/{scope}/{role.name}",
            f"whether role {role.name} has the password of secret {role.password_secret} is looked "
            "at in the next pass: reading others took this one's time",
            now,
        )
    differing = [*role_differences(role, live)]
    if not differing:
        return
    names = ", ".join(change.path.rpartition(".")[2] for _, change in differing)
    yield AlterRole(
        **target,
        role=role,
        fields=tuple(field for field, _ in differing),
        reason=f"role {role.name} is not as the file has it: {names}",
        changes=tuple(change for _, change in differing),
    )


def role_differences(role: DesiredRole, live: Role) -> Iterator[tuple[str, FieldChange]]:
    """The fields to set, each with what it changes."""

    def change(field: str, old: object, new: object) -> tuple[str, FieldChange]:
        path = f"roles[{role.name}].{written(field)}"
        return field, FieldChange(path, shown(old), shown(new))

    for field in ("superuser", "replication"):
        if getattr(live, field):
            yield change(field, True, False)
    for field in PLAIN_FIELDS:
        old, new = getattr(live, field), getattr(role, field)
        if old != new:
            yield change(field, old, new)
    if role.member_of is not None and set(role.member_of) != set(live.member_of):
        yield change("member_of", live.member_of, role.member_of)
    if role.password_secret and live.verifier in {"none", "another"}:
        old = "(absent)" if live.verifier == "none" else HIDDEN
        yield "password", FieldChange(f"roles[{role.name}].password", old, HIDDEN)


def database_steps(
    target: Target, database: DesiredDatabase, catalog: Catalog, coming: Collection[str]
) -> Iterator[Action | Hold]:
    """``coming`` are the roles that the file makes itself."""
    live = catalog.database(database.name)
    key = f"database/{target['cluster']}/{database.name}"
    needed = sorted({database.owner, *database.connect})
    absent = [name for name in needed if not catalog.has_role(name)]
    if foreign := [name for name in absent if name not in coming]:
        yield Hold(
            key,
            f"database {database.name} waits for {', '.join(foreign)}: there is no such role in "
            "the cluster, and none in the file",
            wants_attention=True,
        )
    if absent:
        return
    if live is None:
        reason = f"there is no database {database.name}"
        yield CreateDatabase(**target, database=database, reason=reason)
        return
    differing = [*database_differences(database, live)]
    if differing:
        names = ", ".join(change.path.rpartition(".")[2] for _, change in differing)
        yield AlterDatabase(
            **target,
            database=database,
            fields=tuple(field for field, _ in differing),
            reason=f"database {database.name} is not as the file has it: {names}",
            changes=tuple(change for _, change in differing),
        )
    yield from extension_steps(target, database, live, catalog)


def database_differences(
    database: DesiredDatabase, live: Database
) -> Iterator[tuple[str, FieldChange]]:
    def change(field: str, old: object, new: object) -> tuple[str, FieldChange]:
        path = f"databases[{database.name}].{written(field)}"
        return field, FieldChange(path, shown(old), shown(new))

    if live.owner != database.owner:
        yield change("owner", live.owner, database.owner)
    if live.public:
        yield change("public", live.public, ())
    if missing := [name for name in database.connect if name not in live.connect]:
        yield change("connect", live.connect, (*live.connect, *missing))
    if live.connection_limit != database.connection_limit:
        yield change("connection_limit", live.connection_limit, database.connection_limit)


def extension_steps(
    target: Target, database: DesiredDatabase, live: Database, catalog: Catalog
) -> Iterator[Action | Hold]:
    if not database.extensions:
        return
    key = f"extensions/{target['cluster']}/{database.name}"
    if live.extensions is None:
        why = live.why_unread or "not asked yet"
        yield Hold(key, f"the extensions of database {database.name} are not known ({why})")
        return
    missing = [name for name in database.extensions if name not in live.extensions]
    for name in missing:
        if name in catalog.available:
            yield CreateExtension(
                **target,
                database=database.name,
                extension=name,
                reason=f"database {database.name} has no extension {name}",
            )
    if absent := [name for name in missing if name not in catalog.available]:
        yield Hold(
            key,
            f"database {database.name} should have {', '.join(absent)}, which the server does not "
            "offer (pg_available_extensions): put it into the member image",
            wants_attention=True,
        )


def written(field: str) -> str:
    """The field as the file has it."""
    first, *rest = field.split("_")
    return first + "".join(word.capitalize() for word in rest)


def shown(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case datetime():
            return f"{value:%Y-%m-%dT%H:%M:%SZ}"
        case None:
            return "never"
        case int() if value == UNLIMITED:
            return "no limit"
        case tuple():
            return ", ".join(map(str, value)) or "nobody"
        case _:
            return str(value)
