"""The virtual address: keepalived on the proxies' nodes, replaced whole where they could not hear
each other, removed when the file no longer names it.

Invariant: what all nodes must agree on is never rolled one node after the other, since old and new
nodes would not hear each other, and each side would hold the address.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from queenright.core.actions import Action, RemoveService
from queenright.core.observed import LiveService
from queenright.core.pinning import pin_image
from queenright.core.plan import Hold
from queenright.core.resources import CLUSTER_LABEL, ROLE_LABEL, VIP_ROLE, VRRP_LABEL
from queenright.core.servicing import plan_service
from queenright.core.situation import Situation
from queenright.core.vip import NO_INTERFACE_STATUS, DesiredVip

LOOKS_AGAIN = timedelta(seconds=1)


def plan_vip(situation: Situation) -> Iterator[Action | Hold]:
    desired, swarm = situation.desired, situation.swarm
    vip = desired.vip
    yield from remove_unwanted(situation)
    if vip is None:
        return
    if vip.missing:
        yield Hold(
            f"vip/{desired.name}",
            f"the virtual address stays as it is: the address of {', '.join(vip.missing)}, which "
            "is to be a peer, is not known",
            wants_attention=True,
        )
        return
    if any(node.address == vip.address for node in swarm.nodes):
        return  # placement tells it
    if swarm.config(vip.config.name) is None or (
        vip.secret is not None and swarm.secret(vip.secret.name) is None
    ):
        return
    live = swarm.service(vip.service.name)
    if live is not None and differs_in_identity(vip, live):
        yield replace_whole(situation, vip, live)
        return
    if live is None and (node := still_ending(situation)):
        yield Hold(
            f"create-service/{vip.service.name}",
            f"{vip.service.name} waits until tasks of a removed service have ended on {node}: one "
            "of them may still have the address",
            situation.now + LOOKS_AGAIN,
        )
        return
    yield from plan_service(situation, vip.service, obstacle=None)
    if live is not None:
        yield from missing_interfaces(situation, vip, live)


def still_ending(situation: Situation) -> str:
    """A ready node on which a task of a removed service still runs; empty when there is none.
    Whose it was, swarm does not tell any more."""
    swarm = situation.swarm
    known = {live.id for live in swarm.services}
    for task in swarm.tasks:
        node = swarm.node_by_id(task.node_id)
        ending = task.service_id not in known and task.state == "running"
        if ending and node is not None and node.state == "ready":
            return node.name
    return ""


def differs_in_identity(vip: DesiredVip, live: LiveService) -> bool:
    """Whether the deployed nodes would not hear the desired ones. A label that is gone was taken
    off by hand, and is put back like any other."""
    deployed = live.value.labels.get(VRRP_LABEL, "")
    return bool(deployed) and deployed != vip.service.labels[VRRP_LABEL]


def replace_whole(situation: Situation, vip: DesiredVip, live: LiveService) -> Action | Hold:
    """Stops all nodes, so that the next pass starts all of them; not before the image is there."""
    pinned = pin_image(situation, vip.service, live)
    if isinstance(pinned, Hold):
        return pinned
    return RemoveService(
        live.id,
        live.value.name,
        reason=f"{live.value.name} is made anew: routerId, peers, interface, authentication or "
        "advertInterval has changed, and nodes that differ in it would each hold "
        f"{vip.address}; it is away for some seconds",
    )


def remove_unwanted(situation: Situation) -> Iterator[Action]:
    """keepalived's service of this cluster, where the file has no virtual address any more."""
    if situation.desired.vip is not None:
        return
    for live in situation.swarm.services:
        labels = live.value.labels
        if (
            labels.get(CLUSTER_LABEL) == situation.desired.name
            and labels.get(ROLE_LABEL) == VIP_ROLE
        ):
            secrets = ", ".join(f"secret {item.name}" for item in live.value.secrets)
            yield RemoveService(
                live.id,
                live.value.name,
                reason="the file has no virtual address any more"
                + (f"; this stays: {secrets}" if secrets else ""),
            )


def missing_interfaces(situation: Situation, vip: DesiredVip, live: LiveService) -> Iterator[Hold]:
    """Nodes on which keepalived's last task ended for want of the interface, by its exit status."""
    for node in situation.swarm.nodes:
        tasks = [t for t in situation.swarm.tasks_of(live.id) if t.node_id == node.id]
        ended = [task for task in tasks if task.exit_code is not None]
        runs = any(task.state == "running" for task in tasks)
        last = max(ended, key=lambda task: task.at, default=None)
        if last is not None and not runs and last.exit_code == NO_INTERFACE_STATUS:
            yield Hold(
                f"vip/{situation.desired.name}/{node.name}",
                f"node {node.name} has no interface {vip.interface}, so it can't hold "
                f"{vip.address}: correct spec.vip.interface (ip link, on the node, shows them)",
                wants_attention=True,
            )
