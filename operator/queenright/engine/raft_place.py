"""Know whether this operator's node leads the managers' Raft, and for how long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import anyio

from queenright.core.planning.lease import PLACE_LOOK_S
from queenright.ports.errors import PortError
from queenright.ports.lease import LeaseStore


@dataclass
class RaftPlace:
    """``now_s`` is the clock of the lease. A node that can't say it leads does not lead."""

    store: LeaseStore
    now_s: Callable[[], float]
    _since_s: float | None = None

    @property
    def leads_s(self) -> float | None:
        """Return the seconds since the first of the looks that all found it leading; None where the
        last one did not."""
        return None if self._since_s is None else self.now_s() - self._since_s

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            await self.look()
            await anyio.sleep(PLACE_LOOK_S)

    async def look(self) -> None:
        try:
            leads = await self.store.leads_raft()
        except PortError:
            leads = False
        if not leads:
            self._since_s = None
        elif self._since_s is None:
            self._since_s = self.now_s()
