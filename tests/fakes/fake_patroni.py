"""The ``Patroni`` port on the modelled members: who can't be reached is Unknown, with a reason."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio

from queenright.core.observed import Known, MemberStatus, Unknown
from tests.fakes.fake_swarm import nothing
from tests.fakes.patroni_model import PatroniModel

ANSWER_S = 0.003
TIMEOUT_S = 2.0


@dataclass
class FakePatroni:
    """Typed by ``ports.patroni.Patroni``; ``deaf`` is the chance that one question is lost."""

    model: PatroniModel
    rng: random.Random
    deaf: float = 0.0
    boundary: Callable[[str], Awaitable[None]] = nothing
    answered_s: dict[str, float] = field(default_factory=dict)
    silent_s: dict[str, float] = field(default_factory=dict)
    """When each address last answered, and when it last was asked in vain."""

    async def status(self, address: str, port: int) -> Known[MemberStatus] | Unknown:
        await self.boundary(f"status of {address}")
        reading = await self._ask(address, port)
        noted = self.answered_s if isinstance(reading, Known) else self.silent_s
        noted[address] = anyio.current_time()
        return reading

    async def _ask(self, address: str, port: int) -> Known[MemberStatus] | Unknown:
        store = self.model.orchestrator.store
        node = next((n for n in store.nodes.values() if n.address == address), None)
        lost = self.deaf and self.rng.random() < self.deaf
        if lost or node is None or not self.model.orchestrator.hears(node.id):
            await anyio.sleep(TIMEOUT_S)
            return Unknown(f"http://{address}:{port} does not answer: timed out")
        await anyio.sleep(ANSWER_S)
        instance = self.model.at_address(address)
        if instance is None or not self.model.is_up(instance):
            return Unknown(f"http://{address}:{port} does not answer: connection refused")
        return Known(self.model.status(instance))

    async def settings(self, address: str, port: int) -> Known[Mapping[str, Any]] | Unknown:
        await self.boundary(f"settings of {address}")
        reading = await self._ask(address, port)
        if isinstance(reading, Unknown):
            return reading
        instance = self.model.at_address(address)
        found = self.model.settings(instance) if instance else {}
        return Known(found) if found else Unknown("no settings yet")

    async def aclose(self) -> None:
        pass
