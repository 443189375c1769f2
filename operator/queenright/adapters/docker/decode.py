"""Decode Docker's JSON into the core's values.

Only normalises. Invariant: what ``encode`` writes is decoded as an equal value, and a setting that
the core does not model is in ``Service.other``.
"""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from queenright.adapters.docker.unknown_fields import remainder, unmodelled
from queenright.core.observed import NEVER, Live, LiveService, Node, Task
from queenright.core.swarm.objects import (
    Attachment,
    Config,
    FileReference,
    HealthCheck,
    Mount,
    Network,
    Port,
    Resources,
    RestartPolicy,
    Secret,
    Service,
    UpdatePolicy,
)
from queenright.core.swarm.one_object import one_data, one_texts, with_shared_parts

Json = dict[str, Any]
NANOSECONDS = 1_000_000_000
DEFAULT_GRACE_S = 10.0
DEFAULT_RESTART_DELAY_S = 5.0


def seconds(nanoseconds: int | None, default: float = 0.0) -> float:
    return default if nanoseconds is None else nanoseconds / NANOSECONDS


def moment(text: str | None) -> datetime:
    """Return Docker's RFC 3339 time, which has nanoseconds; ``NEVER`` if there is none."""
    if not text or text.startswith("0001-"):
        return NEVER
    at = datetime.fromisoformat(text)
    return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)


def decode_node(raw: Json) -> Node:
    spec, status = raw.get("Spec", {}), raw.get("Status", {})
    manager = raw.get("ManagerStatus") or {}
    address = status.get("Addr", "")
    if address in ("", "0.0.0.0") and manager.get("Addr"):  # noqa: S104  # swarm's value for unknown
        address = manager["Addr"].rpartition(":")[0]
    return Node(
        id=raw["ID"],
        name=raw.get("Description", {}).get("Hostname", raw["ID"]),
        address=address,
        role=spec.get("Role", "worker"),
        state=status.get("State", "unknown"),
        availability=spec.get("Availability", "active"),
        labels=dict(spec.get("Labels") or {}),
        version=raw["Version"]["Index"],
    )


def decode_task(raw: Json) -> Task:
    status = raw.get("Status", {})
    container = status.get("ContainerStatus") or {}
    return Task(
        id=raw["ID"],
        service_id=raw.get("ServiceID", ""),
        node_id=raw.get("NodeID", ""),
        state=status.get("State", "unknown"),
        desired_state=raw.get("DesiredState", ""),
        at=moment(status.get("Timestamp")),
        error=status.get("Err", ""),
        exit_code=container.get("ExitCode"),
        slot=raw.get("Slot", 0),
        addresses=decode_addresses(raw.get("NetworksAttachments") or []),
        image=((raw.get("Spec") or {}).get("ContainerSpec") or {}).get("Image", ""),
    )


def decode_addresses(items: list[Json]) -> dict[str, str]:
    """Return a task's address by the network's name; of several on one network, the first."""
    found = {}
    for item in items:
        name = ((item.get("Network") or {}).get("Spec") or {}).get("Name")
        addresses = item.get("Addresses") or []
        if isinstance(name, str) and addresses:
            found[name] = str(addresses[0]).partition("/")[0]
    return found


def decode_network(raw: Json) -> Live[Network]:
    pools = (raw.get("IPAM") or {}).get("Config") or []
    network = Network(
        name=raw["Name"],
        driver=raw.get("Driver", ""),
        attachable=raw.get("Attachable", False),
        internal=raw.get("Internal", False),
        subnet=pools[0].get("Subnet", "") if pools else "",
        labels=dict(raw.get("Labels") or {}),
    )
    return Live(raw["Id"], 0, network)


def decode_secret(raw: Json) -> Live[Secret]:
    spec = raw["Spec"]
    secret = Secret(spec["Name"], dict(spec.get("Labels") or {}))
    return Live(raw["ID"], raw["Version"]["Index"], secret)


def decode_config(raw: Json) -> Live[Config]:
    spec = raw["Spec"]
    data, labels = base64.b64decode(spec.get("Data") or ""), dict(spec.get("Labels") or {})
    config = Config(spec["Name"], one_data(data), one_texts(labels))
    return Live(raw["ID"], raw["Version"]["Index"], config)


def decode_service(raw: Json, networks: Mapping[str, str]) -> LiveService:
    """Return a service as observed; ``networks`` maps network ids to names."""
    spec: Json = raw["Spec"]
    status = raw.get("UpdateStatus") or {}
    previous = (raw.get("PreviousSpec") or {}).get("TaskTemplate", {}).get("ContainerSpec", {})
    return LiveService(
        id=raw["ID"],
        version=raw["Version"]["Index"],
        value=decode_service_spec(spec, networks),
        created_at=moment(raw.get("CreatedAt")),
        updated_at=moment(raw.get("UpdatedAt")),
        force_update=spec.get("TaskTemplate", {}).get("ForceUpdate", 0),
        update_state=status.get("State", ""),
        update_message=status.get("Message", ""),
        update_started_at=moment(status.get("StartedAt")),
        previous_configs=frozenset(c["ConfigName"] for c in previous.get("Configs") or []),
    )


def decode_service_spec(spec: Json, networks: Mapping[str, str]) -> Service:
    rest: Json = json.loads(json.dumps(spec))
    task = rest.pop("TaskTemplate", {})
    container = task.pop("ContainerSpec", {})
    task.pop("ForceUpdate", None)
    task.setdefault("Placement", {}).pop("Platforms", None)
    attached = task.pop("Networks", None) or rest.pop("Networks", None) or []
    rest.pop("Networks", None)
    endpoint = rest.pop("EndpointSpec", None) or {}
    parts = {
        **{name: container.get(name) for name in ("Mounts", "Configs", "Secrets", "Healthcheck")},
        "Networks": attached,
        "Ports": endpoint.get("Ports"),
        "Resources": task.get("Resources"),
    }
    extra = unmodelled(parts)
    mode, replicas = decode_mode(rest.pop("Mode", {}))
    service = Service(
        name=rest.pop("Name"),
        image=container.pop("Image", ""),
        mode=mode,
        replicas=replicas,
        labels=rest.pop("Labels", None) or {},
        container_labels=container.pop("Labels", None) or {},
        command=tuple(container.pop("Command", None) or ()),
        args=tuple(container.pop("Args", None) or ()),
        environment=decode_environment(container.pop("Env", None) or []),
        hostname=container.pop("Hostname", ""),
        user=container.pop("User", ""),
        groups=tuple(sorted(container.pop("Groups", None) or ())),
        working_directory=container.pop("Dir", ""),
        init=bool(container.pop("Init", False)),
        tty=container.pop("TTY", False),
        read_only=container.pop("ReadOnly", False),
        stop_signal=container.pop("StopSignal", ""),
        stop_grace_s=seconds(container.pop("StopGracePeriod", None), DEFAULT_GRACE_S),
        capabilities_added=tuple(sorted(container.pop("CapabilityAdd", None) or ())),
        capabilities_dropped=tuple(sorted(container.pop("CapabilityDrop", None) or ())),
        hosts=tuple(sorted(container.pop("Hosts", None) or ())),
        networks=tuple(sorted(decode_attachment(item, networks) for item in attached)),
        constraints=tuple(sorted(task["Placement"].pop("Constraints", None) or ())),
        endpoint_mode=endpoint.pop("Mode", None) or "vip",
        ports=tuple(sorted(decode_port(item) for item in endpoint.pop("Ports", None) or [])),
        mounts=tuple(sorted(decode_mount(item) for item in container.pop("Mounts", None) or [])),
        configs=decode_files(container.pop("Configs", None) or [], "ConfigName"),
        secrets=decode_files(container.pop("Secrets", None) or [], "SecretName"),
        health_check=decode_health_check(container.pop("Healthcheck", None)),
        resources=decode_resources(task.pop("Resources", None) or {}),
        restart=decode_restart(task.pop("RestartPolicy", None) or {}),
        update=decode_update(rest.pop("UpdateConfig", None) or {}),
        rollback=decode_update(rest.pop("RollbackConfig", None) or {}),
    )
    other = remainder("", {**rest, "TaskTemplate": {**task, "ContainerSpec": container}})
    other |= remainder("EndpointSpec", endpoint)
    return with_shared_parts(dataclasses.replace(service, other=other | extra))


def decode_mode(raw: Json) -> tuple[Any, int]:
    match raw:
        case {"Global": _}:
            return "global", 1
        case {"ReplicatedJob": job}:
            completions = (job or {}).get("TotalCompletions")
            return "replicated-job", 1 if completions is None else completions
        case {"GlobalJob": _}:
            return "global-job", 1
        case _:
            replicas = (raw.get("Replicated") or {}).get("Replicas")
            return "replicated", 1 if replicas is None else replicas


def decode_environment(items: list[str]) -> dict[str, str]:
    return {name: value for name, _, value in (item.partition("=") for item in items)}


def decode_attachment(raw: Json, networks: Mapping[str, str]) -> Attachment:
    target = raw["Target"]
    return Attachment(networks.get(target, target), tuple(sorted(raw.get("Aliases") or ())))


def decode_port(raw: Json) -> Port:
    return Port(
        published=raw.get("PublishedPort", 0),
        target=raw["TargetPort"],
        protocol=raw.get("Protocol", "tcp"),
        mode=raw.get("PublishMode", "ingress"),
    )


def decode_mount(raw: Json) -> Mount:
    tmpfs = raw.get("TmpfsOptions") or {}
    return Mount(
        target=raw["Target"],
        kind=raw.get("Type", "volume"),
        source=raw.get("Source", ""),
        read_only=raw.get("ReadOnly", False),
        size_bytes=tmpfs.get("SizeBytes", 0),
        mode=tmpfs.get("Mode", 0),
    )


def decode_files(items: list[Json], name: str) -> tuple[FileReference, ...]:
    return tuple(
        sorted(
            FileReference(
                name=item[name],
                target=item["File"]["Name"],
                uid=item["File"]["UID"],
                gid=item["File"]["GID"],
                mode=item["File"]["Mode"],
            )
            for item in items
            if item.get("File")
        )
    )


def decode_health_check(raw: Json | None) -> HealthCheck | None:
    if not raw:
        return None
    return HealthCheck(
        test=tuple(raw.get("Test") or ()),
        interval_s=seconds(raw.get("Interval")),
        timeout_s=seconds(raw.get("Timeout")),
        start_period_s=seconds(raw.get("StartPeriod")),
        retries=raw.get("Retries", 0),
    )


def decode_resources(raw: Json) -> Resources:
    limits, reservations = raw.get("Limits") or {}, raw.get("Reservations") or {}
    return Resources(
        memory_limit_bytes=limits.get("MemoryBytes", 0),
        memory_reservation_bytes=reservations.get("MemoryBytes", 0),
        cpu_limit_nanos=limits.get("NanoCPUs", 0),
        cpu_reservation_nanos=reservations.get("NanoCPUs", 0),
    )


def decode_restart(raw: Json) -> RestartPolicy:
    return RestartPolicy(
        condition=raw.get("Condition") or "any",
        delay_s=seconds(raw.get("Delay"), DEFAULT_RESTART_DELAY_S),
        max_attempts=raw.get("MaxAttempts") or 0,
        window_s=seconds(raw.get("Window")),
    )


def decode_update(raw: Json) -> UpdatePolicy:
    return UpdatePolicy(
        parallelism=raw.get("Parallelism", 1),
        delay_s=seconds(raw.get("Delay")),
        order=raw.get("Order") or "stop-first",
        failure_action=raw.get("FailureAction") or "pause",
        monitor_s=seconds(raw.get("Monitor"), 5.0),
        max_failure_ratio=raw.get("MaxFailureRatio", 0.0),
    )
