"""Roles and databases: those claimed for a cluster's catalog, and those found in it.

Both sides in PostgreSQL's own terms. Invariant: neither side holds a password: a desired role names
the swarm secret with it, a found one says if its verifier matches that secret.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

UNLIMITED = -1
"""PostgreSQL's value for no connection limit."""
ROLE_OPTIONS = (
    "login",
    "inherit",
    "create_db",
    "create_role",
    "bypass_rls",
    "connection_limit",
    "valid_until",
)
"""The fields of a role that are options of CREATE ROLE and ALTER ROLE."""
DeletionPolicy = Literal["retain"]


@dataclass(frozen=True, slots=True)
class DesiredRole:
    """A role. Never a superuser, nor one for replication: no field asks for either.

    An empty ``password_secret`` leaves the password alone, and None in ``member_of`` the
    memberships.
    """

    name: str
    password_secret: str = ""
    login: bool = True
    connection_limit: int = UNLIMITED
    member_of: tuple[str, ...] | None = None
    inherit: bool = True
    create_db: bool = False
    create_role: bool = False
    bypass_rls: bool = False
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class DesiredDatabase:
    """A database. The public may not connect; ``connect`` names the roles that may, beside its
    owner. ``encoding``, ``locale`` and ``template`` count when it is created, and never again."""

    name: str
    owner: str
    connection_limit: int = UNLIMITED
    extensions: tuple[str, ...] = ()
    connect: tuple[str, ...] = ()
    deletion_policy: DeletionPolicy = "retain"
    encoding: str = ""
    locale: str = ""
    template: str = ""


@dataclass(frozen=True, slots=True)
class DesiredCatalog:
    """The roles and databases desired in one cluster; each name once."""

    roles: tuple[DesiredRole, ...] = ()
    databases: tuple[DesiredDatabase, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.roles or self.databases)

    def role(self, name: str) -> DesiredRole | None:
        return next((role for role in self.roles if role.name == name), None)

    def database(self, name: str) -> DesiredDatabase | None:
        return next((database for database in self.databases if database.name == name), None)


NO_CATALOG = DesiredCatalog()


def merge_catalogs(own: DesiredCatalog, claims: DesiredCatalog) -> DesiredCatalog:
    """Return the file's own and what applications claim; for one name, the file's own counts."""
    if not claims:
        return own
    return DesiredCatalog(
        (*own.roles, *(role for role in claims.roles if own.role(role.name) is None)),
        (*own.databases, *(found for found in claims.databases if not own.database(found.name))),
    )


VerifierState = Literal[
    "as desired", "another", "none", "not known", "not yet", "not here", "not asked"
]


@dataclass(frozen=True, slots=True)
class Role:
    """A role as it is. ``verifier`` says if its password is the one in the secret claimed for it:
    ``not asked`` where none is claimed, or that secret is not in the swarm; ``not known``, with the
    reason in ``why_unread``, where the secret can't be read; ``not yet`` where a pass had no time
    left for it; ``not here`` for a command that does not compare."""

    name: str
    verifier: VerifierState = "not asked"
    has_password: bool = False
    login: bool = True
    connection_limit: int = UNLIMITED
    member_of: tuple[str, ...] = ()
    inherit: bool = True
    create_db: bool = False
    create_role: bool = False
    bypass_rls: bool = False
    superuser: bool = False
    replication: bool = False
    valid_until: datetime | None = None
    why_unread: str = ""
    sessions: int = 0
    """The number of its present sessions."""


@dataclass(frozen=True, slots=True)
class Database:
    """A database as it is. ``public`` are the public's privileges on it (``CONNECT``, ``CREATE``,
    ``TEMPORARY``), ``connect`` the roles with a CONNECT grant of their own. ``extensions`` is None
    where they could not be read, with the reason in ``why_unread``, or where none is claimed."""

    name: str
    owner: str
    connection_limit: int = UNLIMITED
    public: tuple[str, ...] = ()
    connect: tuple[str, ...] = ()
    extensions: tuple[str, ...] | None = None
    why_unread: str = ""


@dataclass(frozen=True, slots=True)
class Catalog:
    """The part of the leader's catalog that was asked for. ``others`` are existing roles that are
    only referred to; ``available`` are the server's extensions, ``unsafe`` those of them that can't
    be created safely in a database that its owner has already used."""

    roles: tuple[Role, ...] = ()
    databases: tuple[Database, ...] = ()
    others: frozenset[str] = frozenset()
    available: frozenset[str] = frozenset()
    unsafe: frozenset[str] = frozenset()

    def role(self, name: str) -> Role | None:
        return next((role for role in self.roles if role.name == name), None)

    def database(self, name: str) -> Database | None:
        return next((database for database in self.databases if database.name == name), None)

    def has_role(self, name: str) -> bool:
        return name in self.others or self.role(name) is not None


def referred_roles(desired: DesiredCatalog) -> Iterator[str]:
    """Yield names of roles that others refer to: as owners, groups, or for CONNECT."""
    for role in desired.roles:
        yield from role.member_of or ()
    for database in desired.databases:
        yield database.owner
        yield from database.connect
