"""Who the members of a deployed cluster are, and where: fixed when they are first deployed.

A member's data is in its node's volumes, its number places it, and the others know it in Raft by
its address; so a line that is moved, renamed, added or taken away in the file moves none of them.
Decides from the anchor's note, or from the services where the anchor is gone. Invariant: the
desired state of a deployed cluster has exactly its deployed members, each under its own number.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from queenright.core.observed import LiveService, SwarmState
from queenright.core.plan import Hold
from queenright.core.resources import (
    ADDRESS_LABEL,
    BOOTSTRAPPED_LABEL,
    CLUSTER_LABEL,
    MEMBERS_LABEL,
    ROLE_LABEL,
)
from queenright.core.spec.postgres_cluster import Member, PostgresCluster


@dataclass(frozen=True, slots=True)
class Place:
    """Where a member is. Its number is its position, from 1 (spec: database-cluster §2.7)."""

    name: str
    node: str
    address: str


def encode_places(places: Sequence[Place]) -> str:
    """The anchor's note."""
    return json.dumps([[place.name, place.node, place.address] for place in places])


def decode_places(text: str) -> tuple[Place, ...]:
    """The places in a note; nothing where it is not one."""
    try:
        found = tuple(Place(*map(str, item)) for item in json.loads(text))
    except (ValueError, TypeError):
        return ()
    return found


def deployed_places(cluster: PostgresCluster, swarm: SwarmState) -> tuple[Place, ...]:
    """The members as they were deployed; nothing while there are none."""
    scope = cluster.metadata.name
    anchor = swarm.config(f"{scope}_cluster")
    notes = anchor.value.labels if anchor is not None else {}
    noted = decode_places(notes.get(MEMBERS_LABEL, ""))
    names = {f"{scope}_{place.name}" for place in noted}
    started = BOOTSTRAPPED_LABEL in notes or any(
        live.value.name in names for live in swarm.services
    )
    if noted and started:
        return noted
    found = {}
    for live in swarm.services:
        labels = live.value.labels
        if labels.get(CLUSTER_LABEL) == scope and labels.get(ROLE_LABEL) == "member":
            number = number_of(live)
            node = node_of(live, swarm)
            if number and node and ADDRESS_LABEL in labels:
                name = live.value.name.removeprefix(f"{scope}_")
                found[number] = Place(name, node, labels[ADDRESS_LABEL])
    complete = sorted(found) == list(range(1, len(found) + 1))
    return tuple(found[number] for number in sorted(found)) if complete else ()


def number_of(live: LiveService) -> int:
    """The number that the service's constraint names, 0 when it names none."""
    for constraint in live.value.constraints:
        value = constraint.rpartition("==")[2].strip()
        if value.isdigit():
            return int(value)
    return 0


def node_of(live: LiveService, swarm: SwarmState) -> str:
    """The node that the service's label constraint means, or its task is on; empty if unknown."""
    for constraint in live.value.constraints:
        key, _, value = constraint.removeprefix("node.labels.").partition("==")
        nodes = [n.name for n in swarm.nodes if n.labels.get(key.strip()) == value.strip()]
        if len(nodes) == 1:
            return nodes[0]
    tasks = sorted(swarm.tasks_of(live.id), key=lambda task: task.at)
    node = swarm.node_by_id(tasks[-1].node_id) if tasks else None
    return node.name if node else ""


def with_deployed_members(cluster: PostgresCluster, places: Sequence[Place]) -> PostgresCluster:
    """The document with the deployed members in place of its own; what else it says of a member
    (its failover priority) goes by name. Proxies on just the file's member nodes stay with the
    deployed members, as does one that follows a moved line."""
    if not places:
        return cluster
    written = {member.name: member for member in cluster.spec.members}
    members = tuple(
        deployed_member(place, written.get(place.name), position)
        for position, place in enumerate(places)
    )
    moved = {
        written[place.name].node: place.node
        for place in places
        if place.name in written and written[place.name].node != place.node
    }
    kept = {place.node for place in places}
    listed = cluster.spec.proxies.nodes
    if {*listed} == {member.node for member in cluster.spec.members}:
        nodes = [place.node for place in places]
    else:
        nodes = [moved.get(name, name) if name not in kept else name for name in listed]
    proxies = cluster.spec.proxies.model_copy(update={"nodes": tuple(dict.fromkeys(nodes))})
    spec = cluster.spec.model_copy(update={"members": members, "proxies": proxies})
    return cluster.model_copy(update={"spec": spec})


def deployed_member(place: Place, written: Member | None, position: int) -> Member:
    """A member in its place, with the failover priority that the file writes for it; one that is
    not written goes by its number, not by its line."""
    values = {"name": place.name, "node": place.node, "address": place.address}
    if written is None or "failover_priority" not in written.model_fields_set:
        return Member.model_validate(values).with_default_priority(position)
    return Member.model_validate({**values, "failoverPriority": written.failover_priority})


def membership_holds(
    cluster: PostgresCluster, places: Sequence[Place], nodes: Mapping[str, str]
) -> Iterator[Hold]:
    """Each way in which the file's members are not the deployed ones; ``nodes`` maps the swarm's
    node names to their addresses."""
    scope = cluster.metadata.name
    written = {member.name: member for member in cluster.spec.members}
    deployed = {place.name: place for place in places}
    for name, place in deployed.items():
        member = written.get(name)
        if member is None:
            yield membership_hold(
                scope,
                name,
                f"{name} is no longer in the file, and is kept on {place.node}: members of a "
                "deployed cluster are not removed by themselves; write it again",
            )
            continue
        address = member.address or nodes.get(member.node, place.address)
        if member.node != place.node:
            yield membership_hold(
                scope,
                name,
                f"{name} would move from {place.node} to {member.node}: its data is on "
                f"{place.node}, so it stays; write node: {place.node} again",
            )
        elif address != place.address:
            yield membership_hold(
                scope,
                name,
                f"{name} would move from {place.address} to {address}: the other members know it "
                f"in Raft by its old address, so it stays; write address: {place.address}",
            )
    for name in written if places else ():
        if name not in deployed:
            yield membership_hold(
                scope,
                name,
                f"{name} is new in the file: members are not added to a deployed cluster by "
                "themselves",
            )


def stray_holds(scope: str, places: Sequence[Place], swarm: SwarmState) -> Iterator[Hold]:
    """Member services under our labels that the deployed cluster does not know of."""
    known = {f"{scope}_{place.name}" for place in places}
    for name in strays(scope, known, swarm) if places else ():
        yield Hold(
            f"membership/{name}",
            f"service {name} is labelled as a member of {scope}, and was not deployed as one: it "
            "is kept, and no member is restarted beside it; remove it by hand if it is not wanted",
            wants_attention=True,
        )


def strays(scope: str, known: Collection[str], swarm: SwarmState) -> Iterator[str]:
    """Names of services that are labelled as members, and are none of the known ones."""
    for live in swarm.services:
        labels = live.value.labels
        ours = labels.get(CLUSTER_LABEL) == scope and labels.get(ROLE_LABEL) == "member"
        if ours and live.value.name not in known:
            yield live.value.name


def membership_hold(scope: str, name: str, reason: str) -> Hold:
    return Hold(f"membership/{scope}_{name}", reason, wants_attention=True)
