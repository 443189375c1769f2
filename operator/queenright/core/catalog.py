"""Roles and databases: what is asked of a cluster's catalog, and what was found in it.

Both sides in PostgreSQL's own terms. Invariant: no password is here, on either side: a desired role
names the swarm secret that has it, a found one says whether its verifier is that secret's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

UNLIMITED = -1
"""A connection limit that is none, as PostgreSQL writes it."""
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
    """What is asked of one cluster; a name is there once."""

    roles: tuple[DesiredRole, ...] = ()
    databases: tuple[DesiredDatabase, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.roles or self.databases)

    def role(self, name: str) -> DesiredRole | None:
        return next((role for role in self.roles if role.name == name), None)

    def database(self, name: str) -> DesiredDatabase | None:
        return next((database for database in self.databases if database.name == name), None)


NO_CATALOG = DesiredCatalog()


def merged(own: DesiredCatalog, wishes: DesiredCatalog) -> DesiredCatalog:
    """The file's own, and what applications wish besides; of one name, the file's own stands."""
    if not wishes:
        return own
    return DesiredCatalog(
        (*own.roles, *(role for role in wishes.roles if own.role(role.name) is None)),
        (*own.databases, *(found for found in wishes.databases if not own.database(found.name))),
    )


VerifierState = Literal[
    "as wished", "another", "none", "not known", "not yet", "not here", "not asked"
]


@dataclass(frozen=True, slots=True)
class Role:
    """A role as it is. ``verifier`` tells whether its password is the one in the secret that is
    wished for it: ``not asked`` where none is wished, or where that secret is not in the swarm;
    ``not known``, for the reason in ``why_unread``, where the secret can't be read; ``not yet``
    where a pass had no time left for it, ``not here`` where whoever looks does not compare."""

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
    """How many are logged in with it now."""


@dataclass(frozen=True, slots=True)
class Database:
    """A database as it is. ``public`` are the privileges that everybody has on it (``CONNECT``,
    ``CREATE``, ``TEMPORARY``), ``connect`` the roles that were granted CONNECT by name.
    ``extensions`` is None where they could not be read, for the reason in ``why_unread``, or where
    none is wished."""

    name: str
    owner: str
    connection_limit: int = UNLIMITED
    public: tuple[str, ...] = ()
    connect: tuple[str, ...] = ()
    extensions: tuple[str, ...] | None = None
    why_unread: str = ""


@dataclass(frozen=True, slots=True)
class Catalog:
    """What was found on the leader, of what was asked for. ``others`` are names of roles that exist
    and are only referred to; ``available`` are the extensions that the server has."""

    roles: tuple[Role, ...] = ()
    databases: tuple[Database, ...] = ()
    others: frozenset[str] = frozenset()
    available: frozenset[str] = frozenset()

    def role(self, name: str) -> Role | None:
        return next((role for role in self.roles if role.name == name), None)

    def database(self, name: str) -> Database | None:
        return next((database for database in self.databases if database.name == name), None)

    def has_role(self, name: str) -> bool:
        return name in self.others or self.role(name) is not None


def referred_roles(desired: DesiredCatalog) -> Iterator[str]:
    """Names of roles that others refer to: as owners, as groups, as those who may connect."""
    for role in desired.roles:
        yield from role.member_of or ()
    for database in desired.databases:
        yield database.owner
        yield from database.connect
