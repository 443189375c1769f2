"""The swarm through Docker's SDK: the real adapter behind ``ports.swarm.Swarm``.

The SDK is synchronous, so each call runs in a worker thread under this adapter's own limiter and
with a finite timeout. ``observe`` makes seven calls whatever the size of the swarm; what they
answer is decoded in such a thread, too.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from operator import methodcaller
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import docker
from docker import errors

from queenright.adapters.docker import decode
from queenright.adapters.docker.client import DockerClient, says_image_unknown
from queenright.adapters.docker.encode import adjusted, arguments_of, encode_service
from queenright.adapters.docker.events import docker_events
from queenright.adapters.docker.lists import (
    Reader,
    always,
    by_id,
    identity,
    is_labelled,
    is_swarm_overlay,
    is_task_of,
    unlisted_networks,
)
from queenright.adapters.docker.nodes import decode_engine, one_node_a_name, relabelled_spec
from queenright.adapters.docker.service_logs import lines_of
from queenright.core.actions import LabelNode
from queenright.core.observed import (
    Engine,
    ImageFound,
    ImageMissing,
    SwarmState,
    Unreadable,
)
from queenright.core.planning.lease import LEASE_CONFIG
from queenright.core.swarm.objects import Config, Network, Secret, Service
from queenright.ports.lease import allowed
from queenright.ports.secrets import Password
from queenright.ports.swarm import ConflictError, RejectedError, SwarmError, UnavailableError

Json = dict[str, Any]
T = TypeVar("T")

CONCURRENT_CALLS = 8
SECRET_BYTES = 32
LABEL_TRIES = 5
"""Against other writers of the same node, of which each makes one try fail."""


class DockerSwarm:
    """A manager's Docker engine. Counts its API calls in ``api_calls``."""

    def __init__(
        self,
        environment: Mapping[str, str],
        timeout_s: float,
        may_write: Callable[[], bool] = allowed,
    ) -> None:
        """``environment`` as the SDK reads it: DOCKER_HOST, DOCKER_TLS_VERIFY, DOCKER_CERT_PATH.
        ``may_write`` is asked in the thread that sends a write, right before."""
        self._client = DockerClient(environment, timeout_s)
        self._may_write = may_write
        self._limiter = anyio.CapacityLimiter(CONCURRENT_CALLS)
        self._ids: dict[str, dict[str, str]] = {"networks": {}, "configs": {}, "secrets": {}}
        self._predefined: dict[str, str] = {}
        self._reader = Reader()
        self._services: dict[str, Json] = {}
        self.api_calls = 0

    async def observe(self) -> SwarmState:
        info = await self._call(lambda sdk: sdk.info())
        (engine,) = self._reader.read("engine", [info], decode_engine, always)
        if engine.swarm_state != "active" or not engine.is_manager:
            return SwarmState(engine)
        found: dict[str, list[Json]] = {}

        async def read(kind: str) -> None:
            found[kind] = await self._call(methodcaller(kind)) or []

        try:
            async with anyio.create_task_group() as group:
                for kind in ("nodes", "services", "networks", "secrets", "configs"):
                    group.start_soon(read, kind)
            # After the services: a service that swarm has just rolled back is known with the task
            # that failed, which is the cause.
            await read("tasks")
        except* SwarmError as failures:
            raise failures.exceptions[0] from failures
        for network_id in unlisted_networks(found["services"], found["networks"]):
            if network_id not in self._predefined:
                network = await self._call(methodcaller("inspect_network", network_id))
                self._predefined[network_id] = str(network["Name"])
        return await self._in_thread(lambda: self._decode(engine, found))

    def _decode(self, engine: Engine, found: Mapping[str, list[Json]]) -> SwarmState:
        read, raw_services = self._reader.read, found["services"]
        configs_listed = [raw for raw in found["configs"] if identity(raw) != LEASE_CONFIG]
        odd: list[Unreadable] = []
        overlays = [raw for raw in found["networks"] if is_swarm_overlay(raw)]
        networks = read("network", overlays, decode.decode_network, is_labelled, odd)
        configs = read("config", configs_listed, decode.decode_config, is_labelled, odd)
        known_secrets = read("secret", found["secrets"], decode.decode_secret, is_labelled, odd)
        every = by_id(found["networks"], "Id")
        names = {key: str(raw.get("Name") or key) for key, raw in every.items()}
        names |= self._predefined
        services = read(
            "service",
            raw_services,
            lambda raw: decode.decode_service(raw, names),
            is_labelled,
            odd,
            beside=names,
        )
        nodes = read("node", found["nodes"], decode.decode_node, always)
        self._services = by_id(raw_services)
        self._ids = {
            "networks": {live.value.name: live.id for live in networks},
            "configs": {live.value.name: live.id for live in configs},
            "secrets": {live.value.name: live.id for live in known_secrets},
        }
        return SwarmState(
            engine=engine,
            nodes=one_node_a_name(nodes),
            services=services,
            tasks=read("task", found["tasks"], decode.decode_task, is_task_of(raw_services)),
            networks=networks,
            secrets=known_secrets,
            configs=configs,
            unreadable=tuple(odd),
        )

    async def resolve_image(self, reference: str) -> ImageFound | ImageMissing:
        def asked(sdk: Any) -> ImageFound | ImageMissing:
            try:
                found = sdk.inspect_distribution(reference)
            except errors.APIError as error:
                if says_image_unknown(error):
                    return ImageMissing(str(error.explanation or error))
                raise
            return ImageFound(found["Descriptor"]["digest"])

        try:
            return await self._call(asked)
        except (RejectedError, ConflictError) as error:
            raise UnavailableError(str(error)) from error

    async def events(self) -> AsyncGenerator[str, None]:
        client = await self._in_thread(self._client.another)
        async with aclosing(docker_events(client)) as stream:
            async for text in stream:
                yield text

    async def label_node(self, action: LabelNode) -> None:
        for left in reversed(range(LABEL_TRIES)):
            raw = await self._call(methodcaller("inspect_node", action.node_id))
            spec = relabelled_spec(raw, action)
            version = raw["Version"]["Index"]
            try:
                await self._write(methodcaller("update_node", action.node_id, version, spec))
            except ConflictError:
                if not left:
                    raise
            else:
                return

    async def create_network(self, network: Network) -> None:
        pools = [docker.types.IPAMPool(subnet=network.subnet)] if network.subnet else []
        await self._write(
            lambda sdk: sdk.create_network(
                network.name,
                driver=network.driver,
                attachable=network.attachable,
                internal=network.internal,
                scope="swarm",
                check_duplicate=True,
                labels=dict(network.labels),
                ipam=docker.types.IPAMConfig(pool_configs=pools) if pools else None,
            )
        )

    async def remove_network(self, network_id: str) -> None:
        await self._write(lambda sdk: sdk.remove_network(network_id))

    async def create_secret(self, secret: Secret, value: Password | None = None) -> None:
        made = base64.b64encode(secrets.token_bytes(SECRET_BYTES))
        data = value.value.encode() if value is not None else made
        labels = dict(secret.labels)
        await self._write(lambda sdk: sdk.create_secret(secret.name, data, labels))

    async def create_config(self, config: Config) -> None:
        labels = dict(config.labels)
        await self._write(lambda sdk: sdk.create_config(config.name, config.data, labels))

    async def label_config(self, config_id: str, version: int, config: Config) -> None:
        spec = {
            "Name": config.name,
            "Labels": dict(config.labels),
            "Data": base64.b64encode(config.data).decode(),
        }
        await self._post(f"/configs/{config_id}/update", version, spec)

    async def remove_config(self, config_id: str) -> None:
        await self._write(lambda sdk: sdk.remove_config(config_id))

    async def create_service(self, service: Service) -> None:
        task, others = arguments_of(self._encode(service, 0))
        await self._write(lambda sdk: sdk.create_service(task, **others))

    async def update_service(
        self, service_id: str, version: int, service: Service, force_update: int
    ) -> None:
        task, others = arguments_of(self._encode(service, force_update))
        await self._write(lambda sdk: sdk.update_service(service_id, version, task, **others))

    async def adjust_service(self, service_id: str, version: int, service: Service) -> None:
        seen = self._services.get(service_id)
        if seen is None or seen["Version"]["Index"] != version:
            raise ConflictError(f"{service.name} has changed since it was observed")
        spec = adjusted(seen["Spec"], service)
        await self._post(f"/services/{service_id}/update", version, spec)

    async def remove_service(self, service_id: str) -> None:
        await self._write(lambda sdk: sdk.remove_service(service_id))

    async def service_output(self, service_id: str, lines: int) -> str:
        asked = {"stdout": 1, "stderr": 1, "tail": lines}
        self.api_calls += 1
        return lines_of(
            await self._in_thread(lambda: self._client.get(f"/services/{service_id}/logs", **asked))
        )

    async def aclose(self) -> None:
        self._client.close()

    def _encode(self, service: Service, force_update: int) -> Json:
        try:
            return encode_service(
                service,
                force_update,
                self._ids["networks"],
                self._ids["configs"],
                self._ids["secrets"],
            )
        except KeyError as error:
            raise ConflictError(f"{service.name} refers to {error}, which is gone") from error

    async def _call(self, method: Callable[[Any], T]) -> T:
        self.api_calls += 1
        return await self._in_thread(lambda: self._client.call(method))

    async def _write(self, method: Callable[[Any], object]) -> None:
        await self._sent(lambda: self._client.call(method))

    async def _post(self, path: str, version: int, spec: Json) -> None:
        await self._sent(lambda: self._client.post(path, version, spec))

    async def _sent(self, write: Callable[[], object]) -> None:
        """Send a write, if that is permitted when its thread has begun."""

        def send() -> None:
            if not self._may_write():
                raise UnavailableError("not sent: this operator does not have the lease any more")
            write()

        self.api_calls += 1
        await self._in_thread(send)

    async def _in_thread(self, function: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(function, limiter=self._limiter)
