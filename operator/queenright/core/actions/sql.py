"""Actions over SQL on the leader, as values: create and alter roles and databases.

Invariant: an action names the secret with a role's password, not the password; no action drops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from queenright.core.actions.action import Action
from queenright.core.postgres.catalog import DesiredDatabase, DesiredRole


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlAction(Action):
    """An action over SQL: the leader's PostgreSQL, and the swarm secret with the superuser's
    password."""

    cluster: str
    host: str
    port: int
    secret: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateRole(SqlAction):
    """Create a role, with the password in its secret."""

    role: DesiredRole

    @property
    def key(self) -> str:
        return f"create-role/{self.cluster}/{self.role.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterRole(SqlAction):
    """Set some ``fields`` of a role; ``password`` among them is read from the role's secret, and
    ``no_password`` removes the password."""

    role: DesiredRole
    fields: tuple[str, ...]

    @property
    def key(self) -> str:
        return f"alter-role/{self.cluster}/{self.role.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateDatabase(SqlAction):
    """Create a database that the public may not connect to."""

    database: DesiredDatabase

    @property
    def key(self) -> str:
        return f"create-database/{self.cluster}/{self.database.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterDatabase(SqlAction):
    """Set some ``fields`` of a database; ``public`` revokes the public's privileges."""

    database: DesiredDatabase
    fields: tuple[str, ...]

    @property
    def key(self) -> str:
        return f"alter-database/{self.cluster}/{self.database.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateExtension(SqlAction):
    database: str
    extension: str

    @property
    def key(self) -> str:
        return f"create-extension/{self.cluster}/{self.database}/{self.extension}"


AnySqlAction: TypeAlias = CreateRole | AlterRole | CreateDatabase | AlterDatabase | CreateExtension
