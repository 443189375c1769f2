"""Steps that make one role or one database what the file says.

Decides from the desired state and what was found, field by field, so that an action changes only
what differs and its changes show old and new values. Invariant: what is found as desired is not
touched.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import TypedDict

from queenright.core.actions import (
    AlterDatabase,
    AlterRole,
    AnyAction,
    CreateDatabase,
    CreateExtension,
    CreateRole,
    FieldChange,
)
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.planning.plan import Hold
from queenright.core.postgres.catalog import (
    ROLE_OPTIONS,
    UNLIMITED,
    Catalog,
    Database,
    DesiredDatabase,
    DesiredRole,
    Role,
)

HIDDEN = "(hidden)"


class SqlEndpoint(TypedDict):
    """Fields that ``SqlAction`` adds: the server that an SQL action connects to."""

    cluster: str
    host: str
    port: int
    secret: str


def sql_target(state: ClusterState) -> SqlEndpoint:
    """The leader's PostgreSQL; without an address where there is no leader."""
    desired, leader = state.desired, state.leader
    access = state.access(leader) if leader is not None else None
    return SqlEndpoint(
        cluster=desired.name,
        host=access.address if access is not None else "",
        port=access.postgresql_port if access is not None else desired.postgresql_port,
        secret=access.superuser_secret if access is not None else desired.superuser_secret,
    )


def why_no_sql(state: ClusterState) -> str | None:
    """Reason why nothing is changed over SQL now; None if changes are possible."""
    leader = state.leader
    if leader is None:
        return "no single member proves the leader lock"
    if (move := state.annotations.move) is not None:
        return f"a switchover from {move.leader} to {move.candidate} is in progress"
    raft = state.raft_of(leader)
    if raft is None:
        return f"the Raft node of {leader.name} does not answer"
    if not raft.has_quorum:
        return f"the Raft node of {leader.name} has no quorum"
    return None


def role_steps(
    target: SqlEndpoint, role: DesiredRole, catalog: Catalog, now: datetime
) -> Iterator[AnyAction | Hold]:
    scope = target["cluster"]
    live = catalog.role(role.name)
    if live is None:
        yield CreateRole(**target, role=role, reason=f"role {role.name} does not exist")
        return
    if live.verifier == "not known":
        yield Hold(
            f"password/{scope}/{role.name}",
            f"role {role.name}: it is not known whether it has the password of secret "
            f"{role.password_secret} ({live.why_unread})",
        )
    if live.verifier == "not here":
        yield Hold(
            f"password/{scope}/{role.name}",
            f"role {role.name}: its password is not compared with secret {role.password_secret} "
            f"here ({live.why_unread})",
            is_informational=True,
        )
    if live.verifier == "not yet":
        yield Hold(
            f"password/{scope}/{role.name}",
            f"role {role.name}: its password is compared with secret {role.password_secret} in the "
            "next pass (reading others took this one's time)",
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
        reason=f"role {role.name} differs from the file in {names}",
        changes=tuple(change for _, change in differing),
    )


def role_differences(role: DesiredRole, live: Role) -> Iterator[tuple[str, FieldChange]]:
    """The fields to set, each with what it changes."""

    def change(field: str, old: object, new: object) -> tuple[str, FieldChange]:
        path = f"roles[{role.name}].{written(field)}"
        return field, FieldChange(path, format_value(old), format_value(new))

    for field in ("superuser", "replication"):
        if getattr(live, field):
            yield change(field, True, False)
    for field in ROLE_OPTIONS:
        old, new = getattr(live, field), getattr(role, field)
        if old != new:
            yield change(field, old, new)
    if role.member_of is not None and set(role.member_of) != set(live.member_of):
        yield change("member_of", live.member_of, role.member_of)
    if role.password_secret and live.verifier in {"none", "another"}:
        old = "(absent)" if live.verifier == "none" else HIDDEN
        yield "password", FieldChange(f"roles[{role.name}].password", old, HIDDEN)


def database_steps(
    target: SqlEndpoint, database: DesiredDatabase, catalog: Catalog, coming: Collection[str]
) -> Iterator[AnyAction | Hold]:
    """``coming`` are the roles that the file makes itself."""
    live = catalog.database(database.name)
    key = f"database/{target['cluster']}/{database.name}"
    needed = sorted({database.owner, *database.connect})
    absent = [name for name in needed if not catalog.has_role(name)]
    if foreign := [name for name in absent if name not in coming]:
        yield Hold(
            key,
            f"database {database.name}: waits for role {', '.join(foreign)} (not in the cluster, "
            "and not in the file); create it, or write it in the file",
            wants_attention=True,
        )
    if absent:
        return
    if live is None:
        reason = f"database {database.name} does not exist"
        yield CreateDatabase(**target, database=database, reason=reason)
        return
    differing = [*database_differences(database, live)]
    if differing:
        names = ", ".join(change.path.rpartition(".")[2] for _, change in differing)
        yield AlterDatabase(
            **target,
            database=database,
            fields=tuple(field for field, _ in differing),
            reason=f"database {database.name} differs from the file in {names}",
            changes=tuple(change for _, change in differing),
        )
    yield from extension_steps(target, database, live, catalog)


def database_differences(
    database: DesiredDatabase, live: Database
) -> Iterator[tuple[str, FieldChange]]:
    def change(field: str, old: object, new: object) -> tuple[str, FieldChange]:
        path = f"databases[{database.name}].{written(field)}"
        return field, FieldChange(path, format_value(old), format_value(new))

    if live.owner != database.owner:
        yield change("owner", live.owner, database.owner)
    if live.public:
        yield change("public", live.public, ())
    if missing := [name for name in database.connect if name not in live.connect]:
        yield change("connect", live.connect, (*live.connect, *missing))
    if live.connection_limit != database.connection_limit:
        yield change("connection_limit", live.connection_limit, database.connection_limit)


def extension_steps(
    target: SqlEndpoint, database: DesiredDatabase, live: Database, catalog: Catalog
) -> Iterator[AnyAction | Hold]:
    if not database.extensions:
        return
    key = f"extensions/{target['cluster']}/{database.name}"
    if live.extensions is None:
        why = live.why_unread or "not asked yet"
        yield Hold(key, f"database {database.name}: its extensions are not known ({why})")
        return
    missing = [name for name in database.extensions if name not in live.extensions]
    for name in missing:
        if name in catalog.available - catalog.unsafe:
            yield CreateExtension(
                **target,
                database=database.name,
                extension=name,
                reason=f"database {database.name} has no extension {name}",
            )
    yield from unsafe_extensions(key, database, [n for n in missing if n in catalog.unsafe])
    if absent := [name for name in missing if name not in catalog.available]:
        yield Hold(
            key,
            f"database {database.name}: extension {', '.join(absent)} is not there (the server "
            "does not offer it in pg_available_extensions); add it to the member image",
            wants_attention=True,
        )


def unsafe_extensions(key: str, database: DesiredDatabase, names: list[str]) -> Iterator[Hold]:
    """Hold for extensions that the operator creates only in a new database."""
    if not names:
        return
    statements = " ".join(
        f'CREATE EXTENSION "{name}" WITH SCHEMA public CASCADE;' for name in names
    )
    yield Hold(
        f"{key}/unsafe",
        f"extensions of database {database.name}: the operator creates {', '.join(names)} in a new "
        "database only (the script runs as the superuser, within reach of what the database's "
        f"owner has made); look as the superuser at what is in schema public, then run "
        f"{statements} in it",
        wants_attention=True,
    )


def written(field: str) -> str:
    """The field as the file has it."""
    first, *rest = field.split("_")
    return first + "".join(word.capitalize() for word in rest)


def format_value(value: object) -> str:
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
