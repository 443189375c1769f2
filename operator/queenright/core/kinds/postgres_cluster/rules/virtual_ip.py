"""Rule for the virtual address: keepalived on the proxies' nodes.

Replaced whole where the nodes could not hear each other, removed when the file no longer names it.
Invariant: settings that all nodes must share are never rolled out one node after the other, since
old and new nodes would not hear each other, and each side would hold the address.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from queenright.core.actions import AnyAction, RemoveService
from queenright.core.kinds.postgres_cluster.desired.virtual_ip import (
    NO_INTERFACE_STATUS,
    DesiredVip,
)
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import LiveService
from queenright.core.planning.images import pin_image
from queenright.core.planning.plan import Hold
from queenright.core.planning.service_rollout import plan_service
from queenright.core.swarm.objects import CLUSTER_LABEL, ROLE_LABEL, VIP_ROLE, VRRP_LABEL

LOOKS_AGAIN = timedelta(seconds=1)


def plan_vip(state: ClusterState) -> Iterator[AnyAction | Hold]:
    desired, swarm = state.desired, state.swarm
    vip = desired.vip
    yield from remove_unwanted(state)
    if vip is None:
        return
    if vip.missing:
        yield Hold(
            f"vip/{desired.name}",
            f"virtual address {vip.address}: not changed (the address of {', '.join(vip.missing)}, "
            "which is to be a peer, is not known)",
            wants_attention=True,
        )
        return
    if swarm.index.nodes_with_address(vip.address):
        return  # the placement check reports it
    if swarm.config(vip.config.name) is None or (
        vip.secret is not None and swarm.secret(vip.secret.name) is None
    ):
        return
    live = swarm.service(vip.service.name)
    if live is not None and differs_in_identity(vip, live):
        yield replace_whole(state, vip, live)
        return
    if live is None and (node := still_ending(state)):
        yield Hold(
            f"create-service/{vip.service.name}",
            f"{vip.service.name}: not created yet (a task of a removed service on {node} may still "
            "hold the address)",
            state.now + LOOKS_AGAIN,
        )
        return
    yield from plan_service(state, vip.service, obstacle=None)
    if live is not None:
        yield from missing_interfaces(state, vip, live)


def still_ending(state: ClusterState) -> str:
    """A ready node where a task of a removed service may still run; empty when there is none.

    Swarm does not know any more to which service it belonged.
    """
    swarm = state.swarm
    for task in swarm.index.ownerless_tasks:
        node = swarm.node_by_id(task.node_id)
        if swarm.may_run(task) and node is not None and node.state == "ready":
            return node.name
    return ""


def differs_in_identity(vip: DesiredVip, live: LiveService) -> bool:
    """True if the deployed nodes would not hear the desired ones.

    A label that is gone was removed by hand, and is written again like any other.
    """
    deployed = live.value.labels.get(VRRP_LABEL, "")
    return bool(deployed) and deployed != vip.service.labels[VRRP_LABEL]


def replace_whole(state: ClusterState, vip: DesiredVip, live: LiveService) -> AnyAction | Hold:
    """Stop all nodes, so that the next pass starts all of them; only once the image is there."""
    pinned = pin_image(state, vip.service, live)
    if isinstance(pinned, Hold):
        return pinned
    return RemoveService(
        live.id,
        live.value.name,
        reason=f"{live.value.name} is replaced as a whole: routerId, peers, interface, "
        "authentication or advertInterval has changed, and nodes that differ in it would each hold "
        f"{vip.address}; no node holds it for some seconds",
    )


def remove_unwanted(state: ClusterState) -> Iterator[AnyAction]:
    """keepalived's service of this cluster, where the file has no virtual address any more."""
    if state.desired.vip is not None:
        return
    for live in state.swarm.index.services_labelled(CLUSTER_LABEL, state.desired.name):
        if live.value.labels.get(ROLE_LABEL) == VIP_ROLE:
            secrets = ", ".join(f"secret {item.name}" for item in live.value.secrets)
            yield RemoveService(
                live.id,
                live.value.name,
                reason="the file no longer has a virtual address"
                + (f"; this stays: {secrets}" if secrets else ""),
            )


def missing_interfaces(state: ClusterState, vip: DesiredVip, live: LiveService) -> Iterator[Hold]:
    """Holds for nodes where keepalived's last task ended because the interface is missing.

    A further task that swarm prepares or starts does not end the hold, a running one does:
    swarm tries again every few seconds, and the hold would come and go with each attempt.
    """
    found = [*state.swarm.tasks_of(live.id)]
    known = (state.swarm.node_by_id(task.node_id) for task in found)
    for node in state.swarm.index.nodes_about((one.name for one in known if one), ()):
        tasks = [t for t in found if t.node_id == node.id]
        # Docker reports exit code 0 for a container that has not ended.
        ended = [t for t in tasks if t.state in {"failed", "complete"} and t.at >= live.updated_at]
        runs = any(task.state == "running" for task in tasks)
        last = max(ended, key=lambda task: task.at, default=None)
        if last is not None and not runs and last.exit_code == NO_INTERFACE_STATUS:
            yield Hold(
                f"vip/{state.desired.name}/{node.name}",
                f"node {node.name}: has no interface {vip.interface}, so it can't hold "
                f"{vip.address}; correct spec.vip.interface (ip link, on the node, lists them)",
                wants_attention=True,
            )
