"""Full effects of the actions over SQL on the leader's roles and databases.

Pure: from one catalog to the next, as ``engine.execute`` has them made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, assert_never

from queenright.core.actions import (
    AlterDatabase,
    AlterRole,
    AnySqlAction,
    CreateDatabase,
    CreateExtension,
    CreateRole,
)
from queenright.core.postgres.catalog import (
    ROLE_OPTIONS,
    Catalog,
    Database,
    DesiredCatalog,
    DesiredRole,
    Role,
    VerifierState,
)

DROPPED = frozenset({"superuser", "replication"})


def catalog_after(action: AnySqlAction, catalog: Catalog) -> Catalog:
    """Return the catalog after an action on it."""
    match action:
        case CreateRole(role=role):
            fields = (*ROLE_OPTIONS, "member_of", *(["password"] if role.password_secret else []))
            return with_role(catalog, with_fields(Role(role.name), role, fields))
        case AlterRole(role=role, fields=fields):
            live = catalog.role(role.name)
            return with_role(catalog, with_fields(live, role, fields)) if live else catalog
        case CreateDatabase(database=wanted):
            made = Database(
                wanted.name,
                wanted.owner,
                wanted.connection_limit,
                connect=tuple(sorted({wanted.owner, *wanted.connect})),
                extensions=tuple(sorted({"plpgsql", *wanted.extensions} & catalog.available)),
            )
            return with_database(catalog, made)
        case AlterDatabase(database=wanted):
            present = catalog.database(wanted.name)
            if present is None:
                return catalog
            altered = replace(
                present,
                owner=wanted.owner,
                connection_limit=wanted.connection_limit,
                public=(),
                connect=tuple(sorted({*present.connect, wanted.owner, *wanted.connect})),
            )
            return with_database(catalog, altered)
        case CreateExtension(database=name, extension=extension):
            found = catalog.database(name)
            if found is None:
                return catalog
            has = tuple(sorted({*(found.extensions or ()), extension}))
            return with_database(catalog, replace(found, extensions=has))
        case _:
            assert_never(action)


def with_fields(live: Role, role: DesiredRole, fields: Sequence[str]) -> Role:
    values: dict[str, Any] = {}
    for field in fields:
        if field in DROPPED:
            values[field] = False
        elif field == "member_of":
            values[field] = role.member_of if role.member_of is not None else live.member_of
        elif field == "password":
            values |= {"verifier": "as desired", "has_password": True}
        elif field == "no_password":
            values |= {"verifier": "none", "has_password": False}
        else:
            values[field] = getattr(role, field)
    return replace(live, **values)


def with_role(catalog: Catalog, role: Role) -> Catalog:
    roles = (*(one for one in catalog.roles if one.name != role.name), role)
    return replace(catalog, roles=roles)


def with_database(catalog: Catalog, database: Database) -> Catalog:
    databases = (*(one for one in catalog.databases if one.name != database.name), database)
    return replace(catalog, databases=databases)


def with_secret(catalog: Catalog, desired: DesiredCatalog, secret: str) -> Catalog:
    """Return the catalog once a secret is there: roles that should have its password, and whose
    verifier nobody compared, have another one."""
    for wanted in desired.roles:
        live = catalog.role(wanted.name)
        if wanted.password_secret == secret and live is not None and live.verifier == "not asked":
            found: VerifierState = "another" if live.has_password else "none"
            catalog = with_role(catalog, replace(live, verifier=found))
    return catalog
