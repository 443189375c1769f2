"""The short-lived service through which the operator reads a swarm secret.

Pure: from the engine's lists, the image to run and the services left over. Invariant: the service
has the secret and nothing else: no network of the swarm's, no port, no volume, no capability, no
log, and none of the labels by which a cluster owns its services.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from queenright.adapters.docker.decode import moment
from queenright.core.swarm.objects import CLUSTER_LABEL, ROLE_LABEL

Json = dict[str, Any]

ROLE = "secret-reader"
PREFIX = "queenright-secret-reader-"
FILTER = {"label": f"{ROLE_LABEL}={ROLE}"}
LIVES_S = 30
"""The container's life: it ends by itself if nobody removes the service."""
LEFT_BEHIND = timedelta(seconds=60)
MEMORY_BYTES = 32 << 20
OVER = frozenset({"complete", "shutdown", "failed", "rejected", "orphaned", "remove"})


def path_of(secret: str) -> str:
    return f"/run/secrets/{secret}"


def reader_service(name: str, image: str, node_id: str, secret_id: str, secret: str) -> Json:
    """Return the SDK's ``create_service`` arguments; they override the image's entry point and
    user."""
    file = {"Name": secret, "UID": "0", "GID": "0", "Mode": 0o400}
    return {
        "name": name,
        "labels": {ROLE_LABEL: ROLE},
        "mode": {"Replicated": {"Replicas": 1}},
        "endpoint_spec": {"Mode": "dnsrr"},
        "task_template": {
            "ContainerSpec": {
                "Image": image,
                "Command": ["sleep", str(LIVES_S)],
                "User": "0",
                "ReadOnly": True,
                "CapabilityDrop": ["ALL"],
                "StopSignal": "SIGKILL",
                "Healthcheck": {"Test": ["NONE"]},
                "Secrets": [{"SecretID": secret_id, "SecretName": secret, "File": file}],
            },
            "Resources": {"Limits": {"MemoryBytes": MEMORY_BYTES}},
            "RestartPolicy": {"Condition": "none"},
            "Placement": {"Constraints": [f"node.id=={node_id}"]},
            "LogDriver": {"Name": "none"},
        },
    }


def reader_image(services: Iterable[Json], secret: str) -> str:
    """Return the image for the reader; empty if there is none.

    It is the deployed proxy's image of the cluster whose members have the secret, because that is
    the smaller one; else the members' own. For a secret that no service has (a role's password) any
    cluster's image does."""
    listed = list(services)
    ours = [raw for raw in listed if labels_of(raw).get(CLUSTER_LABEL)]
    having = [raw for raw in ours if has(raw, secret)] or ours
    clusters = {labels_of(raw)[CLUSTER_LABEL] for raw in having}
    proxies = [
        raw
        for raw in listed
        if labels_of(raw).get(ROLE_LABEL) == "proxy"
        and labels_of(raw).get(CLUSTER_LABEL) in clusters
    ]
    images = [str(container_of(raw).get("Image") or "") for raw in [*proxies, *having]]
    return next((image for image in images if image), "")


def left_behind(readers: Iterable[Json], now: datetime) -> Iterator[str]:
    """Yield ids of readers that a stopped operator has left behind."""
    for raw in readers:
        if now - moment(raw.get("CreatedAt")) > LEFT_BEHIND:
            yield str(raw["ID"])


def engine_time(info: Json) -> datetime:
    return moment(info.get("SystemTime"))


def container_id(tasks: Iterable[Json]) -> str:
    """Return the running container; empty while there is none. ValueError if there never will
    be."""
    for task in tasks:
        status = task.get("Status") or {}
        if status.get("State") == "running":
            return str((status.get("ContainerStatus") or {}).get("ContainerID") or "")
        if status.get("State") in OVER:
            raise ValueError(status.get("Err") or status.get("Message") or status["State"])
    return ""


def what_it_waits_for(tasks: Iterable[Json]) -> str:
    """Return swarm's error of a task that does not start."""
    for task in tasks:
        status = task.get("Status") or {}
        return str(status.get("Err") or status.get("Message") or status.get("State") or "")
    return "no task was created"


def labels_of(raw: Json) -> Json:
    return (raw.get("Spec") or {}).get("Labels") or {}


def container_of(raw: Json) -> Json:
    return ((raw.get("Spec") or {}).get("TaskTemplate") or {}).get("ContainerSpec") or {}


def has(raw: Json, secret: str) -> bool:
    return any(item.get("SecretName") == secret for item in container_of(raw).get("Secrets") or [])
