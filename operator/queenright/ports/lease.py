"""The port for the lease: one small object in the swarm that only one of several writers changes.

Every call raises ``PortError`` if there is no answer; it is then unknown if a write took effect.
"""

from __future__ import annotations

from typing import Protocol

from queenright.core.planning.lease import Lease, StoredLease


class LeaseStore(Protocol):
    """The lease, as the managers have agreed on it."""

    async def read(self) -> StoredLease | None:
        """Return the lease, None if there is none. It may be an older one than the last."""
        ...

    async def create(self, lease: Lease) -> None:
        """Make the first lease. ConflictError if there is one by now."""
        ...

    async def replace(self, stored: StoredLease, lease: Lease) -> None:
        """Write the lease over ``stored``. ConflictError if that is not the newest version."""
        ...

    async def leads_raft(self) -> bool:
        """Return True if the engine that is asked leads the managers' Raft. The call delays no
        other one."""
        ...


def allowed() -> bool:
    """Return True: for commands and tests, which act without a lease."""
    return True


def forbidden() -> bool:
    """Return False: for commands that only read."""
    return False
