"""Ask replicas from within their own network, which an operator on a node can't reach.

A small service on the operator's own node is attached to the network and does nothing; Docker's
exec runs a few lines in it that ask every replica at once. Invariant: the service has the network
and nothing else: no secret, no port, no volume, no capability, no log, and none of the labels by
which an application owns its services.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import structlog

from queenright.adapters.docker.client import DockerClient
from queenright.adapters.docker.secret_reader import container_id, what_it_waits_for
from queenright.core.observed import Known, Unknown
from queenright.core.observed.readiness import Readiness, ReadinessTarget, answer
from queenright.core.swarm.digest import digest
from queenright.core.swarm.objects import ROLE_LABEL
from queenright.ports.errors import ConflictError, PortError, UnavailableError

Json = dict[str, Any]
T = TypeVar("T")
Reading = Known[Readiness] | Unknown

ROLE = "readiness-probe"
PREFIX = "queenright-readiness-"
LONGEST_NAME = 63
"""Characters that swarm accepts in a service's name (swarmkit: ``validateAnnotations``)."""
NETWORK_LABEL = "queenright.network"
FILTER = {"label": f"{ROLE_LABEL}={ROLE}"}
LIVES_S = 86_400
"""The container's life: it ends by itself if no operator removes it."""
MEMORY_BYTES = 64 << 20
CONCURRENT_CALLS = 4
CONCURRENT_QUESTIONS = 32
"""The most probes at once; each takes as long as its most silent replica, and no CPU here."""
ASK_S = 3.0
START_S = 5.0
POLL_S = 0.2
AGAIN_S = 60.0
"""The delay before a new service after one that ended at once (an image without Python, say)."""

ASKING = """
import http.client, json, os, sys, threading, time
limit, found = float(sys.argv[1]), {}
def ask(where):
    host, _, port = where.rpartition(":")
    try:
        connection = http.client.HTTPConnection(host, int(port), timeout=limit)
        connection.request("GET", "/readyz", headers={"Connection": "close"})
        response = connection.getresponse()
        found[where] = [response.status, response.read(4096).decode(errors="replace")]
    except Exception as error:
        found[where] = [0, f"{type(error).__name__}: {error}"]
threads = [threading.Thread(target=ask, args=(where,), daemon=True) for where in sys.argv[2:]]
for thread in threads:
    thread.start()
end = time.monotonic() + limit
for thread in threads:
    thread.join(max(0, end - time.monotonic()))
print(json.dumps(dict(found)), flush=True)
os._exit(0)
"""
"""Program for the container, run by the application's Python; arguments are host:port."""

log = structlog.get_logger()


class ReadinessService:
    """Without ``may_create`` only an existing service is used: for read-only commands, and an
    operator that stands by."""

    def __init__(
        self, environment: Mapping[str, str], timeout_s: float, *, may_create: Callable[[], bool]
    ) -> None:
        self._client = DockerClient(environment, timeout_s)
        self._may_create = may_create
        self._limiter = anyio.CapacityLimiter(CONCURRENT_CALLS)
        self._questions = anyio.CapacityLimiter(CONCURRENT_QUESTIONS)
        self._lock = anyio.Lock()
        self._containers: dict[str, str] = {}
        self._services: dict[str, str] | None = None
        self._made: set[str] = set()
        self._failed: dict[str, tuple[str, float, str]] = {}
        """The image with which our service ended, the end of the delay, and the cause, by
        network."""

    async def keep(self, networks: Iterable[str]) -> None:
        """Remove services on other networks; a failed removal is tried again later."""
        if not self._may_create():
            return
        try:
            there = await self._listed()
        except PortError:
            return
        for network in sorted(there.keys() - {*networks}):
            await self._remove(network)

    async def ask(self, network: str, targets: Sequence[ReadinessTarget]) -> Mapping[str, Reading]:
        container = ""
        try:
            container = await self._container(network, targets[0].image)
            places = [f"{target.address}:{target.port}" for target in targets]
            said = await self._call(lambda sdk: asked(sdk, container, places), self._questions)
        except PortError as error:
            is_gone = isinstance(error, ConflictError)
            await self._forget(network, container, is_gone=is_gone)
            why = f"no probe within network {network} (a service of the operator's): {error}"
            return {target.task_id: Unknown(why) for target in targets}
        return readings(said, targets)

    async def _forget(self, network: str, container: str, *, is_gone: bool) -> None:
        """Forget a service without a container on this engine: its time is over, or it is on
        another node, where an operator ran before. The operator then creates a new one here."""
        async with self._lock:
            if self._containers.get(network, "") != container:
                return  # there is another one by now
            self._containers.pop(network, None)
            if is_gone and container:
                await self._remove(network)

    async def _listed(self) -> dict[str, str]:
        """Return service ids by network: from the engine the first time, from memory afterwards."""
        if self._services is None:
            raws: list[Json] = await self._call(lambda sdk: sdk.services(filters=FILTER)) or []
            self._services = {
                str(raw["Spec"]["Labels"].get(NETWORK_LABEL)): str(raw["ID"]) for raw in raws
            }
        return self._services

    async def _container(self, network: str, image: str) -> str:
        async with self._lock:
            if network in self._containers:
                return self._containers[network]
            services = await self._listed()
            if network not in services:
                self._refuse_too_early(network, image)
                services[network] = await self._created(network, image)
            try:
                self._containers[network] = await self._started(network, image, services[network])
            except ConflictError:
                self._services = None  # somebody has removed it
                raise
            return self._containers[network]

    def _refuse_too_early(self, network: str, image: str) -> None:
        failed, until, why = self._failed.get(network, ("", 0.0, ""))
        if failed == image and anyio.current_time() < until:
            raise UnavailableError(why)

    async def _created(self, network: str, image: str) -> str:
        info: Json = await self._call(lambda sdk: sdk.info())
        node_id = str((info.get("Swarm") or {}).get("NodeID") or "")
        wanted = probe_service(network, image, node_id)
        if not self._may_create():
            raise UnavailableError("the operator has created no service for it")
        made: Json = await self._call(lambda sdk: sdk.create_service(**wanted))
        self._made.add(str(made["ID"]))
        return str(made["ID"])

    async def _started(self, network: str, image: str, service_id: str) -> str:
        """Return the service's container; UnavailableError with swarm's error if it does not
        start."""
        waits_for = ""
        with anyio.move_on_after(START_S):
            while True:
                tasks: list[Json] = await self._call(
                    lambda sdk: sdk.tasks(filters={"service": service_id})
                )
                try:
                    if found := container_id(tasks or []):
                        return found
                except ValueError as error:
                    why = f"its service ended: {error}"
                    if service_id in self._made:
                        self._failed[network] = (image, anyio.current_time() + AGAIN_S, why)
                    await self._remove_id(service_id)
                    raise UnavailableError(why) from error
                waits_for = what_it_waits_for(tasks or [])
                await anyio.sleep(POLL_S)
        raise UnavailableError(f"its service has not started yet: {waits_for}")

    async def _remove(self, network: str) -> None:
        self._containers.pop(network, None)
        service_id = (self._services or {}).get(network)
        if service_id is not None:
            await self._remove_id(service_id)

    async def _remove_id(self, service_id: str) -> None:
        if not self._may_create():
            return
        try:
            await self._call(lambda sdk: sdk.remove_service(service_id))
        except ConflictError:
            pass  # gone
        except PortError as error:
            log.warning("a readiness probe is not removed yet", error=str(error))
            return
        self._made.discard(service_id)
        self._services = {
            network: known
            for network, known in (self._services or {}).items()
            if known != service_id
        }

    async def _call(
        self, method: Callable[[Any], T], limiter: anyio.CapacityLimiter | None = None
    ) -> T:
        return await anyio.to_thread.run_sync(
            lambda: self._client.call(method), limiter=limiter or self._limiter
        )

    async def aclose(self) -> None:
        self._client.close()


def probe_service(network: str, image: str, node_id: str) -> Json:
    """Return the arguments of the SDK's ``create_service``; the image's own user runs it."""
    idle = ["python", "-I", "-S", "-c", f"import time; time.sleep({LIVES_S})"]
    return {
        "name": probe_name(network),
        "labels": {ROLE_LABEL: ROLE, NETWORK_LABEL: network},
        "mode": {"Replicated": {"Replicas": 1}},
        "endpoint_spec": {"Mode": "dnsrr"},
        "task_template": {
            "ContainerSpec": {
                "Image": image,
                "Command": idle,
                "ReadOnly": True,
                "CapabilityDrop": ["ALL"],
                "StopSignal": "SIGKILL",
                "Healthcheck": {"Test": ["NONE"]},
            },
            "Networks": [{"Target": network}],
            "Resources": {"Limits": {"MemoryBytes": MEMORY_BYTES}},
            "RestartPolicy": {"Condition": "none"},
            "Placement": {"Constraints": [f"node.id=={node_id}"]},
            "LogDriver": {"Name": "none"},
        },
    }


def probe_name(network: str) -> str:
    """Return our prefix and the network's name, or its digest if that is too long for swarm."""
    name = f"{PREFIX}{network}"
    return name if len(name) <= LONGEST_NAME else f"{PREFIX}{digest(network)}"


def asked(sdk: Any, container: str, places: Sequence[str]) -> bytes:
    """Return the program's output; UnavailableError if it can't be run."""
    command = ["python", "-I", "-S", "-c", ASKING, f"{ASK_S:g}", *places]
    run = sdk.exec_create(container, command)["Id"]
    shown, complaint = sdk.exec_start(run, demux=True)
    if sdk.exec_inspect(run)["ExitCode"] != 0:
        words = (complaint or shown or b"").decode(errors="replace").strip()
        raise UnavailableError(f"its container failed to run the probe: {words[-200:]}")
    return bytes(shown or b"")


def readings(said: bytes, targets: Sequence[ReadinessTarget]) -> dict[str, Reading]:
    """Return the readings by task id; an answer of another form is unknown."""
    try:
        found = json.loads(said)
    except ValueError:
        found = None
    answers = found if isinstance(found, dict) else {}
    return {
        target.task_id: reading(answers.get(f"{target.address}:{target.port}"))
        for target in targets
    }


def reading(found: object) -> Reading:
    match found:
        case [int(status), str(body)] if 100 <= status < 600:
            return Known(answer(status, body))
        case [0, str(why)]:
            return Unknown(answer(0, why).reason)
        case None:
            return Unknown(f"no answer in {ASK_S:g} s")
        case _:
            return Unknown("the answer is not from the notes application")
