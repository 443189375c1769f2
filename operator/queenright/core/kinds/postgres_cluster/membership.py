"""Members of a deployed cluster and their nodes: its places, noted in the state config.

A line that is added, taken away, moved or renamed in the file takes effect step by step
(``topology``). Decides from the annotation in the state config (``places``), or from the services
where that config is gone. Invariant: the desired state of a deployed cluster has exactly the noted
members, each under its own number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from queenright.core.kinds.postgres_cluster.annotations import noted_labels
from queenright.core.kinds.postgres_cluster.desired.services import PROXY_LABEL_VALUE
from queenright.core.kinds.postgres_cluster.in_place.note import RESTORED_LABEL
from queenright.core.kinds.postgres_cluster.places import (
    VOLUMES,
    DeployedMember,
    decode_places,
    is_member,
    numbered,
    numbers_of,
)
from queenright.core.kinds.postgres_cluster.renamed_nodes import with_present_names
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.kinds.postgres_cluster.schema.members import Member
from queenright.core.manifest.remembered import MOST_TEXTS
from queenright.core.observed import LiveService, SwarmState
from queenright.core.observed.constraints import read_constraint
from queenright.core.planning.plan import Hold
from queenright.core.planning.service_context import answered_once
from queenright.core.swarm.label_values import read_whole, shape_of
from queenright.core.swarm.objects import (
    ADDRESS_LABEL,
    BOOTSTRAPPED_LABEL,
    CLUSTER_LABEL,
    MEMBERS_LABEL,
    ROLE_LABEL,
)


def deployed_members(cluster: PostgresCluster, swarm: SwarmState) -> tuple[DeployedMember, ...]:
    """The members as they were deployed; nothing while there are none."""
    return _members_in(swarm, cluster)


@answered_once
def _members_in(swarm: SwarmState, cluster: PostgresCluster) -> tuple[DeployedMember, ...]:
    scope = cluster.metadata.name
    annotations = noted_labels(scope, swarm)
    recorded = decode_places(annotations.get(MEMBERS_LABEL, ""))
    names = {f"{scope}_{place.name}" for place in recorded}
    noted = BOOTSTRAPPED_LABEL in annotations or RESTORED_LABEL in annotations
    started = noted or any(map(swarm.service, names))
    if recorded and started:
        return with_present_names(recorded, cluster, swarm)
    found = {}
    for live in swarm.index.services_labelled(CLUSTER_LABEL, scope):
        labels = live.value.labels
        if labels.get(ROLE_LABEL) == "member":
            number = number_of(live)
            node = node_of(live, swarm)
            name, address = live.value.name.removeprefix(f"{scope}_"), labels.get(ADDRESS_LABEL, "")
            if number and node and is_member(name, node, address):
                found[number] = DeployedMember(name, node, address, 0, volumes_of(live))
    written = {member.name for member in cluster.spec.members}
    is_written = {place.name for place in found.values()} == written
    complete = is_written or sorted(found) == list(range(1, len(found) + 1))
    return numbered(found) if complete else ()


def number_of(live: LiveService) -> int:
    """The number that the service's constraint names, 0 when it names none."""
    for text in live.value.constraints:
        found = read_constraint(text)
        number = read_whole(found.value) if found is not None and found.is_equal else None
        if number is not None:
            return number
    return 0


def volumes_of(live: LiveService) -> str:
    """The service after which the volumes are named; empty where it is this one, or unknown."""
    for mount in live.value.mounts:
        base = mount.source.removesuffix("-data")
        if mount.kind == "volume" and base not in {mount.source, live.value.name}:
            return base if VOLUMES.fullmatch(base) else ""
    return ""


def node_of(live: LiveService, swarm: SwarmState) -> str:
    """The node that the service's label constraint means, or its task is on; empty if unknown."""
    for text in live.value.constraints:
        found = read_constraint(text)
        if found is None or not found.label or not found.is_equal:
            continue
        labelled = swarm.index.nodes_labelled(found.label)
        nodes = [node.name for node in labelled if node.labels[found.label] == found.value]
        if len(nodes) == 1:
            return nodes[0]
    tasks = sorted(swarm.tasks_of(live.id), key=lambda task: task.at)
    node = swarm.node_by_id(tasks[-1].node_id) if tasks else None
    return node.name if node else ""


def standing_proxies(cluster: PostgresCluster, swarm: SwarmState) -> tuple[str, ...]:
    """The nodes of the file's proxies that have their label: they have a proxy now."""
    label = cluster.spec.node_labels.proxy
    nodes = (swarm.node(name) for name in cluster.spec.proxies.nodes)
    return tuple(
        node.name
        for node in nodes
        if node is not None and node.labels.get(label) == PROXY_LABEL_VALUE
    )


def with_deployed_members(
    cluster: PostgresCluster, places: Sequence[DeployedMember], standing: Sequence[str] = ()
) -> PostgresCluster:
    """The document with the deployed members in place of its own; what else it says of a member
    (its failover priority) goes by name. Proxies on just the file's member nodes stay with the
    deployed members, as does one that follows a moved line; one that is ``standing`` on a node of
    the file stays there."""
    if not places:
        return cluster
    written = {member.name: member for member in cluster.spec.members}
    members = tuple(
        deployed_member(place, written.get(place.name), number - 1)
        for number, place in zip(numbers_of(places), places, strict=True)
    )
    moved = {
        written[place.name].node: place.node
        for place in places
        if place.name in written and written[place.name].node != place.node
    }
    kept = {place.node for place in places}
    listed = cluster.spec.proxies.nodes
    if {*listed} == {member.node for member in cluster.spec.members}:
        nodes = [*(place.node for place in places), *standing]
    else:
        stays = {*kept, *standing}
        nodes = [name if name in stays else moved.get(name, name) for name in listed]
    proxies = cluster.spec.proxies.model_copy(update={"nodes": tuple(dict.fromkeys(nodes))})
    spec = cluster.spec.model_copy(update={"members": members, "proxies": proxies})
    return cluster.model_copy(update={"spec": spec})


def deployed_member(place: DeployedMember, written: Member | None, position: int) -> Member:
    """A member in its place, with the failover priority that the file writes for it; one that is
    not written goes by its number, not by its line."""
    if written is None or "failover_priority" not in written.model_fields_set:
        return member_at(place, position, None)
    return member_at(place, position, written.failover_priority)


@lru_cache(maxsize=MOST_TEXTS)
def member_at(place: DeployedMember, position: int, priority: int | None) -> Member:
    """A member of the document; without a priority it has that of its position."""
    values = {"name": place.name, "node": place.node, "address": place.address}
    if priority is None:
        return Member.model_validate(values).with_default_priority(position)
    return Member.model_validate({**values, "failoverPriority": priority})


def moved_member_holds(
    cluster: PostgresCluster, places: Sequence[DeployedMember], nodes: Mapping[str, str]
) -> Iterator[Hold]:
    """Holds for each deployed member whose node has another address now, and whose line writes
    none: the swarm's word alone moves no member (``topology`` moves one whose line does).

    ``nodes`` maps the swarm's node names to their addresses.
    """
    scope = cluster.metadata.name
    written = {member.name: member for member in cluster.spec.members}
    for place in places:
        name, member = place.name, written.get(place.name)
        if member is None or member.node != place.node or member.address:
            continue
        address = nodes.get(member.node, place.address)
        if address != place.address:
            yield membership_hold(
                scope,
                name,
                f"member {name}: would move from {place.address} to {address}, and stays (the "
                f"other members know it in Raft by that address); write address: {place.address}, "
                f"or address: {address} to have it moved",
            )


def lost_membership(scope: str, swarm: SwarmState) -> Hold | None:
    """Hold where neither the annotation nor the services name the members; else None.

    None too where there is no such annotation: then the file names them.
    """
    recorded = noted_labels(scope, swarm).get(MEMBERS_LABEL)
    if recorded is None or decode_places(recorded):
        return None  # it can be read, and its members have not been started yet
    return Hold(
        f"membership/{scope}",
        f"config {scope}_cluster: label {MEMBERS_LABEL} can't be read (it holds "
        f"{shape_of(recorded)}), and the member services do not identify the members, so "
        "nothing is changed; give each "
        f"member's service its labels {ADDRESS_LABEL} and {ROLE_LABEL}=member and its constraint "
        "back, and the label is written anew",
        wants_attention=True,
    )


def stray_holds(scope: str, places: Sequence[DeployedMember], swarm: SwarmState) -> Iterator[Hold]:
    """Holds for services labelled as members that were not deployed as members."""
    known = {f"{scope}_{place.name}" for place in places}
    for name in unknown_members(scope, known, swarm) if places else ():
        yield Hold(
            f"membership/{name}",
            f"service {name}: has the labels of a member of {scope}, but was not deployed as one "
            "(it is kept, and no member is restarted beside it); remove it if nobody needs it",
            wants_attention=True,
        )


def unknown_members(scope: str, known: Collection[str], swarm: SwarmState) -> Iterator[str]:
    """Names of services that are labelled as members, and are none of the known ones."""
    for live in swarm.index.services_labelled(CLUSTER_LABEL, scope):
        if live.value.labels.get(ROLE_LABEL) == "member" and live.value.name not in known:
            yield live.value.name


def membership_hold(scope: str, name: str, reason: str) -> Hold:
    return Hold(f"membership/{scope}_{name}", reason, wants_attention=True)
