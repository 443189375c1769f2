"""Ports that answer from memory, for many clusters: what is measured is the operator alone."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel

from queenright.adapters.audit.log import AuditLog
from queenright.adapters.docker.swarm import DockerSwarm
from queenright.adapters.system_clock import SystemClock
from queenright.core.audit.chain import Record
from queenright.core.observed import (
    Archiving,
    ImageFound,
    ImageMissing,
    Known,
    MemberStatus,
    RaftStatus,
    SwarmState,
    TimelineEnd,
    Unknown,
)
from queenright.core.observed.readiness import Readiness, ReadinessTarget
from queenright.core.swarm.objects import Service
from queenright.ports import Ports
from queenright.ports.audit import Audit
from queenright.ports.databases import Found, Question, Server
from queenright.ports.errors import ConflictError
from queenright.ports.secrets import Password
from tests.fakes.fake_database import NoDatabase
from tests.fakes.files import FakeLastGood, FakeManifests
from tests.support.app_builders import APP_DIGESTS
from tests.support.builders import DIGESTS, NOW
from tests.support.many_clusters import Deployed

SILENT = Unknown("nobody is there")


@dataclass
class StillSwarm:
    """A swarm in which nothing happens by itself; of the writes it knows a service's update."""

    found: Deployed
    api_calls: int = 0
    writes: list[str] = field(default_factory=list)

    async def observe(self, owners: AbstractSet[str] | None = None) -> SwarmState:
        self.api_calls += 7
        await anyio.lowlevel.checkpoint()
        return self.found.swarm

    async def resolve_image(self, reference: str) -> ImageFound | ImageMissing:
        return ImageFound({**DIGESTS, **APP_DIGESTS}[reference])

    async def update_service(
        self, service_id: str, version: int, service: Service, force_update: int
    ) -> None:
        for index, live in enumerate(self.found.services):
            if live.id == service_id:
                if live.version != version:
                    raise ConflictError("update out of sequence")
                self.found.version += 1
                self.found.services[index] = dataclasses.replace(
                    live, version=self.found.version, value=service, force_update=force_update
                )
                self.writes.append(service.name)

    async def events(self) -> AsyncGenerator[str, None]:
        await anyio.sleep_forever()
        yield ""


@dataclass
class StillPatroni:
    """Members that always say the same; one that is not in ``found`` says nothing."""

    found: Deployed
    asked: int = 0
    silent_s: dict[str, float] = field(default_factory=dict)
    """When a silent member was last asked for its status, by a clock that never jumps."""

    async def status(self, address: str, port: int) -> Known[MemberStatus] | Unknown:
        self.asked += 1
        await anyio.lowlevel.checkpoint()
        known = self.found.members.get(address)
        if known is None:
            self.silent_s[address] = time.monotonic()
            return SILENT
        return Known(known)

    async def leading(self, members: Sequence[tuple[str, int]]) -> frozenset[tuple[str, int]]:
        await anyio.lowlevel.checkpoint()
        found = self.found.members
        return frozenset(
            place for place in members if place[0] in found and found[place[0]].holds_lock
        )

    async def raft(self, address: str, port: int) -> Known[RaftStatus] | Unknown:
        self.asked += 1
        await anyio.lowlevel.checkpoint()
        known = self.found.raft.get(address)
        return Known(known) if known is not None else SILENT

    async def settings(self, address: str, port: int) -> Known[Mapping[str, Any]] | Unknown:
        self.asked += 1
        await anyio.lowlevel.checkpoint()
        known = self.found.settings.get(address)
        return Known(known) if known is not None else SILENT

    async def history(self, address: str, port: int) -> Known[Sequence[TimelineEnd]] | Unknown:
        return Known(())

    async def leader_location(self, address: str, port: int) -> Known[int] | Unknown:
        return Known(0)


@dataclass
class StillSecrets:
    async def read(self, name: str, secret_id: str = "") -> Password:
        return Password(name)

    async def read_once(self, name: str) -> Password:
        return Password(name)

    async def matches(self, name: str, secret_id: str, verifier: Password) -> bool:
        return True


@dataclass
class StillCatalogs:
    found: Deployed

    async def read(self, server: Server, question: Question) -> Found:
        await anyio.lowlevel.checkpoint()
        catalog = self.found.catalogs[server.host]
        verifiers = {role.name: Password("a verifier") for role in catalog.roles}
        return Found(catalog, verifiers)


class StillArchiving:
    """Clusters that archive nothing: nobody asks."""

    async def read(self, server: Server) -> Archiving:
        raise AssertionError(f"archiving of {server.host}")


@dataclass
class StillReadiness:
    async def ask(
        self, targets: Sequence[ReadinessTarget]
    ) -> Mapping[str, Known[Readiness] | Unknown]:
        await anyio.lowlevel.checkpoint()
        return {target.task_id: Known(Readiness(200)) for target in targets}

    async def keep(self, targets: Sequence[ReadinessTarget]) -> None:
        pass


@dataclass
class StillClock:
    """Begins an hour after everything was deployed, and goes on from one pass to the next."""

    at_s: float = 0.0

    def now(self) -> datetime:
        return NOW + timedelta(seconds=self.at_s)

    def monotonic_s(self) -> float:
        return self.at_s


class StillVotes:
    """Raft nodes of clusters whose members stay: nobody asks them for a change."""

    async def voters(self, address: str, port: int) -> Unknown:
        return Unknown(f"raft at {address}:{port}: nobody answers")

    async def remove(self, address: str, port: int, voter: str) -> None:
        raise AssertionError(f"remove {voter} at raft {address}:{port}")

    async def transfer(self, address: str, port: int, voter: str) -> None:
        raise AssertionError(f"transfer to {voter} at raft {address}:{port}")


class CountedTrail(AuditLog):
    """The real trail, with its file in a directory; counts the intents."""

    def __init__(self, directory: Path) -> None:
        self.intents = 0
        super().__init__(directory, SystemClock(), self._count)

    def _count(self, record: Record) -> None:
        self.intents += record["phase"] == "intent"


def still_ports(texts: Mapping[str, str], audit: Audit) -> Ports:
    """The ports of an operator of all of these clusters."""
    found = Deployed()
    ports: dict[str, Any] = {
        "swarm": StillSwarm(found),
        "raft": StillVotes(),
        "patroni": StillPatroni(found),
        "patroni_watch": StillPatroni(found),
        "secrets": StillSecrets(),
        "database": NoDatabase(),
        "catalogs": StillCatalogs(found),
        "archiving": StillArchiving(),
        "readiness": StillReadiness(),
        "manifests": FakeManifests(dict(texts)),
        "last_good": FakeLastGood(),
        "audit": audit,
        "clock": StillClock(),
    }
    return Ports(**ports)


def with_docker(ports: Ports, host: str, answers: Deployed) -> Ports:
    """The ports with the real adapter of the engine at this address (DOCKER_HOST)."""
    fill(ports, answers)
    return dataclasses.replace(ports, swarm=DockerSwarm({"DOCKER_HOST": host}, 30))


def fill(ports: Ports, found: Deployed) -> None:
    """Let everything that the ports answer come from here."""
    for port in (ports.swarm, ports.patroni, ports.patroni_watch, ports.catalogs):
        assert isinstance(port, StillSwarm | StillPatroni | StillCatalogs)
        port.found = found
