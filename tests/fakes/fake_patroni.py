"""The ``Patroni`` port on the modelled members: who can't be reached is Unknown, with a reason."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio

from queenright.core.observed import Known, LeaderChange, MemberStatus, RaftStatus, Unknown
from queenright.ports.errors import ConflictError, RejectedError, UnavailableError
from queenright.ports.patroni import Password
from tests.fakes.fake_swarm import nothing
from tests.fakes.patroni_model import Instance, PatroniModel, merged

ANSWER_S = 0.003
SWITCHES_S = 1.1
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
    changes: list[LeaderChange] = field(default_factory=list)
    """What ``/history`` answers."""

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

    async def history(self, address: str, port: int) -> Known[Sequence[LeaderChange]] | Unknown:
        reading = await self._ask(address, port)
        return reading if isinstance(reading, Unknown) else Known(tuple(self.changes))

    async def raft(self, address: str, port: int) -> Known[RaftStatus] | Unknown:
        reading = await self._ask(address, port)
        if isinstance(reading, Unknown):
            return reading
        instance = self.model.at_address(address)
        if instance is None:
            return Unknown("gone")
        peers = [i for i in self.model.of_cluster(instance.cluster) if i is not instance]
        near = frozenset(f"{i.address}:{port}" for i in self.model.connected(peers))
        return Known(
            RaftStatus(
                has_quorum=self.model.has_quorum(instance.cluster),
                term=self.model.consensus(instance.cluster).term,
                reachable=near,
                unreachable=frozenset(f"{i.address}:{port}" for i in peers) - near,
            )
        )

    async def _instance(self, address: str, port: int) -> Instance:
        """The member that hears a request to change something."""
        reading = await self._ask(address, port)
        instance = self.model.at_address(address)
        if isinstance(reading, Unknown) or instance is None:
            raise UnavailableError(f"http://{address}:{port} does not answer")
        return instance

    async def patch_settings(
        self,
        address: str,
        port: int,
        patch: Mapping[str, Any],
        expected: Mapping[str, Any],
        password: Password | None,
    ) -> None:
        await self.boundary(f"patch of {sorted(patch)}")
        instance = await self._instance(address, port)
        agreed = self.model.consensus(instance.cluster)
        if not self.model.has_quorum(instance.cluster):
            raise UnavailableError("timed out")
        found = self.model.settings(instance)
        if not agrees(found, expected):
            raise ConflictError("the settings have been changed meanwhile")
        agreed.settings = merged(found, patch)
        await self.boundary(f"patch of {sorted(patch)} was done")

    async def switch_over(
        self, address: str, port: int, leader: str, candidate: str, password: Password | None
    ) -> None:
        await self.boundary(f"switchover to {candidate}")
        instance = await self._instance(address, port)
        present = self.model.leader(instance.cluster)
        able = [i.name for i in self.model.of_cluster(instance.cluster) if i.is_streaming]
        if present is None or present.name != leader or candidate not in able:
            raise RejectedError("412: switchover is not possible")
        await anyio.sleep(SWITCHES_S)
        self.model.switch_over(instance.cluster, candidate)
        await self.boundary(f"switchover to {candidate} was done")

    async def fail_over(
        self, address: str, port: int, candidate: str, password: Password | None
    ) -> None:
        await self.boundary(f"failover to {candidate}")
        instance = await self._instance(address, port)
        if candidate not in [i.name for i in self.model.of_cluster(instance.cluster)]:
            raise RejectedError("412: failover is not possible")
        await anyio.sleep(SWITCHES_S)
        self.model.switch_over(instance.cluster, candidate)
        await self.boundary(f"failover to {candidate} was done")

    async def restart(self, address: str, port: int, password: Password | None) -> None:
        await self.boundary(f"restart of {address}")
        await self._instance(address, port)
        await anyio.sleep(SWITCHES_S)
        await self.boundary(f"restart of {address} was done")

    async def aclose(self) -> None:
        pass


def agrees(settings: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    """Whether the settings have the expected values under the expected keys; None is absent."""
    for key, value in expected.items():
        found = settings.get(key)
        if isinstance(value, Mapping) and isinstance(found, Mapping):
            if not agrees(found, value):
                return False
        elif found != value:
            return False
    return True
