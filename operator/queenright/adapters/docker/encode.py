"""Encode the core's values as Docker's JSON.

Invariant: every setting is written out, so that the engine's own defaults never decide.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from queenright.core.swarm.objects import (
    HOST_NETWORK,
    FileReference,
    Mount,
    Resources,
    Service,
    UpdatePolicy,
)

Json = dict[str, Any]
NANOSECONDS = 1_000_000_000


def nanoseconds(value_s: float) -> int:
    return round(value_s * NANOSECONDS)


def encode_service(
    service: Service,
    force_update: int,
    networks: Mapping[str, str],
    configs: Mapping[str, str],
    secrets: Mapping[str, str],
) -> Json:
    """Return the service's specification for the engine; the mappings give ids by object name.

    Raises KeyError for a name that the swarm does not have.
    """
    task: Json = {
        "ContainerSpec": encode_container(service, configs, secrets),
        "Resources": encode_resources(service.resources),
        "RestartPolicy": {
            "Condition": service.restart.condition,
            "Delay": nanoseconds(service.restart.delay_s),
            "MaxAttempts": service.restart.max_attempts,
            "Window": nanoseconds(service.restart.window_s),
        },
        "Placement": {"Constraints": list(service.constraints)},
        "Networks": [
            {"Target": target_of(item.network, networks), "Aliases": list(item.aliases)}
            for item in service.networks
        ],
        "ForceUpdate": force_update,
    }
    is_job = service.mode.endswith("-job")
    return {
        "Name": service.name,
        "Labels": dict(service.labels),
        "TaskTemplate": task,
        "Mode": encode_mode(service),
        "UpdateConfig": None if is_job else encode_update(service.update),
        "RollbackConfig": None if is_job else encode_update(service.rollback),
        "EndpointSpec": {
            "Mode": service.endpoint_mode,
            "Ports": [
                {
                    "Protocol": port.protocol,
                    "TargetPort": port.target,
                    "PublishedPort": port.published,
                    "PublishMode": port.mode,
                }
                for port in service.ports
            ],
        },
    }


def encode_mode(service: Service) -> Json:
    """Return the mode. A job's replicas are its completions, all at once; it has no update
    policy."""
    match service.mode:
        case "global":
            return {"Global": {}}
        case "global-job":
            return {"GlobalJob": {}}
        case "replicated-job":
            count = service.replicas
            return {"ReplicatedJob": {"MaxConcurrent": count, "TotalCompletions": count}}
        case _:
            return {"Replicated": {"Replicas": service.replicas}}


def target_of(network: str, networks: Mapping[str, str]) -> str:
    """Return a network's id; swarm finds the node's predefined network by its name."""
    return HOST_NETWORK if network == HOST_NETWORK else networks[network]


def adjusted(spec: Json, service: Service) -> Json:
    """Return the engine's own ``spec`` with only those settings of ``service`` that restart no task
    (swarmkit: ``IsTaskDirty`` compares the task template and the endpoint)."""
    fresh = spec | {
        "Labels": dict(service.labels),
        "UpdateConfig": encode_update(service.update),
        "RollbackConfig": encode_update(service.rollback),
    }
    if "Replicated" in (spec.get("Mode") or {}):
        fresh["Mode"] = {"Replicated": {"Replicas": service.replicas}}
    return fresh


def encode_container(
    service: Service, configs: Mapping[str, str], secrets: Mapping[str, str]
) -> Json:
    check = service.health_check
    return {
        "Image": service.image,
        "Labels": dict(service.container_labels),
        "Command": list(service.command),
        "Args": list(service.args),
        "Env": [f"{name}={value}" for name, value in sorted(service.environment.items())],
        "Hostname": service.hostname,
        "User": service.user,
        "Groups": list(service.groups),
        "Dir": service.working_directory,
        "Init": service.init,
        "TTY": service.tty,
        "ReadOnly": service.read_only,
        "StopSignal": service.stop_signal,
        "StopGracePeriod": nanoseconds(service.stop_grace_s),
        "CapabilityAdd": list(service.capabilities_added),
        "CapabilityDrop": list(service.capabilities_dropped),
        "Hosts": list(service.hosts),
        "Mounts": [encode_mount(mount) for mount in service.mounts],
        "Configs": [
            {"ConfigID": configs[item.name], "ConfigName": item.name, "File": encode_file(item)}
            for item in service.configs
        ],
        "Secrets": [
            {"SecretID": secrets[item.name], "SecretName": item.name, "File": encode_file(item)}
            for item in service.secrets
        ],
        "Healthcheck": None
        if check is None
        else {
            "Test": list(check.test),
            "Interval": nanoseconds(check.interval_s),
            "Timeout": nanoseconds(check.timeout_s),
            "StartPeriod": nanoseconds(check.start_period_s),
            "Retries": check.retries,
        },
    }


def encode_mount(mount: Mount) -> Json:
    raw: Json = {"Type": mount.kind, "Target": mount.target, "ReadOnly": mount.read_only}
    if mount.kind == "tmpfs":
        return raw | {"TmpfsOptions": {"SizeBytes": mount.size_bytes, "Mode": mount.mode}}
    return raw | {"Source": mount.source}


def encode_file(item: FileReference) -> Json:
    return {"Name": item.target, "UID": item.uid, "GID": item.gid, "Mode": item.mode}


def encode_resources(resources: Resources) -> Json:
    return {
        "Limits": {
            "MemoryBytes": resources.memory_limit_bytes,
            "NanoCPUs": resources.cpu_limit_nanos,
        },
        "Reservations": {
            "MemoryBytes": resources.memory_reservation_bytes,
            "NanoCPUs": resources.cpu_reservation_nanos,
        },
    }


def encode_update(policy: UpdatePolicy) -> Json:
    return {
        "Parallelism": policy.parallelism,
        "Delay": nanoseconds(policy.delay_s),
        "Order": policy.order,
        "FailureAction": policy.failure_action,
        "Monitor": nanoseconds(policy.monitor_s),
        "MaxFailureRatio": policy.max_failure_ratio,
    }


def arguments_of(spec: Json) -> tuple[Json, Json]:
    """Return a service specification as the SDK's arguments: the task template, and keywords."""
    return spec["TaskTemplate"], {
        "name": spec["Name"],
        "labels": spec["Labels"],
        "mode": spec["Mode"],
        "update_config": spec["UpdateConfig"],
        "rollback_config": spec["RollbackConfig"],
        "endpoint_spec": spec["EndpointSpec"],
    }
