"""A cluster's roles and databases, as the engine needs them: read, made, and set right.

Everything happens on the one server that is named, as the superuser, and only if that server is a
primary when asked on the very connection. Calls raise ``ports.errors``: ConflictError for what is
there already, or gone; RejectedError for what the server refuses for good.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from queenright.core.catalog import Catalog, DesiredDatabase, DesiredRole
from queenright.ports.patroni import Password


@dataclass(frozen=True, slots=True)
class Server:
    """The leader's PostgreSQL, and the superuser's password."""

    host: str
    port: int
    superuser: Password


@dataclass(frozen=True, slots=True)
class Question:
    """What to look for, by name. ``referred`` are roles of which only the existence matters,
    ``extended`` the databases whose extensions matter."""

    roles: tuple[str, ...] = ()
    referred: tuple[str, ...] = ()
    databases: tuple[str, ...] = ()
    extended: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """What is there, the roles' passwords not judged yet; ``verifiers`` are those by role."""

    catalog: Catalog
    verifiers: Mapping[str, Password] = field(default_factory=dict)


class Catalogs(Protocol):
    async def read(self, server: Server, question: Question) -> Found:
        """What is there of what is asked for: one connection and one statement, and another of each
        for every database in ``extended``."""
        ...

    async def create_role(
        self, server: Server, role: DesiredRole, password: Password | None
    ) -> None:
        """Make the role whole, password and memberships with it, or not at all."""
        ...

    async def alter_role(
        self,
        server: Server,
        role: DesiredRole,
        fields: tuple[str, ...],
        password: Password | None,
    ) -> None:
        """Set these fields of a role that is there, all or none. ``superuser`` and ``replication``
        among them are taken away, and by ``no_password`` the password is."""
        ...

    async def create_database(self, server: Server, database: DesiredDatabase) -> None:
        """Make a database that takes no connection until the public may not connect."""
        ...

    async def alter_database(
        self, server: Server, database: DesiredDatabase, fields: tuple[str, ...]
    ) -> None:
        """Set these fields of a database that is there, all or none. ``public`` among them is taken
        away, ``connect`` is granted to those who lack it."""
        ...

    async def create_extension(self, server: Server, database: str, extension: str) -> None: ...
