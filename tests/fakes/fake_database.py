"""The ``Database`` port where there is none to connect to: the canary is measured on real ones."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from queenright.ports.database import Connection, Endpoint
from queenright.ports.errors import UnavailableError
from queenright.ports.secrets import Password


class NoDatabase:
    """Typed by ``ports.database.Database``; nothing answers."""

    @asynccontextmanager
    async def connect(
        self, endpoint: Endpoint, password: Password
    ) -> AsyncGenerator[Connection, None]:
        raise UnavailableError(f"{endpoint.host}:{endpoint.port} does not answer")
        yield  # type: ignore[unreachable]  # makes it a generator
