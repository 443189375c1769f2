"""The ``LeaseStore`` port on the fake store: latency, faults, and managers that can't be reached.

One for each operator: each has its own way to the managers.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from queenright.core.planning.lease import (
    LEASE_CONFIG,
    LEASE_TEXT,
    Lease,
    StoredLease,
    labels_of,
    lease_of,
)
from queenright.core.swarm.objects import Config
from queenright.ports.swarm import UnavailableError
from tests.fakes.swarm_store import SwarmStore

CALL_S = 0.002


async def nothing() -> None:
    """No boundary."""


@dataclass
class FakeLease:
    """Typed by ``ports.lease.LeaseStore``. Each call passes two boundaries, before and after its
    effect; ``slowest_s`` is the longest that a call takes on its way, each way."""

    store: SwarmStore
    rng: random.Random = field(default_factory=lambda: random.Random(0))
    name: str = LEASE_CONFIG
    slowest_s: float = CALL_S
    answer_lost: float = 0.0
    is_cut_off: bool = False
    leads: bool = False
    """This operator's manager leads Raft."""
    boundary: Callable[[], Awaitable[None]] = nothing

    async def read(self) -> StoredLease | None:
        await self._travel()
        live = self.store.configs.get(self.name)
        await self._travel()
        if live is None:
            return None
        return StoredLease(live.id, live.version, lease_of(live.value.labels))

    async def create(self, lease: Lease) -> None:
        await self._travel()
        self.store.create_config(self._config(lease))
        await self._answer()

    async def replace(self, stored: StoredLease, lease: Lease) -> None:
        await self._travel()
        self.store.label_config(stored.config_id, stored.version, self._config(lease))
        await self._answer()

    async def leads_raft(self) -> bool:
        await self._travel()
        return self.leads

    def _config(self, lease: Lease) -> Config:
        return Config(self.name, LEASE_TEXT, labels_of(lease))

    async def _travel(self) -> None:
        await self.boundary()
        await asyncio.sleep(self.rng.uniform(0, self.slowest_s))
        if self.is_cut_off:
            raise UnavailableError("Docker's engine does not answer: timed out")
        await self.boundary()

    async def _answer(self) -> None:
        await self._travel()
        if self.rng.random() < self.answer_lost:
            raise UnavailableError("Docker's engine does not answer: read timed out")
