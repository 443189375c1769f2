"""The ``Catalogs`` port on modelled servers: roles and databases without PostgreSQL.

An action takes effect in the model even if its caller is killed before the answer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import anyio

from queenright.core.postgres.catalog import Catalog, Database, DesiredDatabase, DesiredRole, Role
from queenright.core.postgres.scram import verifier_of
from queenright.ports.databases import Found, Question, Server
from queenright.ports.errors import ConflictError, RejectedError, UnavailableError
from queenright.ports.secrets import Password
from tests.fakes.fake_swarm import nothing
from tests.fakes.instances import RUNNING, Instance
from tests.fakes.patroni_model import PatroniModel

ANSWER_S = 0.01
TIMEOUT_S = 3.0
EVERYBODYS = ("CONNECT", "TEMPORARY")
"""PostgreSQL's grants to the public on a new database."""
PREDEFINED = frozenset({"pg_monitor", "pg_read_all_data", "pg_write_all_data"})


@dataclass
class FakeServer:
    """One cluster's roles and databases."""

    roles: dict[str, Role] = field(default_factory=dict)
    databases: dict[str, Database] = field(default_factory=dict)
    verifiers: dict[str, str] = field(default_factory=dict)
    available: frozenset[str] = frozenset({"plpgsql", "vector"})
    unsafe: frozenset[str] = frozenset()
    """Those extensions that can be created in a new database only."""
    changes: list[str] = field(default_factory=list)
    """Every statement that changed something."""
    sessions: Callable[[str], int] = lambda _: 0
    """The number of a role's sessions (``pg_stat_activity``)."""

    def has_role(self, name: str) -> bool:
        return name in self.roles or name in PREDEFINED or name == "postgres"

    def read(self, question: Question) -> Found:
        roles = [
            dataclasses.replace(self.roles[name], sessions=self.sessions(name))
            for name in sorted({*question.roles} & self.roles.keys())
        ]
        names = sorted({*question.databases} & self.databases.keys())
        databases = [
            dataclasses.replace(
                self.databases[name],
                extensions=self.databases[name].extensions if name in question.extended else None,
            )
            for name in names
        ]
        verifiers = {
            role.name: Password(self.verifiers[role.name])
            for role in roles
            if role.name in self.verifiers
        }
        others = frozenset(name for name in question.referred if self.has_role(name))
        available = self.available if question.extended else frozenset()
        catalog = Catalog(
            tuple(roles), tuple(databases), others, available, self.unsafe & available
        )
        return Found(catalog, verifiers)

    def create_role(self, role: DesiredRole, password: Password | None) -> None:
        if self.has_role(role.name):
            raise ConflictError(f'role "{role.name}" already exists')
        self._known(role.member_of or ())
        self.roles[role.name] = Role(role.name)
        fields = ("login", "inherit", "create_db", "create_role", "bypass_rls")
        self._set_role(role, (*fields, "connection_limit", "valid_until", "member_of", "password"))
        self._set_password(role.name, password)
        self.changes.append(f"create role {role.name}")

    def alter_role(
        self, role: DesiredRole, fields: tuple[str, ...], password: Password | None
    ) -> None:
        if role.name not in self.roles:
            raise ConflictError(f'role "{role.name}" does not exist')
        self._known(role.member_of or ())
        self._set_role(role, fields)
        if "password" in fields:
            self._set_password(role.name, password)
        if "no_password" in fields:
            self.verifiers.pop(role.name, None)
            self.roles[role.name] = dataclasses.replace(self.roles[role.name], has_password=False)
        self.changes.append(f"alter role {role.name}: {', '.join(fields)}")

    def _set_role(self, role: DesiredRole, fields: Iterable[str]) -> None:
        values: dict[str, Any] = {
            f: getattr(role, f, False)
            for f in fields
            if f not in {"password", "no_password", "member_of"}
        }
        if role.member_of is not None and "member_of" in fields:
            values["member_of"] = tuple(sorted(role.member_of))
        self.roles[role.name] = dataclasses.replace(self.roles[role.name], **values)

    def _set_password(self, name: str, password: Password | None) -> None:
        if password is not None:
            salt = f"{len(self.changes)} {name}".encode()
            self.verifiers[name] = verifier_of(password.value, salt, iterations=1)
            self.roles[name] = dataclasses.replace(self.roles[name], has_password=True)

    def _known(self, names: Iterable[str]) -> None:
        for name in names:
            if not self.has_role(name):
                raise ConflictError(f'role "{name}" does not exist')

    def create_database(self, database: DesiredDatabase) -> None:
        if database.name in self.databases:
            raise ConflictError(f'database "{database.name}" already exists')
        self._known((database.owner, *database.connect))
        self.databases[database.name] = Database(
            database.name,
            database.owner,
            database.connection_limit,
            connect=tuple(sorted({database.owner, *database.connect})),
            extensions=tuple(sorted({"plpgsql", *database.extensions} & self.available)),
        )
        self.changes.append(f"create database {database.name}")

    def alter_database(self, database: DesiredDatabase, fields: tuple[str, ...]) -> None:
        live = self.databases.get(database.name)
        if live is None:
            raise ConflictError(f'database "{database.name}" does not exist')
        self._known((database.owner, *database.connect))
        if "owner" in fields:
            kept = {*live.connect} - {live.owner} | {database.owner}
            live = dataclasses.replace(live, owner=database.owner, connect=tuple(sorted(kept)))
        if "public" in fields:
            live = dataclasses.replace(live, public=())
        if "connect" in fields:
            connect = tuple(sorted({*live.connect, *database.connect}))
            live = dataclasses.replace(live, connect=connect)
        if "connection_limit" in fields:
            live = dataclasses.replace(live, connection_limit=database.connection_limit)
        self.databases[database.name] = live
        self.changes.append(f"alter database {database.name}: {', '.join(fields)}")

    def create_extension(self, database: str, extension: str) -> None:
        live = self.databases.get(database)
        if live is None:
            raise ConflictError(f'database "{database}" does not exist')
        if extension not in self.available:
            raise RejectedError(f"the server does not offer the extension {extension}")
        if extension in self.unsafe:
            raise RejectedError(f"the script of the extension {extension} would run as superuser")
        found = tuple(sorted({*(live.extensions or ()), extension}))
        self.databases[database] = dataclasses.replace(live, extensions=found)
        self.changes.append(f"create extension {extension} in {database}")


Find = Callable[[Server], Awaitable[FakeServer]]
"""The server that hears a call; raises the port's errors where none does."""


@dataclass
class FakeCatalogs:
    """Typed by ``ports.catalogs.Catalogs``."""

    find: Find
    boundary: Callable[[str], Awaitable[None]] = nothing
    before_alter: list[Callable[[str, tuple[str, ...]], None]] = field(default_factory=list)
    """Called before each change of a role, with the changed fields."""

    async def read(self, server: Server, question: Question) -> Found:
        await self.boundary("read the catalog")
        return (await self.find(server)).read(question)

    async def create_role(
        self, server: Server, role: DesiredRole, password: Password | None
    ) -> None:
        await self.boundary(f"create role {role.name}")
        (await self.find(server)).create_role(role, password)

    async def alter_role(
        self,
        server: Server,
        role: DesiredRole,
        fields: tuple[str, ...],
        password: Password | None,
    ) -> None:
        await self.boundary(f"alter role {role.name}")
        found = await self.find(server)
        for listener in self.before_alter:
            listener(role.name, fields)
        found.alter_role(role, fields, password)

    async def create_database(self, server: Server, database: DesiredDatabase) -> None:
        await self.boundary(f"create database {database.name}")
        (await self.find(server)).create_database(database)

    async def alter_database(
        self, server: Server, database: DesiredDatabase, fields: tuple[str, ...]
    ) -> None:
        await self.boundary(f"alter database {database.name}")
        (await self.find(server)).alter_database(database, fields)

    async def create_extension(self, server: Server, database: str, extension: str) -> None:
        await self.boundary(f"create extension {extension}")
        (await self.find(server)).create_extension(database, extension)


@dataclass
class ModelledServers:
    """The servers of the modelled members: each cluster has one catalog, and its primary serves
    it."""

    model: PatroniModel
    catalogs: dict[str, FakeServer] = field(default_factory=dict)

    def of(self, cluster: str) -> FakeServer:
        return self.catalogs.setdefault(cluster, FakeServer())

    async def find(self, server: Server) -> FakeServer:
        return self.of((await self.primary(server)).cluster)

    async def primary(self, server: Server) -> Instance:
        """Return the member at the address, if it is a primary that takes the password."""
        store, reach = self.model.orchestrator.store, self.model.orchestrator.reach
        node = store.node_at(server.host)
        where = f"{server.host}:{server.port}"
        if node is None or not reach.hears(node.id):
            await anyio.sleep(TIMEOUT_S)
            raise UnavailableError(f"{where} does not answer in {TIMEOUT_S:g} s")
        await anyio.sleep(ANSWER_S)
        instance = self.model.at_address(server.host)
        if (
            instance is None
            or instance.state != RUNNING
            or instance.listening.postgresql != server.port
        ):
            raise UnavailableError(f"{where}: connection refused")
        if server.superuser.value != instance.listening.superuser_password:
            raise RejectedError('password authentication failed for user "postgres"')
        if not instance.is_primary:
            raise UnavailableError(f"{where} is not a primary now")
        return instance
