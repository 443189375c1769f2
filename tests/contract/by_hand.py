"""Changes of a service past the operator, and its specification afterwards, byte for byte."""

from __future__ import annotations

import dataclasses
import json
import random
import tarfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol

import anyio

from queenright.adapters.docker.swarm import DockerSwarm
from queenright.core.observed import LiveService, SwarmState
from queenright.core.swarm.objects import Mount, Service
from queenright.ports.swarm import Swarm
from tests.fakes.fake_swarm import FakeSwarm
from tests.fakes.orchestrator import Orchestrator
from tests.fakes.service_templates import template_of
from tests.fakes.tasks import FakeTask
from tests.lab.packages import ensure_programs

LONG_ENOUGH_S = 2.0
"""A restart that is due shows within this: swarm reacts within a second."""
BUSYBOX = Path("/usr/bin/busybox")


class Hand(Protocol):
    """A person at one swarm."""

    image: str
    """An image whose ``/busybox`` a task on node1 can run."""

    def change(self, service_id: str) -> None:
        """Add an ulimit, a log driver, and an environment that is not sorted."""
        ...

    def kept(self, service_id: str) -> object:
        """The task template and the endpoint, as the swarm stores them."""
        ...

    def failing_once(self, service: Service) -> Service:
        """The service with another command, of which the first container fails at once."""
        ...


class FakeHand:
    def __init__(self, swarm: FakeSwarm) -> None:
        self.image = "known:1"
        self._store = swarm.store
        self._made = Orchestrator(swarm.store, random.Random(0))
        self._made.is_healthy = is_healthy

    def change(self, service_id: str) -> None:
        live = self._store.services[service_id]
        changed = dataclasses.replace(
            live.value,
            environment={"B": "1", "A": "2"},
            other={"TaskTemplate.LogDriver.Name": '"json-file"'},
        )
        self._store.update_service(service_id, live.version, changed, live.force_update)

    def kept(self, service_id: str) -> object:
        live = self._store.services[service_id]
        return template_of(live.value), live.force_update

    def failing_once(self, service: Service) -> Service:
        self._made.doomed[service.name] = 0.1
        self._made.ended_listeners.append(self._one_has_ended)
        return dataclasses.replace(service, args=("again",))

    def _one_has_ended(self, task: FakeTask, orderly: bool) -> None:
        if not orderly:
            self._made.doomed.clear()


def is_healthy(task: FakeTask) -> bool:
    """Return True if the container works: these tests' substitute for a health check."""
    check = task.template.health_check
    return check is None or "false" not in check.test


class DockerHand:
    def __init__(self, swarm: DockerSwarm, registry: str) -> None:
        ensure_programs({"busybox": "busybox-static"})
        self._client: Any = swarm._client.another()
        self.image = f"{registry}/contract:1"
        self._client.import_image_from_data(one_program(), f"{registry}/contract", "1")

    def change(self, service_id: str) -> None:
        raw = self._client.inspect_service(service_id)
        spec = raw["Spec"]
        container = spec["TaskTemplate"]["ContainerSpec"]
        container["Env"] = ["B=1", "A=2"]
        container["Ulimits"] = [{"Name": "nofile", "Soft": 2048, "Hard": 2048}]
        spec["TaskTemplate"]["LogDriver"] = {"Name": "json-file", "Options": {"max-file": "2"}}
        answer = self._client.post(
            self._client._url("/services/{0}/update", service_id),
            params={"version": raw["Version"]["Index"]},
            json=spec,
        )
        answer.raise_for_status()

    def kept(self, service_id: str) -> object:
        spec = self._client.inspect_service(service_id)["Spec"]
        return json.dumps([spec["TaskTemplate"], spec["EndpointSpec"]])

    def failing_once(self, service: Service) -> Service:
        script = "/busybox mkdir /kept/begun && exit 1; exec /busybox sleep 600"
        return dataclasses.replace(
            service,
            command=("/busybox", "sh", "-c", script),
            mounts=(Mount("/kept", "volume", f"{service.name}-kept"),),
        )


def sleeper(name: str, image: str, labels: dict[str, str]) -> Service:
    return Service(
        name,
        image,
        labels=labels,
        command=("/busybox", "sleep", "600"),
        constraints=("node.hostname==node1",) if "/" in image else (),
        endpoint_mode="dnsrr",
        stop_grace_s=0.0,
    )


async def until(
    swarm: Swarm, name: str, condition: Callable[[SwarmState, LiveService], bool]
) -> LiveService:
    with anyio.fail_after(30):
        while True:
            state = await swarm.observe()
            live = state.service(name)
            if live and condition(state, live):
                return live
            await anyio.sleep(0.1)


def running(state: SwarmState, live: LiveService) -> set[str]:
    return {task.id for task in state.tasks_of(live.id) if task.state == "running"}


def one_program() -> bytes:
    """The tar archive of an image that holds a static busybox alone."""
    found = BytesIO()
    with tarfile.open(fileobj=found, mode="w") as archive:
        archive.add(BUSYBOX, "busybox")
    return found.getvalue()
