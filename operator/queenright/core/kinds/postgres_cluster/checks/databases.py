"""Checks of roles and databases that need more than one field.

Decides from one valid `PostgresCluster`. What only the server knows, such as whether an owner
exists that the file does not create, is reported when the server has been read.
"""

from collections.abc import Iterator

from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.kinds.postgres_cluster.schema.databases import RoleSpec
from queenright.core.manifest.problems import Finding, Path

_ROLES: Path = ("spec", "roles")
_DATABASES: Path = ("spec", "databases")


def _names_once(cluster: PostgresCluster) -> Iterator[Finding]:
    """A name is written once; it may be a role's and a database's."""
    for field in ("roles", "databases"):
        seen: dict[str, int] = {}
        for index, item in enumerate(getattr(cluster.spec, field)):
            if item.name in seen:
                other: Path = ("spec", field, seen[item.name], "name")
                message = f'"{item.name}" is also the name of {field}[{seen[item.name]}]'
                yield Finding(("spec", field, index, "name"), message, involves=(other,))
            seen.setdefault(item.name, index)


def _passwords(cluster: PostgresCluster) -> Iterator[Finding]:
    """Each role has a secret of its own, and one that logs in has any."""
    secrets = cluster.spec.secrets
    taken = {
        secrets.superuser: "the superuser",
        secrets.replication: "the role that replication uses",
        secrets.rest_api: "Patroni's REST API",
    }
    for index, role in enumerate(cluster.spec.roles):
        path, login = (*_ROLES, index, "passwordSecret"), (*_ROLES, index, "login")
        if role.password_secret is None:
            if role.login:
                message = (
                    "has no `passwordSecret`: until somebody sets a password by hand, nobody can "
                    "log in as this role; name a secret, or write `login: false`"
                )
                yield Finding((*_ROLES, index), message, "warning", (path, login))
            continue
        if not role.login:
            message = "has no effect on a role that may not log in; write `login: true`, or none"
            yield Finding(path, message, "warning", (login,))
        if role.password_secret in taken:
            message = (
                f"is the password of {taken[role.password_secret]}; write "
                "the name of another secret"
            )
            yield Finding(path, message, involves=(("spec", "secrets"),))
    yield from _shared(cluster)


def _shared(cluster: PostgresCluster) -> Iterator[Finding]:
    seen: dict[str, int] = {}
    for index, role in enumerate(cluster.spec.roles):
        name = role.password_secret
        if name is not None and name in seen:
            message = (
                f"is also the secret of roles[{seen[name]}]: who learns the one password "
                "has the other too; use a secret of its own"
            )
            involved: Path = (*_ROLES, seen[name], "passwordSecret")
            yield Finding((*_ROLES, index, "passwordSecret"), message, "warning", (involved,))
        if name is not None:
            seen.setdefault(name, index)


def _circles(cluster: PostgresCluster) -> Iterator[Finding]:
    """No role is a member of itself, however far around."""
    groups = {role.name: _groups(role) for role in cluster.spec.roles}
    for index, role in enumerate(cluster.spec.roles):
        path, reached = [role.name], {role.name}
        found = _way_back(role.name, role.name, groups, path, reached)
        if found:
            way = " in ".join(f'"{name}"' for name in found)
            yield Finding((*_ROLES, index, "memberOf"), f"goes around in a circle: {way}")
            return


def _groups(role: RoleSpec) -> tuple[str, ...]:
    return role.member_of or ()


def _way_back(
    start: str,
    name: str,
    groups: dict[str, tuple[str, ...]],
    path: list[str],
    reached: set[str],
) -> list[str]:
    for group in groups.get(name, ()):
        if group == start:
            return [*path, group]
        if group not in reached:
            reached.add(group)
            if found := _way_back(start, group, groups, [*path, group], reached):
                return found
    return []


def _creation(cluster: PostgresCluster) -> Iterator[Finding]:
    """An encoding or a locale of its own can't be copied from a template with another."""
    for index, database in enumerate(cluster.spec.databases):
        if database.template != "template1":
            continue
        for field in ("encoding", "locale"):
            if getattr(database, field) is not None:
                message = (
                    f"needs `template: template0`, since template1 may have data in another {field}"
                )
                path = (*_DATABASES, index, field)
                yield Finding(path, message, involves=((*_DATABASES, index, "template"),))


def _connections(cluster: PostgresCluster) -> Iterator[Finding]:
    """A limit above what the server takes at all is none."""
    most = cluster.spec.postgresql.parameters.get("max_connections")
    if isinstance(most, bool) or not str(most).isdigit():
        return
    for field in ("roles", "databases"):
        for index, item in enumerate(getattr(cluster.spec, field)):
            if item.connection_limit > int(str(most)):
                message = (
                    f"{item.connection_limit} is more than max_connections ({most}), and so no "
                    "limit; write less, or -1"
                )
                yield Finding(("spec", field, index, "connectionLimit"), message, "warning")


DATABASES_CHECKS = (_names_once, _passwords, _circles, _creation, _connections)
