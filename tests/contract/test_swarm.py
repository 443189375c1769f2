"""Contract of ``Swarm``: the fake and the real one."""

from __future__ import annotations

import dataclasses

import anyio
import pytest

from queenright.core.observed import SwarmState
from queenright.core.swarm.diff import diff
from queenright.core.swarm.objects import (
    HOST_NETWORK,
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
from queenright.ports.swarm import ConflictError, RejectedError, Swarm, UnavailableError

Labels = dict[str, str]


async def prepared(swarm: Swarm, name: str, labels: Labels) -> None:
    """A network, a config and a secret of the test's own, observed."""
    await swarm.create_network(Network(f"{name}-net", labels=labels))
    await swarm.create_config(Config(f"{name}-cfg", b"text\n", labels))
    await swarm.create_secret(Secret(f"{name}-sec", labels))
    await swarm.observe()


def full_service(name: str, labels: Labels) -> Service:
    """Every field with a value that is not Docker's default; no task, so no image is needed."""
    return Service(
        name=name,
        image="known:1",
        replicas=0,
        labels=labels,
        container_labels={"a": "b"},
        command=("sleep",),
        args=("1", "2"),
        environment={"A": "1=2", "B": ""},
        hostname="host",
        user="999",
        groups=("tty",),
        working_directory="/srv",
        init=True,
        tty=True,
        read_only=True,
        stop_signal="SIGUSR1",
        stop_grace_s=120.0,
        capabilities_added=("CAP_NET_ADMIN",),
        capabilities_dropped=("ALL",),
        hosts=("10.0.0.1 other",),
        networks=(Attachment(f"{name}-net", ("alias",)),),
        constraints=("node.labels.pg-node==1",),
        endpoint_mode="dnsrr",
        ports=(Port(15432, 5432), Port(15432, 5432, "udp")),
        mounts=(
            Mount("/data", source=f"{name}-data"),
            Mount("/tmp", kind="tmpfs", size_bytes=1 << 20, mode=0o1777),
        ),
        configs=(FileReference(f"{name}-cfg", "/etc/x", "999", "999", 0o400),),
        secrets=(FileReference(f"{name}-sec", "pw", "999", "999", 0o400),),
        health_check=HealthCheck(("CMD", "true"), 10.0, 5.0, 30.0, 3),
        resources=Resources(2 << 30, 512 << 20, 500_000_000, 100_000_000),
        restart=RestartPolicy("on-failure", 10.0, 5, 60.0),
        update=UpdatePolicy(2, 1.0, "start-first", "continue", 7.0, 0.5),
        rollback=UpdatePolicy(3, 2.0, "stop-first", "pause", 8.0, 0.25),
    )


async def seen(swarm: Swarm, name: str) -> tuple[SwarmState, Service]:
    state = await swarm.observe()
    live = state.service(name)
    assert live is not None
    return state, live.value


async def test_every_field_of_a_service_is_read_back_equal(
    swarm: Swarm, name: str, labels: Labels
) -> None:
    await prepared(swarm, name, labels)
    service = full_service(name, labels)
    await swarm.create_service(service)
    _, found = await seen(swarm, name)
    assert diff(service, found) == ()
    assert found == service


async def test_a_plain_service_shows_no_phantom_difference(
    swarm: Swarm, name: str, labels: Labels
) -> None:
    """Docker fills in its defaults: they are the core's own."""
    service = Service(name, "known:1", replicas=0, labels=labels)
    await swarm.create_service(service)
    _, found = await seen(swarm, name)
    assert diff(service, found) == ()


async def test_a_global_service(swarm: Swarm, name: str, labels: Labels) -> None:
    constraints = ("node.labels.nowhere==true",)
    service = Service(name, "known:1", mode="global", labels=labels, constraints=constraints)
    await swarm.create_service(service)
    assert (await seen(swarm, name))[1] == service


async def test_a_job(swarm: Swarm, name: str, labels: Labels) -> None:
    """It has no update policy, which swarm refuses, and nothing to say before it runs."""
    service = Service(
        name,
        "known:1",
        mode="replicated-job",
        labels=labels,
        constraints=("node.labels.nowhere==true",),
        restart=RestartPolicy("none"),
    )
    await swarm.create_service(service)
    state, found = await seen(swarm, name)
    assert found == service
    live = state.service(name)
    assert live is not None
    await anyio.sleep(0.5)
    tasks = list((await swarm.observe()).tasks_of(live.id))
    assert all(task.desired_state == "complete" and task.is_alive for task in tasks)
    assert "dumped" not in await swarm.service_output(live.id, 5)
    await swarm.remove_service(live.id)
    with pytest.raises(ConflictError):
        await swarm.service_output(live.id, 5)


async def test_a_service_in_the_nodes_own_network(swarm: Swarm, name: str, labels: Labels) -> None:
    """Swarm puts an id of its own in the network's place, which it lists nowhere."""
    service = Service(
        name,
        "known:1",
        mode="global",
        labels=labels,
        capabilities_added=("CAP_NET_ADMIN", "CAP_NET_RAW"),
        capabilities_dropped=("ALL",),
        networks=(Attachment(HOST_NETWORK),),
        constraints=("node.labels.nowhere==true",),
        endpoint_mode="dnsrr",
    )
    await swarm.create_service(service)
    state, found = await seen(swarm, name)
    assert diff(service, found) == ()
    live = state.service(name)
    assert live is not None
    changed = dataclasses.replace(service, environment={"A": "b"})
    await swarm.update_service(live.id, live.version, changed, live.force_update)
    assert (await seen(swarm, name))[1] == changed


async def test_an_update_and_a_stale_one(swarm: Swarm, name: str, labels: Labels) -> None:
    service = Service(name, "known:1", replicas=0, labels=labels)
    await swarm.create_service(service)
    state, _ = await seen(swarm, name)
    live = state.service(name)
    assert live is not None
    changed = dataclasses.replace(service, environment={"A": "b"})
    await swarm.update_service(live.id, live.version, changed, live.force_update)
    after, found = await seen(swarm, name)
    assert found == changed
    assert after.service(name).version > live.version  # type: ignore[union-attr]
    with pytest.raises(ConflictError):
        await swarm.update_service(live.id, live.version, service, live.force_update)


async def test_a_forced_update_is_counted(swarm: Swarm, name: str, labels: Labels) -> None:
    service = Service(name, "known:1", replicas=0, labels=labels)
    await swarm.create_service(service)
    live = (await swarm.observe()).service(name)
    assert live is not None
    await swarm.update_service(live.id, live.version, service, live.force_update + 1)
    again = (await swarm.observe()).service(name)
    assert again is not None
    assert (again.force_update, again.value) == (live.force_update + 1, service)


async def test_another_mode_is_rejected(swarm: Swarm, name: str, labels: Labels) -> None:
    service = Service(name, "known:1", replicas=0, labels=labels)
    await swarm.create_service(service)
    live = (await swarm.observe()).service(name)
    assert live is not None
    changed = dataclasses.replace(
        service, mode="global", constraints=("node.labels.nowhere==true",)
    )
    with pytest.raises((RejectedError, ConflictError)) as refused:
        await swarm.update_service(live.id, live.version, changed, 0)
    assert refused.type is RejectedError


async def test_names_are_taken_once(swarm: Swarm, name: str, labels: Labels) -> None:
    await prepared(swarm, name, labels)
    service = Service(name, "known:1", replicas=0, labels=labels)
    await swarm.create_service(service)
    with pytest.raises(ConflictError):
        await swarm.create_service(service)
    with pytest.raises(ConflictError):
        await swarm.create_network(Network(f"{name}-net", labels=labels))
    with pytest.raises(ConflictError):
        await swarm.create_config(Config(f"{name}-cfg", b"other", labels))
    with pytest.raises(ConflictError):
        await swarm.create_secret(Secret(f"{name}-sec", labels))


async def test_a_reference_to_what_is_gone_is_a_conflict(
    swarm: Swarm, name: str, labels: Labels
) -> None:
    await swarm.observe()
    file = FileReference(f"{name}-none", "/etc/x")
    with pytest.raises(ConflictError):
        await swarm.create_service(
            Service(name, "known:1", replicas=0, labels=labels, configs=(file,))
        )


async def test_what_is_in_use_is_not_removed(swarm: Swarm, name: str, labels: Labels) -> None:
    await prepared(swarm, name, labels)
    await swarm.create_service(full_service(name, labels))
    state = await swarm.observe()
    config = state.config(f"{name}-cfg")
    assert config is not None
    with pytest.raises(UnavailableError, match="in use by"):
        await swarm.remove_config(config.id)
    live = state.service(name)
    assert live is not None
    await swarm.remove_service(live.id)
    await swarm.remove_config(config.id)
    assert (await swarm.observe()).config(f"{name}-cfg") is None


async def test_what_is_gone_is_a_conflict(swarm: Swarm, name: str, labels: Labels) -> None:
    await prepared(swarm, name, labels)
    service = Service(name, "known:1", replicas=0, labels=labels)
    await swarm.create_service(service)
    state = await swarm.observe()
    live, config, network = (
        state.service(name),
        state.config(f"{name}-cfg"),
        state.network(f"{name}-net"),
    )
    assert live is not None
    assert config is not None
    assert network is not None
    await swarm.remove_service(live.id)
    await swarm.remove_config(config.id)
    await swarm.remove_network(network.id)
    for again in (
        swarm.remove_service(live.id),
        swarm.update_service(live.id, live.version, service, 0),
        swarm.adjust_service(live.id, live.version, service),
        swarm.label_config(config.id, config.version, config.value),
        swarm.remove_config(config.id),
        swarm.remove_network(network.id),
    ):
        with pytest.raises(ConflictError):
            await again


async def test_a_configs_labels_are_replaced_by_version(
    swarm: Swarm, name: str, labels: Labels
) -> None:
    await prepared(swarm, name, labels)
    live = (await swarm.observe()).config(f"{name}-cfg")
    assert live is not None
    assert (live.value.data, live.value.labels) == (b"text\n", labels)
    noted = dataclasses.replace(live.value, labels={**labels, "note": "x"})
    await swarm.label_config(live.id, live.version, noted)
    after = (await swarm.observe()).config(f"{name}-cfg")
    assert after is not None
    assert after.value == noted
    with pytest.raises(ConflictError):
        await swarm.label_config(live.id, live.version, noted)
