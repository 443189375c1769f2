"""Status of a cluster without a valid file, read from the Swarm objects.

Decides from the labels of what is deployed. Invariant: nothing is compared and nothing is planned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from queenright.core.kinds.postgres_cluster.membership import node_of
from queenright.core.kinds.postgres_cluster.status.rows import (
    UNKNOWN,
    ClusterStatus,
    MemberRow,
    ProxyRow,
    answered,
    proxy_row,
)
from queenright.core.observed import Known, LiveService, Observed, SwarmState
from queenright.core.planning.plan import Plan
from queenright.core.swarm.label_values import read_whole
from queenright.core.swarm.objects import ADDRESS_LABEL, CLUSTER_LABEL, ROLE_LABEL


@dataclass(frozen=True, slots=True)
class LiveMember:
    """A member as deployed; ``rest_port`` is None where its service does not define it."""

    service: str
    name: str
    address: str
    rest_port: int | None


def live_members(cluster: str, swarm: SwarmState) -> Iterator[LiveMember]:
    """The members of a cluster, by the labels of their services."""
    for live in sorted(swarm.services, key=lambda one: one.value.name):
        labels = live.value.labels
        if labels.get(CLUSTER_LABEL) != cluster or labels.get(ROLE_LABEL) != "member":
            continue
        node = swarm.node(node_of(live, swarm))
        address = labels.get(ADDRESS_LABEL) or (node.address if node else "")
        name = live.value.name.removeprefix(f"{cluster}_")
        yield LiveMember(live.value.name, name, address, rest_port(live))


def rest_port(live: LiveService) -> int | None:
    """The port of the REST API, which the health check asks."""
    check = live.value.health_check
    port = read_whole(check.test[-1]) if check is not None and check.test else None
    return port if port is not None and 0 < port < 65536 else None


def live_cluster(name: str, swarm: SwarmState, observed: Observed) -> ClusterStatus:
    """A cluster that is in the swarm, with its members' answers."""
    return ClusterStatus(
        name,
        tuple(live_row(member, observed) for member in live_members(name, swarm)),
        tuple(live_proxies(name, swarm)),
        Plan(name, ""),
        is_compared=False,
    )


def live_row(member: LiveMember, observed: Observed) -> MemberRow:
    reading = observed.members.get(member.service)
    if isinstance(reading, Known):
        copy = observed.copies.get(member.service)
        return answered(member.name, member.address, reading.value, copy)
    why = reading.why if reading is not None else "its service does not define its REST API's port"
    return MemberRow(member.name, member.address, "", UNKNOWN, remark=why)


def live_proxies(cluster: str, swarm: SwarmState) -> Iterator[ProxyRow]:
    for live in swarm.index.services_labelled(CLUSTER_LABEL, cluster):
        if live.value.labels.get(ROLE_LABEL) == "proxy":
            nodes = {task.node_id for task in swarm.tasks_of(live.id) if task.is_alive}
            for node in sorted(swarm.nodes, key=lambda one: one.name):
                if node.id in nodes:
                    yield proxy_row(node, live, swarm)
