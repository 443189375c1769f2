"""The port for a cluster's roles and databases: read, create, alter.

All calls go to the one server that is named, as the superuser, and only if that server says on the
same connection that it is a primary. Calls raise ``ports.errors``: ConflictError if the object
exists already or is gone; RejectedError for a permanent refusal by the server.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from queenright.core.postgres.catalog import Catalog, DesiredDatabase, DesiredRole
from queenright.ports.secrets import Password


@dataclass(frozen=True, slots=True)
class Server:
    """The leader's PostgreSQL, and the superuser's password."""

    host: str
    port: int
    superuser: Password


@dataclass(frozen=True, slots=True)
class Question:
    """Names to look for. ``referred`` are roles of which only the existence matters, ``extended``
    the databases whose extensions matter."""

    roles: tuple[str, ...] = ()
    referred: tuple[str, ...] = ()
    databases: tuple[str, ...] = ()
    extended: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """The roles and databases found, passwords not compared yet; ``verifiers`` are those by
    role."""

    catalog: Catalog
    verifiers: Mapping[str, Password] = field(default_factory=dict)


class Catalogs(Protocol):
    async def read(self, server: Server, question: Question) -> Found:
        """Return what exists of the question: one connection and one statement, and another of each
        for every database in ``extended``."""
        ...

    async def create_role(
        self, server: Server, role: DesiredRole, password: Password | None
    ) -> None:
        """Create the whole role, password and memberships with it, or nothing."""
        ...

    async def alter_role(
        self,
        server: Server,
        role: DesiredRole,
        fields: tuple[str, ...],
        password: Password | None,
    ) -> None:
        """Set these fields of an existing role, all or none. ``superuser`` and ``replication``
        among them are revoked, and ``no_password`` removes the password."""
        ...

    async def create_database(self, server: Server, database: DesiredDatabase) -> None:
        """Create a database that accepts no connection before the public may not connect.

        Those of its extensions that the server has are created before its owner gets it."""
        ...

    async def alter_database(
        self, server: Server, database: DesiredDatabase, fields: tuple[str, ...]
    ) -> None:
        """Set these fields of an existing database, all or none. ``public`` among them is revoked,
        ``connect`` is granted to roles without it."""
        ...

    async def create_extension(self, server: Server, database: str, extension: str) -> None:
        """Create an extension in a database that is in use.

        Raises RejectedError if its script, which runs as the superuser, could reach the owner's
        objects."""
        ...
