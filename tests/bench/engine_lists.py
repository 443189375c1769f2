"""A Docker engine that answers from memory, in its own JSON, for a swarm of many clusters.

The lists, their filters and each object's form are those of Docker 20.10
(tests/unit/adapters/docker/recorded/lists). ``engine_server`` serves it.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import queue
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from queenright.adapters.docker.encode import encode_service
from queenright.core.observed import LiveService, Node, Task
from queenright.core.swarm.objects import Config, Secret, Service
from queenright.ports.swarm import ConflictError
from tests.support.app_builders import APP_DIGESTS
from tests.support.builders import DIGESTS
from tests.support.many_clusters import Deployed

Json = dict[str, Any]
AT = "2026-01-01T00:00:00.123456789Z"
PLUGINS = {
    "Log": ("awslogs", "fluentd", "gcplogs", "gelf", "journald", "json-file", "local", "splunk"),
    "Network": ("bridge", "host", "ipvlan", "macvlan", "null", "overlay"),
    "Volume": ("local",),
}
DESCRIPTION = {
    "Platform": {"Architecture": "x86_64", "OS": "linux"},
    "Resources": {"NanoCPUs": 2000000000, "MemoryBytes": 25276502016},
    "Engine": {
        "EngineVersion": "20.10.24+dfsg1",
        "Plugins": [{"Type": t, "Name": n} for t, names in PLUGINS.items() for n in names],
    },
    "TLSInfo": {"TrustRoot": "-" * 570, "CertIssuerPublicKey": "-" * 124},
}


def head(object_id: str, version: int) -> Json:
    return {"ID": object_id, "Version": {"Index": version}, "CreatedAt": AT, "UpdatedAt": AT}


def node_json(node: Node) -> Json:
    spec = {"Labels": dict(node.labels), "Role": node.role, "Availability": node.availability}
    found = {
        **head(node.id, node.version),
        "Spec": spec,
        "Description": {"Hostname": node.name, **DESCRIPTION},
        "Status": {"State": node.state, "Addr": node.address},
    }
    manager = {"Leader": True, "Reachability": "reachable", "Addr": f"{node.address}:2377"}
    return {**found, "ManagerStatus": manager} if node.role == "manager" else found


class FakeEngine:
    """The part of an engine's API that the operator asks where nothing is to be repaired."""

    def __init__(self, found: Deployed) -> None:
        self.found = found
        self._events: list[queue.SimpleQueue[Json | None]] = []
        self._ids = {
            kind: {live.value.name: live.id for live in getattr(found, kind)}
            for kind in ("networks", "configs", "secrets")
        }
        self._json: dict[str, dict[str, bytes]] = {
            "nodes": self._written(map(node_json, found.nodes)),
            "services": self._written(map(self._service_json, found.services)),
            "tasks": self._written(self._tasks_json()),
            "configs": self._written(self._configs_json()),
            "secrets": self._written(
                {**head(live.id, live.version), "Spec": self._annotations(live.value)}
                for live in found.secrets
            ),
        }
        self._networks = json.dumps(
            [
                {
                    "Name": live.value.name,
                    "Id": live.id,
                    "Created": AT,
                    "Scope": "swarm",
                    "Driver": live.value.driver,
                    "Attachable": live.value.attachable,
                    "Internal": live.value.internal,
                    "IPAM": {"Driver": "default", "Config": [{"Subnet": live.value.subnet}]},
                    "Labels": dict(live.value.labels),
                }
                for live in found.networks
            ]
        ).encode()
        self._named = {
            "services": {live.id: live.value.name for live in found.services},
            "configs": {live.id: live.value.name for live in found.configs},
            "tasks": {task.id: task.service_id for task in found.tasks},
        }

    # What the API answers

    def get(self, path: str, **asked: str) -> bytes:
        kind = path.removeprefix("/")
        if kind == "networks":
            return self._networks
        items = self._json[kind]
        filters = json.loads(asked.get("filters", "{}"))
        if wanted := filters.get("name"):
            names, begin = self._named[kind], tuple(wanted)
            return self._listed(items[one] for one in items if names[one].startswith(begin))
        if wanted := filters.get("service"):
            services, ids = self._named[kind], {*wanted}
            return self._listed(items[one] for one in items if services[one] in ids)
        return self._listed(items.values())

    def info(self) -> Json:
        swarm = {"NodeID": self.found.nodes[0].id, "LocalNodeState": "active"}
        return {"Swarm": {**swarm, "ControlAvailable": True}}

    def inspect_distribution(self, reference: str) -> Json:
        return {"Descriptor": {"digest": {**DIGESTS, **APP_DIGESTS}[reference]}}

    def events(self) -> Iterator[Json]:
        own: queue.SimpleQueue[Json | None] = queue.SimpleQueue()
        self._events.append(own)
        while (event := own.get()) is not None:
            yield event

    def update_service(self, service_id: str, version: int, spec: Json) -> None:
        raw = json.loads(self._json["services"][service_id])
        if raw["Version"]["Index"] != version:
            raise ConflictError("update out of sequence")
        self.found.version += 1
        made = {**raw, "Version": {"Index": self.found.version}, "Spec": spec}
        self._json["services"][service_id] = self._text(made)
        event = {"Type": "service", "Action": "update"}
        for one in self._events:
            one.put({**event, "Actor": {"ID": service_id, "Attributes": {"name": spec["Name"]}}})

    # Objects in JSON

    def _service_json(self, live: LiveService) -> Json:
        spec = self._spec(live.value, live.force_update)
        endpoint = {"Spec": spec["EndpointSpec"], "Ports": spec["EndpointSpec"]["Ports"]}
        return {**head(live.id, live.version), "Spec": spec, "PreviousSpec": spec} | {
            "Endpoint": endpoint,
            "UpdateStatus": {"State": "completed", "StartedAt": AT, "Message": "update completed"},
        }

    def _spec(self, service: Service, force_update: int = 0) -> Json:
        ids = self._ids
        return encode_service(
            service, force_update, ids["networks"], ids["configs"], ids["secrets"]
        )

    def _tasks_json(self) -> Iterator[Json]:
        specs = {live.id: self._spec(live.value)["TaskTemplate"] for live in self.found.services}
        return (self._task_json(task, specs[task.service_id]) for task in self.found.tasks)

    def _task_json(self, task: Task, template: Json) -> Json:
        return {
            **head(task.id, 11),
            "Labels": {},
            "Spec": template,
            "ServiceID": task.service_id,
            "Slot": task.slot,
            "NodeID": task.node_id,
            "Status": {
                "Timestamp": task.at.isoformat(),
                "State": task.state,
                "Message": "started",
                "ContainerStatus": {"ContainerID": "c" * 64, "PID": 4711, "ExitCode": 0},
                "PortStatus": {},
            },
            "DesiredState": task.desired_state,
            "NetworksAttachments": [
                {
                    "Network": {
                        **head(self._ids["networks"].get(name, name), 10),
                        "Spec": {"Name": name, "Labels": {}, "DriverConfiguration": {}},
                    },
                    "Addresses": [f"{address}/24"],
                }
                for name, address in task.addresses.items()
            ],
        }

    def _configs_json(self) -> Iterator[Json]:
        for live in self.found.configs:
            config: Config = live.value
            data = base64.b64encode(config.data).decode()
            spec = {**self._annotations(config), "Data": data}
            yield {**head(live.id, live.version), "Spec": spec}

    @staticmethod
    def _annotations(value: Config | Secret) -> Json:
        return {"Name": value.name, "Labels": dict(value.labels)}

    def _written(self, raws: Iterable[Json]) -> dict[str, bytes]:
        return {raw["ID"]: self._text(raw) for raw in raws}

    @staticmethod
    def _text(raw: Mapping[str, Any]) -> bytes:
        return json.dumps(raw, separators=(",", ":")).encode()

    @staticmethod
    def _listed(items: Iterable[bytes]) -> bytes:
        return b"[" + b",".join(items) + b"]\n"


def without_objects(found: Deployed) -> Deployed:
    """Return the answers of the members alone: the swarm's objects are in the engine's JSON."""
    empty: dict[str, list[Any]] = {
        kind: [] for kind in ("services", "tasks", "networks", "secrets", "configs")
    }
    return dataclasses.replace(found, nodes=found.nodes[:1], **empty)
