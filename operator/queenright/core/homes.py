"""Members whose document names another node than the one that they are deployed on.

Decides from the document and the observation where such members stay: their data is in their
node's volumes, and the others know them in Raft by their address, so a changed line moves none.
Invariant: a deployed member is planned for where it is; neither a label nor an address in a
configuration leaves without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from queenright.core.desired import ADDRESS_LABEL, service_name
from queenright.core.observed import Node, SwarmState
from queenright.core.plan import Hold
from queenright.core.spec.postgres_cluster import Member, PostgresCluster


def homes(cluster: PostgresCluster, swarm: SwarmState) -> dict[str, str]:
    """Member name -> the node that it stays on, for each member that the document would move."""
    return {
        member.name: home.name
        for index, member in enumerate(cluster.spec.members, start=1)
        if (home := home_of(cluster, member, index, swarm)) and home.name != member.node
    }


def home_of(cluster: PostgresCluster, member: Member, index: int, swarm: SwarmState) -> Node | None:
    """The node that a deployed member is on, where the document's own word does not count.

    A node that the swarm has counts when the document gives the address too: then its owner has
    moved that address there.
    """
    live = swarm.service(service_name(cluster.metadata.name, member.name))
    if live is None:
        return None
    address = live.value.labels.get(ADDRESS_LABEL)
    if swarm.node(member.node) is not None:
        if member.address is not None:
            return None
        return next((node for node in swarm.nodes if node.address == address), None)
    labelled = [
        node
        for node in swarm.nodes
        if node.labels.get(cluster.spec.node_labels.member) == str(index)
    ]
    return labelled[0] if len(labelled) == 1 else None


def keep_at_home(cluster: PostgresCluster, stays: Mapping[str, str]) -> PostgresCluster | None:
    """The document with those members, and the proxies beside them, where they are; None when two
    members would share a node by that."""
    if not stays:
        return cluster
    spec = cluster.spec
    moved = {m.node: stays[m.name] for m in spec.members if m.name in stays}
    members = [
        m.model_copy(update={"node": stays[m.name]}) if m.name in stays else m for m in spec.members
    ]
    if len({m.node for m in members}) < len(members):
        return None
    proxy_nodes = dict.fromkeys(moved.get(name, name) for name in spec.proxies.nodes)
    proxies = spec.proxies.model_copy(update={"nodes": tuple(proxy_nodes)})
    kept = spec.model_copy(update={"members": tuple(members), "proxies": proxies})
    return cluster.model_copy(update={"spec": kept})


def move_holds(cluster: PostgresCluster, swarm: SwarmState) -> Iterator[Hold]:
    """Each move that is not carried out; one to a node that is not there is told by preflight."""
    stays = homes(cluster, swarm)
    for member in cluster.spec.members:
        if member.name in stays and swarm.node(member.node) is not None:
            yield Hold(
                f"update-service/{service_name(cluster.metadata.name, member.name)}",
                f"{member.name} would move from {stays[member.name]} to {member.node}: its data "
                f"is on {stays[member.name]}, and the other members know it in Raft by its address "
                f"there, so it stays. Write node: {stays[member.name]} in the file again",
                wants_attention=True,
            )
