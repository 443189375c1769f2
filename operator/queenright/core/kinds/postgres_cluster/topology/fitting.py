"""Reasons why a member can't be where the file has it, which a person has to mend.

Decides from the document, the swarm's nodes and what answers there. Invariant: a node that another
member needs, that is not ready, or whose address the access rules reject, takes nobody.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.desired.services import service_name
from queenright.core.kinds.postgres_cluster.places import numbers_of, with_place, without_place
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.replaced import is_within
from queenright.core.kinds.postgres_cluster.topology.settled import is_silent, raft_address
from queenright.core.kinds.postgres_cluster.topology.wanted import Arrival, arrival_key
from queenright.core.observed import Known, Node
from queenright.core.swarm.label_values import read_whole

CLONE_SENDERS = 2
"""WAL senders that a base backup takes beside the replicas' streams."""


def why_not_here(state: ClusterState, arrival: Arrival, beside: int | None = None) -> str | None:
    """Reason why a person has to act before this member can be added ``beside`` so many others
    (None: the present ones); None when nobody has to."""
    return next(misfits(state, arrival, beside), None)


def misfits(state: ClusterState, arrival: Arrival, beside: int | None = None) -> Iterator[str]:
    """Yield each reason for which this member can't be added beside so many others."""
    desired, swarm = state.desired, state.swarm
    node = swarm.node(arrival.node)
    if node is None or not arrival.address:
        yield f"the swarm has no node {arrival.node}; add that node, or correct the file"
        return
    if rejected := why_rejected(state, arrival):
        yield rejected
    for place in desired.topology.places:
        if arrival.name == place.name:
            continue  # it moves, and its former place is free by then
        if arrival.node == place.node:
            yield f"{place.name} is on {place.node}; write another node, or {place.name} again"
        elif arrival.address == place.address:
            yield f"{place.name} has the address {place.address}; write another one"
    if not node.is_ready:
        what = node.state if node.state != "ready" else f"set to {node.availability}"
        yield f"node {node.name} is {what}; bring it back, or write another node"
    yield from label_misfits(state, arrival)
    name = service_name(desired.name, arrival.name)
    moves = any(place.name == arrival.name for place in desired.topology.places)
    if swarm.service(name) is not None and not moves:
        yield f"there is a service {name} already; remove it if nobody needs it"
    if answers_there(state, arrival):
        where = f"{arrival.address}:{desired.raft_port}"
        yield f"a Raft node answers at {where} already; stop what runs there"
    parameters = desired.settings.get("postgresql", {}).get("parameters", {})
    senders = read_whole(parameters.get("max_wal_senders", ""))
    count = len(desired.members) if beside is None else beside
    streams = count - 1
    if not moves and senders is not None and streams + CLONE_SENDERS > senders:
        yield (
            f"max_wal_senders is {senders}, and {count} members need "
            f"{streams} and {CLONE_SENDERS} more for a copy; write a higher one"
        )


def why_rejected(state: ClusterState, arrival: Arrival) -> str:
    """Reason why the others reject this member's connections; empty where they do not."""
    subnet = state.desired.topology.lan_subnet
    if not subnet or is_within(arrival.address, IPv4Network(subnet)):
        return ""
    return (
        f"{arrival.node} has the address {arrival.address}, which is outside lanSubnet {subnet}; "
        "write an address: inside it, or another node"
    )


def answers_there(state: ClusterState, arrival: Arrival) -> bool:
    """Return True if a Raft node answers at the place already that is not the member's own: on a
    node that has its former address and the new one, the member answers at both. A node that the
    swarm does not have under its noted name may be this one."""
    answer = state.observed.raft.get(arrival_key(state.desired.name, arrival))
    member = state.member(arrival.name)
    own = ""
    if member is not None and (member.node == arrival.node or not state.swarm.node(member.node)):
        own = raft_address(state, member)
    return isinstance(answer, Known) and (not own or answer.value.address != own)


def label_misfits(state: ClusterState, arrival: Arrival) -> Iterator[str]:
    """Yield nodes whose label would place the member elsewhere, or another one on its node."""
    key, places = state.desired.member_label, state.desired.topology.places
    own = {place.name: str(n) for n, place in zip(numbers_of(places), places, strict=True)}
    left = without_place(places, arrival.name)
    scope = state.desired.name
    after = with_place(left, arrival.name, arrival.node, arrival.address, scope)
    numbers = {place.name: n for n, place in zip(numbers_of(after), after, strict=True)}
    number = str(numbers[arrival.name])
    mover = state.member(arrival.stands_for or arrival.name)
    for node in state.swarm.nodes:
        value = node.labels.get(key)
        if mover is not None and value is not None and value == own.get(mover.name):
            if node.name == arrival.node and runs_under_new_name(state, mover, node):
                yield (
                    f"{mover.name} runs on {node.name}, and the swarm has no node {mover.node}; "
                    f"write address: {mover.address} beside that name (another one afterwards)"
                )
                continue
            if mover.name == arrival.name:
                continue  # its own, of its former place
        if value is not None and (node.name == arrival.node or value == number):
            yield (
                f"node {node.name} has the label {key}={value} already; the operator takes its own "
                f"away, remove any other: docker node update --label-rm {key} {node.name}"
            )


def runs_under_new_name(state: ClusterState, member: DesiredMember, node: Node) -> bool:
    """Return True for a member that answers, and has its task on a node with another name than the
    one that is noted for it, which the swarm has no more."""
    if state.swarm.node(member.node) is not None or is_silent(state, member):
        return False
    live = state.swarm.service(member.service.name)
    tasks = state.swarm.possible_tasks(live.id) if live is not None else ()
    return any(task.node_id == node.id for task in tasks)
