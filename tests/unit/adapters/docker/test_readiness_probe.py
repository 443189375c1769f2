"""The service that asks from within a network: where it is made, and how often."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from queenright.adapters.docker.readiness_probe import ReadinessService
from queenright.core.observed import Known, Unknown
from queenright.core.observed.readiness import Readiness, ReadinessTarget
from queenright.ports.errors import ConflictError

NETWORK = "notes_app"
TARGETS = (ReadinessTarget("one", "10.0.9.1", 3000, NETWORK, "image@sha256:0"),)
READY = {"one": Known(Readiness(200))}


class Engine:
    """One node's engine, as the SDK shows it; ``services`` are the swarm's, by id."""

    def __init__(self, node: str, services: dict[str, Any], state: str = "running") -> None:
        self.node, self.there, self.state = node, services, state
        self.made = 0
        self.asked: list[str] = []

    def call(self, method: Callable[[Any], Any]) -> Any:
        return method(self)

    def close(self) -> None:
        pass

    def info(self) -> Any:
        return {"Swarm": {"NodeID": self.node}}

    def services(self, filters: Any) -> Any:
        return list(self.there.values())

    def create_service(self, **wanted: Any) -> Any:
        if self.there:
            raise ConflictError("name conflicts with an existing object")
        self.made += 1
        (constraint,) = wanted["task_template"]["Placement"]["Constraints"]
        name = f"{self.node}-{self.made}"
        node = constraint.partition("==")[2]
        self.there[name] = {"ID": name, "Spec": {"Labels": wanted["labels"]}, "node": node}
        return {"ID": name}

    def remove_service(self, name: str) -> None:
        if self.there.pop(name, None) is None:
            raise ConflictError(f"service {name} not found")

    def tasks(self, filters: Any) -> Any:
        node = self.there[filters["service"]]["node"]
        container = {"ContainerID": f"on {node}"}
        return [{"Status": {"State": self.state, "ContainerStatus": container, "Err": "no python"}}]

    def exec_create(self, container: str, command: Sequence[str]) -> Any:
        if container != f"on {self.node}":
            raise ConflictError(f"No such container: {container}")
        self.asked = [place for place in command if place.startswith("10.")]
        return {"Id": "run"}

    def exec_start(self, run: str, demux: bool) -> Any:
        return json.dumps({place: [200, ""] for place in self.asked}).encode(), b""

    def exec_inspect(self, run: str) -> Any:
        return {"ExitCode": 0}


class OnEngine(ReadinessService):
    def __init__(self, engine: Engine, *, may_create: bool = True) -> None:
        super().__init__({}, 1.0, may_create=lambda: may_create)
        self._client = engine  # type: ignore[assignment]


async def test_what_an_operator_on_another_node_has_left_is_made_anew_here() -> None:
    """Docker's exec reaches the containers of its own node alone."""
    services: dict[str, Any] = {}
    assert await OnEngine(Engine("node1", services)).ask(NETWORK, TARGETS) == READY
    looks_only = await OnEngine(Engine("node2", services), may_create=False).ask(NETWORK, TARGETS)
    assert isinstance(looks_only["one"], Unknown)
    moved = OnEngine(Engine("node2", services))
    first = await moved.ask(NETWORK, TARGETS)
    assert isinstance(first["one"], Unknown)
    assert await moved.ask(NETWORK, TARGETS) == READY
    assert [found["node"] for found in services.values()] == ["node2"]


async def test_a_service_that_ends_at_once_is_not_made_again_at_every_question() -> None:
    engine = Engine("node1", {}, state="rejected")
    probe = OnEngine(engine)
    for _ in range(5):
        reading = (await probe.ask(NETWORK, TARGETS))["one"]
        assert isinstance(reading, Unknown)
        assert "its service ended: no python" in reading.why
    assert engine.made == 1
    assert engine.there == {}
