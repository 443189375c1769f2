"""What the operator can do over SQL, as values: roles and databases, on the leader.

Invariant: a role's password is named by the secret that has it, and there is no action that drops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from queenright.core.catalog import DesiredDatabase, DesiredRole
from queenright.core.deeds import Deed


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlDeed(Deed):
    """What deeds over SQL share: the leader's PostgreSQL, and the swarm secret with the superuser's
    password."""

    cluster: str
    host: str
    port: int
    secret: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateRole(SqlDeed):
    """Make a role, with the password in its secret."""

    role: DesiredRole

    @property
    def key(self) -> str:
        return f"create-role/{self.cluster}/{self.role.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterRole(SqlDeed):
    """Set some ``fields`` of a role; ``password`` among them is read from the role's secret, and
    ``no_password`` takes the password away."""

    role: DesiredRole
    fields: tuple[str, ...]

    @property
    def key(self) -> str:
        return f"alter-role/{self.cluster}/{self.role.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateDatabase(SqlDeed):
    """Make a database, closed to the public."""

    database: DesiredDatabase

    @property
    def key(self) -> str:
        return f"create-database/{self.cluster}/{self.database.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterDatabase(SqlDeed):
    """Set some ``fields`` of a database; ``public`` takes everybody's access away."""

    database: DesiredDatabase
    fields: tuple[str, ...]

    @property
    def key(self) -> str:
        return f"alter-database/{self.cluster}/{self.database.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateExtension(SqlDeed):
    database: str
    extension: str

    @property
    def key(self) -> str:
        return f"create-extension/{self.cluster}/{self.database}/{self.extension}"


SqlAction: TypeAlias = CreateRole | AlterRole | CreateDatabase | AlterDatabase | CreateExtension
