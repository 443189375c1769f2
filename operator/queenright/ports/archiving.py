"""The port for the archiving of a leader's WAL: read its status.

Calls raise ``ports.errors``: RejectedError or UnavailableError, the latter also for a server that
is not a primary.
"""

from __future__ import annotations

from typing import Protocol

from queenright.core.observed.archiving import Archiving
from queenright.ports.databases import Server


class ArchiveStatus(Protocol):
    async def read(self, server: Server) -> Archiving:
        """Return the server's status: one connection and one statement."""
        ...
