"""The ``Swarm`` port on the fake store: latency, faults on order, and what it was asked to do.

Every call passes two boundaries, before and after its effect, at which an operator can be killed.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import TypeVar

import anyio

from queenright.core.actions import LabelNode
from queenright.core.observed import Engine, ImageFound, ImageMissing, LiveService, SwarmState
from queenright.core.planning.lease import LEASE_CONFIG
from queenright.core.swarm.objects import Config, Network, Secret, Service
from queenright.ports.secrets import Password
from queenright.ports.swarm import ConflictError, RejectedError, UnavailableError
from tests.fakes.part_readings import PartReadings, Write
from tests.fakes.swarm_store import SwarmStore

T = TypeVar("T")

READS = ("info", "nodes", "services", "tasks", "networks", "secrets", "configs")
CALL_S = 0.002


@dataclass
class Faults:
    """Chances by call, 0 to 1. A call may fail before its effect, after it (the answer is lost),
    by a version conflict, or take long; an event may be lost or come twice."""

    unavailable: float = 0.0
    answer_lost: float = 0.0
    conflict: float = 0.0
    slow: float = 0.0
    slow_s: float = 3.0
    torn_reads: bool = False
    event_lost: float = 0.0
    event_twice: float = 0.0
    stream_ends: float = 0.0


@dataclass
class Stream:
    """One listener's events that it has not heard yet."""

    wake: anyio.Event = field(default_factory=anyio.Event)
    news: list[str] = field(default_factory=list)


async def nothing(_: str) -> None:
    """No boundary."""


@dataclass
class FakeSwarm:
    """Typed by ``ports.swarm.Swarm``."""

    store: SwarmStore
    rng: random.Random
    faults: Faults = field(default_factory=Faults)
    images: dict[str, str] = field(default_factory=dict)
    """Digest by reference; "" stands for a registry that does not answer."""
    boundary: Callable[[str], Awaitable[None]] = nothing
    before_write: list[Callable[[str, object], Callable[[], None] | None]] = field(
        default_factory=list
    )
    """Called with each write before its effect; a returned function is called after it."""
    api_calls: int = 0
    writes: list[Write] = field(default_factory=list)
    created: Counter[str] = field(default_factory=Counter)
    observed_at_s: float = 0.0
    observations: int = 0
    streams: list[Stream] = field(default_factory=list)
    shown: dict[str, int] = field(default_factory=dict)
    """The version of each object as it was last observed, by id."""
    job_output: Callable[[LiveService], str] = lambda _: ""
    """The lines of a job that says more than a dump; empty for any other."""
    gives_logs: Callable[[str], bool] = lambda _: True
    """False for a node (id) whose tasks' lines the managers don't get."""
    parts: PartReadings = field(default_factory=PartReadings)
    unobserved: list[str] = field(default_factory=list)
    """Writes that carried another version than was observed."""

    def __post_init__(self) -> None:
        self.store.listeners.append(self._spread)

    # Reads

    async def observe(self, owners: AbstractSet[str] | None = None) -> SwarmState:
        self.observations += 1
        self.observed_at_s = asyncio.get_running_loop().time()
        self.api_calls += len(READS)
        told = self.parts.begin()
        try:
            await self._come_and_go("observe")
            state = await self._observe_torn() if self.faults.torn_reads else self.store.state()
        except BaseException:
            self.parts.heard()
            raise
        state = self.parts.read(state, told, owners, listens=bool(self.streams))
        if LEASE_CONFIG in self.store.configs:
            others = (live for live in state.configs if live.value.name != LEASE_CONFIG)
            state = replace(state, configs=tuple(others))
        self.shown = {
            item.id: item.version
            for found in (state.nodes, state.services, state.configs)
            for item in found
        }
        return state

    def _carries(self, object_id: str, version: int, what: str) -> None:
        if self.shown.get(object_id) != version:
            self.unobserved.append(f"{what} carries version {version}, not what was observed")

    async def _observe_torn(self) -> SwarmState:
        """Each list as of another moment, in any order, as concurrent calls see them."""
        kinds = list(READS[1:])
        self.rng.shuffle(kinds)
        found: dict[str, object] = {}
        state = self.store.state()
        if state.engine != Engine(node_id=state.engine.node_id):
            return state
        for kind in kinds:
            now = self.store.state()
            if now.engine != state.engine:  # it answers 503 then, not with empty lists
                raise UnavailableError(f"the engine's swarm is {now.engine.swarm_state} now")
            found[kind] = getattr(now, kind)
            if kind == "nodes":
                found["former_nodes"] = now.former_nodes
            await asyncio.sleep(self.rng.uniform(0, 0.05))
        return replace(state, **found)  # type: ignore[arg-type]

    async def resolve_image(self, reference: str) -> ImageFound | ImageMissing:
        self.api_calls += 1
        await self._come_and_go("resolve-image")
        if reference not in self.images:
            return ImageMissing("manifest unknown")
        if not self.images[reference]:
            raise UnavailableError("the registry does not answer")
        return ImageFound(self.images[reference])

    async def events(self) -> AsyncGenerator[str, None]:
        stream = Stream()
        self.streams.append(stream)
        self.parts.heard()
        try:
            while True:
                await stream.wake.wait()
                stream.wake = anyio.Event()
                while stream.news:
                    self.parts.heard(stream.news[0])
                    yield stream.news.pop(0)
                if self.rng.random() < self.faults.stream_ends:
                    return
        finally:
            self.streams = [other for other in self.streams if other is not stream]
            self.parts.heard()

    def _spread(self, kind: str, name: str, what: str) -> None:
        if name == LEASE_CONFIG or self.rng.random() < self.faults.event_lost:
            return
        times = 2 if self.rng.random() < self.faults.event_twice else 1
        for stream in self.streams:
            stream.news.extend([f"{kind} {name} {what}"] * times)
            stream.wake.set()

    # Writes

    async def label_node(self, action: LabelNode) -> None:
        def effect() -> None:
            self.store.relabel_node(action.node_id, action.before, action.labels)

        await self._write("label-node", action.node, action, effect)

    async def create_network(self, network: Network) -> None:
        await self._create("network", network, self.store.create_network)

    async def remove_network(self, network_id: str) -> None:
        await self._remove("network", network_id, self.store.remove_network)

    async def create_secret(self, secret: Secret, value: Password | None = None) -> None:
        def make(wanted: Secret) -> None:
            self.store.create_secret(wanted, value.value if value is not None else None)

        await self._create("secret", secret, make)

    async def create_config(self, config: Config) -> None:
        await self._create("config", config, self.store.create_config)

    async def label_config(self, config_id: str, version: int, config: Config) -> None:
        self._carries(config_id, version, config.name)
        await self._write(
            "label-config",
            config.name,
            config,
            lambda: self.store.label_config(config_id, version, config),
        )

    async def remove_config(self, config_id: str) -> None:
        await self._remove("config", config_id, self.store.remove_config)

    async def create_service(self, service: Service) -> None:
        await self._create("service", service, self.store.create_service)

    async def update_service(
        self, service_id: str, version: int, service: Service, force_update: int
    ) -> None:
        self._carries(service_id, version, service.name)
        await self._write(
            "update-service",
            service.name,
            (service_id, service, force_update),
            lambda: self.store.update_service(service_id, version, service, force_update),
        )

    async def adjust_service(self, service_id: str, version: int, service: Service) -> None:
        self._carries(service_id, version, service.name)
        await self._write(
            "adjust-service",
            service.name,
            (service_id, service),
            lambda: self.store.adjust_service(service_id, version, service),
        )

    async def remove_service(self, service_id: str) -> None:
        await self._remove("service", service_id, self.store.remove_service)

    async def service_output(self, service_id: str, lines: int, *, timed: bool = False) -> str:
        """A dump that has ended says so, as the real job does."""
        self.api_calls += 1
        await self._come_and_go("service-output")
        live = self.store.services.get(service_id)
        if live is None:
            raise ConflictError(f"service {service_id} not found")
        tasks = [task for task in self.store.tasks.values() if task.service_id == service_id]
        for task in tasks:
            if task.node_id and not self.gives_logs(task.node_id):
                raise UnavailableError(
                    f"service logs: the swarm gets none from node {task.node_id} (it is away, or "
                    "its log stream was lost in an outage); if it is ready, restart Docker's "
                    "engine there"
                )
        if said := self.job_output(live):
            return said
        if not tasks or tasks[-1].state != "complete":
            return "dump failed: pg_dump ended with exit status 1"
        name = live.value.environment.get("DUMP_NAME", "")
        return f"dumped name={name} bytes=12345 entries=57 removed=0"[: lines * 200]

    async def aclose(self) -> None:
        pass

    async def _create(
        self, kind: str, value: Network | Secret | Config | Service, do: Callable[..., object]
    ) -> None:
        def effect() -> None:
            do(value)
            self.created[f"{kind}/{value.name}"] += 1

        await self._write(f"create-{kind}", value.name, value, effect)

    async def _remove(self, kind: str, object_id: str, do: Callable[[str], None]) -> None:
        await self._write(f"remove-{kind}", object_id, object_id, lambda: do(object_id))

    async def _write(
        self, kind: str, name: str, what: object, effect: Callable[[], object]
    ) -> None:
        """One write: it may fail before, in or after its effect."""
        self.api_calls += 1
        await self._come_and_go(f"{kind}/{name}")
        if self.rng.random() < self.faults.conflict:
            raise ConflictError("rpc error: code = Unknown desc = update out of sequence")
        afterwards = [listener(kind, what) for listener in self.before_write]
        effect()
        self.parts.heard(f"{kind.rpartition('-')[2]} written")
        for call in afterwards:
            if call is not None:
                call()
        self.writes.append(Write(asyncio.get_running_loop().time(), self.observed_at_s, kind, name))
        await self.boundary(f"{kind}/{name} was done")
        if self.rng.random() < self.faults.answer_lost:
            raise UnavailableError("Docker's engine does not answer: read timed out")

    async def _come_and_go(self, what: str) -> None:
        await self.boundary(what)
        slow = self.rng.random() < self.faults.slow
        await asyncio.sleep(self.faults.slow_s if slow else CALL_S)
        engine = self.store.engine
        if self.rng.random() < self.faults.unavailable:
            raise UnavailableError("Docker's engine does not answer: connection refused")
        if engine.swarm_state == "error":
            raise RejectedError(engine.error)
