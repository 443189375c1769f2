"""The port for connections to PostgreSQL that run one statement at a time.

Opening and running raise ``ports.errors``: RejectedError for a permanent refusal by the server (a
wrong password, an unknown database, a wrong statement), UnavailableError for the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from queenright.ports.secrets import Password

Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Address and user of a connection. ``timeout_s`` limits the connecting, and each statement."""

    host: str
    port: int
    database: str
    user: str
    timeout_s: float = 3.0


class Connection(Protocol):
    """One connection; every statement is a transaction of its own."""

    async def run(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        """Return the rows of a statement with ``%s`` for its values; none if it returns none."""
        ...

    async def set_password(self, role: str, password: Password) -> None:
        """Set a role's password: only its SCRAM verifier, computed on this side, is sent."""
        ...


class Database(Protocol):
    """Opens connections."""

    def connect(
        self, endpoint: Endpoint, password: Password
    ) -> AbstractAsyncContextManager[Connection]: ...
