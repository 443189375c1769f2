"""Roles and databases of a cluster's document, as desired catalog.

Decides from the document alone. Invariant: roles come in an order in which each can be created:
groups before their members.
"""

from __future__ import annotations

from collections.abc import Iterable

from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.kinds.postgres_cluster.schema.databases import DatabaseSpec, RoleSpec
from queenright.core.postgres.catalog import DesiredCatalog, DesiredDatabase, DesiredRole


def catalog_of(cluster: PostgresCluster) -> DesiredCatalog:
    """The roles and databases of the file."""
    spec = cluster.spec
    return DesiredCatalog(
        groups_first(desired_role(role) for role in spec.roles),
        tuple(desired_database(found) for found in spec.databases),
    )


def desired_role(role: RoleSpec) -> DesiredRole:
    return DesiredRole(
        name=role.name,
        password_secret=role.password_secret or "",
        login=role.login,
        connection_limit=role.connection_limit,
        member_of=None if role.member_of is None else tuple(sorted(set(role.member_of))),
        inherit=role.inherit,
        create_db=role.create_db,
        create_role=role.create_role,
        bypass_rls=role.bypass_rls,
        valid_until=role.valid_until,
    )


def desired_database(found: DatabaseSpec) -> DesiredDatabase:
    return DesiredDatabase(
        name=found.name,
        owner=found.owner,
        connection_limit=found.connection_limit,
        extensions=tuple(sorted(set(found.extensions))),
        connect=tuple(sorted(set(found.connect) - {found.owner})),
        deletion_policy=found.deletion_policy,
        encoding=found.encoding or "",
        locale=found.locale or "",
        template=found.template,
    )


def groups_first(roles: Iterable[DesiredRole]) -> tuple[DesiredRole, ...]:
    """The roles with each group before its members; a circle, which the checks refuse, stays."""
    left = {role.name: role for role in roles}
    placed: list[DesiredRole] = []
    for role in list(left.values()):
        _place(role, left, placed)
    return tuple(placed)


def _place(role: DesiredRole, left: dict[str, DesiredRole], placed: list[DesiredRole]) -> None:
    """Place a role that is left, after the groups of it that are."""
    if left.pop(role.name, None) is None:
        return
    for group in role.member_of or ():
        if group in left:
            _place(left[group], left, placed)
    placed.append(role)
