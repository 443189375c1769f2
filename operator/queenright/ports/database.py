"""PostgreSQL, as the engine needs it: connections that run one statement at a time.

Opening and running raise ``ports.errors``: RejectedError for what the server refuses for good
(a wrong password, an unknown database, a statement that is wrong), UnavailableError for the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from queenright.ports.patroni import Password

Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to connect, and as whom. ``timeout_s`` bounds the connecting, and each statement."""

    host: str
    port: int
    database: str
    user: str
    timeout_s: float = 3.0


class Connection(Protocol):
    """One connection; every statement is a transaction of its own."""

    async def run(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        """The rows of a statement with ``%s`` for its values; none where it returns none."""
        ...

    async def set_password(self, role: str, password: Password) -> None:
        """Give a role a password: only its SCRAM verifier, made on this side, is sent."""
        ...


class Database(Protocol):
    """Opens connections."""

    def connect(
        self, endpoint: Endpoint, password: Password
    ) -> AbstractAsyncContextManager[Connection]: ...
