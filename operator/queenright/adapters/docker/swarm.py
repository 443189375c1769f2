"""The swarm through Docker's SDK: the real adapter behind ``ports.swarm.Swarm``.

The SDK is synchronous, so each call runs in a worker thread under this adapter's own limiter and
with a finite timeout. ``observe`` makes seven calls whatever the size of the swarm; what they
answer is decoded in such a thread, too (``observing``).
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import aclosing
from operator import methodcaller
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import docker
from docker import errors

from queenright.adapters.docker.client import DockerClient, says_image_unknown, translated
from queenright.adapters.docker.encode import adjusted, arguments_of, encode_service
from queenright.adapters.docker.events import docker_events
from queenright.adapters.docker.nodes import decode_engine, relabelled_spec
from queenright.adapters.docker.observing import Observing
from queenright.adapters.docker.service_logs import lines_of
from queenright.core.actions import LabelNode
from queenright.core.observed import (
    ImageFound,
    ImageMissing,
    Live,
    SwarmState,
)
from queenright.core.swarm.objects import Config, Network, Secret, Service
from queenright.ports.lease import allowed
from queenright.ports.secrets import Password
from queenright.ports.swarm import ConflictError, RejectedError, UnavailableError

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
        self._observing = Observing(self._ask)
        self._listed: dict[str, tuple[Live[Any], ...]] = {}
        self._ids: dict[str, tuple[tuple[Live[Any], ...], dict[str, str]]] = {}
        """Of each list that a service refers to, the last one, and its ids by name once needed."""
        self.api_calls = 0

    async def observe(self, owners: AbstractSet[str] | None = None) -> SwarmState:
        info = await self._call(lambda sdk: sdk.info())
        engine = translated(lambda: decode_engine(info))
        if engine.swarm_state != "active" or not engine.is_manager:
            return SwarmState(engine)
        state = (
            await self._observing.whole(engine)
            if owners is None
            else await self._observing.of(engine, owners)
        )
        self._listed = {
            "networks": state.networks,
            "configs": state.configs,
            "secrets": state.secrets,
        }
        return state

    async def _ask(self, path: str, read: Callable[[Iterator[bytes]], T], **query: str) -> T:
        self.api_calls += 1
        return await self._in_thread(lambda: self._client.stream(path, read, **query))

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
        self._observing.listens(1)
        try:
            async with aclosing(docker_events(client)) as stream:
                async for text in stream:
                    self._observing.heard(text)
                    yield text
        finally:
            self._observing.listens(-1)

    async def label_node(self, action: LabelNode) -> None:
        for left in reversed(range(LABEL_TRIES)):
            raw = await self._call(methodcaller("inspect_node", action.node_id))
            spec = relabelled_spec(raw, action)
            version = raw["Version"]["Index"]
            try:
                await self._write(
                    "node", methodcaller("update_node", action.node_id, version, spec)
                )
            except ConflictError:
                if not left:
                    raise
            else:
                return

    async def create_network(self, network: Network) -> None:
        pools = [docker.types.IPAMPool(subnet=network.subnet)] if network.subnet else []
        await self._write(
            "network",
            lambda sdk: sdk.create_network(
                network.name,
                driver=network.driver,
                attachable=network.attachable,
                internal=network.internal,
                scope="swarm",
                check_duplicate=True,
                labels=dict(network.labels),
                ipam=docker.types.IPAMConfig(pool_configs=pools) if pools else None,
            ),
        )

    async def remove_network(self, network_id: str) -> None:
        await self._write("network", lambda sdk: sdk.remove_network(network_id))

    async def create_secret(self, secret: Secret, value: Password | None = None) -> None:
        made = base64.b64encode(secrets.token_bytes(SECRET_BYTES))
        data = value.value.encode() if value is not None else made
        labels = dict(secret.labels)
        await self._write("secret", lambda sdk: sdk.create_secret(secret.name, data, labels))

    async def create_config(self, config: Config) -> None:
        labels = dict(config.labels)
        await self._write("config", lambda sdk: sdk.create_config(config.name, config.data, labels))

    async def label_config(self, config_id: str, version: int, config: Config) -> None:
        spec = {
            "Name": config.name,
            "Labels": dict(config.labels),
            "Data": base64.b64encode(config.data).decode(),
        }
        await self._post("config", f"/configs/{config_id}/update", version, spec)

    async def remove_config(self, config_id: str) -> None:
        await self._write("config", lambda sdk: sdk.remove_config(config_id))

    async def create_service(self, service: Service) -> None:
        task, others = arguments_of(self._encode(service, 0))
        await self._write("service", lambda sdk: sdk.create_service(task, **others))

    async def update_service(
        self, service_id: str, version: int, service: Service, force_update: int
    ) -> None:
        task, others = arguments_of(self._encode(service, force_update))
        await self._write(
            "service", lambda sdk: sdk.update_service(service_id, version, task, **others)
        )

    async def adjust_service(self, service_id: str, version: int, service: Service) -> None:
        seen = await self._call(methodcaller("inspect_service", service_id))
        if seen["Version"]["Index"] != version:
            raise ConflictError(f"{service.name} has changed since it was observed")
        spec = adjusted(seen["Spec"], service)
        await self._post("service", f"/services/{service_id}/update", version, spec)

    async def remove_service(self, service_id: str) -> None:
        await self._write("service", lambda sdk: sdk.remove_service(service_id))

    async def service_output(self, service_id: str, lines: int, *, timed: bool = False) -> str:
        asked = {"stdout": 1, "stderr": 1, "tail": lines, "timestamps": int(timed)}
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
                self._ids_of("networks"),
                self._ids_of("configs"),
                self._ids_of("secrets"),
            )
        except KeyError as error:
            raise ConflictError(f"{service.name} refers to {error}, which is gone") from error

    def _ids_of(self, kind: str) -> dict[str, str]:
        """Return the ids of the objects of the last reading, by name."""
        listed, known = self._listed.get(kind, ()), self._ids.get(kind)
        if known is None or known[0] is not listed:
            known = self._ids[kind] = (listed, {live.value.name: live.id for live in listed})
        return known[1]

    async def _call(self, method: Callable[[Any], T]) -> T:
        self.api_calls += 1
        return await self._in_thread(lambda: self._client.call(method))

    async def _write(self, kind: str, method: Callable[[Any], object]) -> None:
        await self._sent(kind, lambda: self._client.call(method))

    async def _post(self, kind: str, path: str, version: int, spec: Json) -> None:
        await self._sent(kind, lambda: self._client.post(path, version, spec))

    async def _sent(self, kind: str, write: Callable[[], object]) -> None:
        """Send a write of an object of this kind, if that is permitted when its thread has begun.
        The next reading of a part sees what it has changed; after one that fails, all lists anew:
        what it referred to may be gone."""

        def send() -> None:
            if not self._may_write():
                raise UnavailableError("not sent: this operator does not have the lease any more")
            write()

        self.api_calls += 1
        changed = ""
        try:
            await self._in_thread(send)
            changed = f"{kind} written"
        finally:
            self._observing.heard(changed)

    async def _in_thread(self, function: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(function, limiter=self._limiter)
