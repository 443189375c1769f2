"""The steps of a database that a person asks for by hand (spec: database-cluster §4.4).

Decides from what is there which of the contract's steps are missing. Invariant: of a user or a
database that is there already, nothing but the password and the public's access is changed.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import (
    AlterDatabase,
    AlterRole,
    AnyAction,
    CreateDatabase,
    CreateRole,
    FieldChange,
)
from queenright.core.kinds.postgres_cluster.databases.steps import HIDDEN, format_value, sql_target
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.postgres.catalog import Catalog, DesiredDatabase, DesiredRole

REASON = "asked for by create-db"


def creation_steps(
    state: ClusterState, role: DesiredRole, database: DesiredDatabase, found: Catalog
) -> tuple[AnyAction, ...]:
    """User, database, and the public's access, in this order."""
    target = sql_target(state)
    steps: list[AnyAction] = []
    if found.role(role.name) is None:
        steps.append(CreateRole(**target, role=role, reason=REASON))
    else:
        change = FieldChange(f"roles[{role.name}].password", HIDDEN, HIDDEN)
        steps.append(
            AlterRole(**target, role=role, fields=("password",), reason=REASON, changes=(change,))
        )
    live = found.database(database.name)
    if live is None:
        steps.append(CreateDatabase(**target, database=database, reason=REASON))
        return tuple(steps)
    changes = {}
    if live.public:
        path = f"databases[{database.name}].public"
        changes["public"] = FieldChange(path, format_value(live.public), format_value(()))
    if live.connection_limit == 0:
        # A creation that was interrupted leaves this: nobody can connect.
        path = f"databases[{database.name}].connectionLimit"
        changes["connection_limit"] = FieldChange(
            path, "0", format_value(database.connection_limit)
        )
    if changes:
        steps.append(
            AlterDatabase(
                **target,
                database=database,
                fields=tuple(changes),
                reason=REASON,
                changes=tuple(changes.values()),
            )
        )
    return tuple(steps)


def remarks(role: DesiredRole, database: DesiredDatabase, found: Catalog) -> Iterator[str]:
    """Remarks on a role or a database that exists already, a line each."""
    known, live = found.role(role.name), found.database(database.name)
    if known is not None:
        yield f"User {role.name} is there: its password is set anew, all else stays."
        if not known.login:
            yield f"{role.name} may not log in (NOLOGIN), and that stays so."
        if known.superuser:
            yield f"{role.name} is a superuser, and that stays so."
    if live is not None:
        yield f"Database {database.name} is there, owned by {live.owner}: its data stays."
        if live.owner != role.name and role.name not in live.connect:
            yield (
                f"{role.name} does not own it, and may not connect once it is closed to the "
                f"public: GRANT CONNECT, or make {role.name} the owner."
            )
