"""Desired state of a cluster on the swarm as it is: deployed members stay as they were deployed.

Remembers what it has expanded, by the identity of the document's resource, from pass to pass.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from queenright.core.kinds.postgres_cluster.deployed import (
    Deployed,
    deployed_of,
    with_deployed_raft_port,
)
from queenright.core.kinds.postgres_cluster.deployed_restore import with_deployed_restore
from queenright.core.kinds.postgres_cluster.deployed_secrets import with_deployed_secrets
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.kinds.postgres_cluster.desired.expand import expand
from queenright.core.kinds.postgres_cluster.desired.repository import address_of, volume_of
from queenright.core.kinds.postgres_cluster.in_place.beginning import with_noted_restore
from queenright.core.kinds.postgres_cluster.membership import (
    deployed_members,
    standing_proxies,
    with_deployed_members,
)
from queenright.core.kinds.postgres_cluster.places import DeployedMember, numbers_of
from queenright.core.kinds.postgres_cluster.raft_reset import with_deployed_requests
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.kinds.postgres_cluster.topology.replaced import (
    NO_REPLACEMENT,
    Nodes,
    Replacement,
    homes_of,
    noted_replacements,
    replacement_of,
    with_homes,
)
from queenright.core.kinds.postgres_cluster.topology.wanted import (
    UNCHANGED,
    Topology,
    topology_of,
)
from queenright.core.manifest.document import Document
from queenright.core.manifest.identity import Identity
from queenright.core.manifest.remembered import MOST_DOCUMENTS
from queenright.core.observed import SwarmState
from queenright.core.planning.service_context import answered_once
from queenright.core.postgres.catalog import NO_CATALOG, DesiredCatalog


def expand_here(
    document: Document[PostgresCluster], swarm: SwarmState, claims: DesiredCatalog = NO_CATALOG
) -> DesiredCluster | None:
    """The desired state: deployed members as they were deployed, at their addresses and with their
    passwords, others with their nodes' present addresses; and the roles and databases that
    applications claim. None when a node was never there."""
    places = deployed_members(document.resource, swarm)
    noted = noted_replacements(document.name, swarm)
    homes = homes_of(document.resource, places, noted, swarm)
    standing = standing_in(document, places, swarm)
    cluster = with_members_as_before(Identity(document.resource), places, homes, standing)
    nodes = swarm.index.addresses
    if any(not m.address and not nodes.get(m.node) for m in cluster.spec.members):
        return None
    deployed = replace(
        deployed_of(document.resource, places, swarm), homes=homes, standing=standing
    )
    volume = volume_of(cluster)
    if volume is not None and not address_of(volume, nodes, deployed.repository):
        return None
    named = {m.node for m in cluster.spec.members}
    named |= {volume.node} if volume is not None else set()
    named |= {*cluster.spec.proxies.nodes} if cluster.spec.vip is not None else set()
    found = tuple((n, nodes[n]) for n in sorted(named & nodes.keys()))
    desired = expand_as_before(Identity(document.resource), found, places, claims, deployed)
    topology = topology_of(with_homes(document.resource, homes), places, nodes)
    replacement = replacement_of(document.resource, noted, nodes)
    if topology != UNCHANGED or replacement != NO_REPLACEMENT:
        desired = with_changes(Identity(desired), topology, replacement)
    if deployed.was_whole:
        desired = with_deployed_restore(desired, swarm)
    return with_deployed_requests(with_deployed_secrets(desired, swarm), swarm)


def as_deployed(document: Document[PostgresCluster], swarm: SwarmState) -> PostgresCluster:
    """The document with its members, and proxies, where they are deployed; as it is written where
    nothing is."""
    places = deployed_members(document.resource, swarm)
    noted = noted_replacements(document.name, swarm)
    homes = homes_of(document.resource, places, noted, swarm)
    standing = standing_in(document, places, swarm)
    return with_members_as_before(Identity(document.resource), places, homes, standing)


def standing_in(
    document: Document[PostgresCluster], places: tuple[DeployedMember, ...], swarm: SwarmState
) -> tuple[str, ...]:
    """The nodes of the file's proxies that have one; nothing while no member is deployed."""
    return standing_proxies(with_present_homes(document, places, swarm), swarm) if places else ()


def with_present_homes(
    document: Document[PostgresCluster], places: tuple[DeployedMember, ...], swarm: SwarmState
) -> PostgresCluster:
    """The document with the nodes of members that the operator sent elsewhere by itself."""
    return _with_present_homes(swarm, document, places)


@answered_once
def _with_present_homes(
    swarm: SwarmState, document: Document[PostgresCluster], places: tuple[DeployedMember, ...]
) -> PostgresCluster:
    noted = noted_replacements(document.name, swarm)
    return with_homes(document.resource, homes_of(document.resource, places, noted, swarm))


def has_addresses(cluster: PostgresCluster) -> bool:
    """Return True if the file has the address of every node that the desired state names."""
    spec = cluster.spec
    known = {member.node for member in spec.members if member.address}
    peers = {*spec.proxies.nodes} if spec.vip is not None else set[str]()
    volume = volume_of(cluster)
    if volume is not None and not volume.address and volume.node not in known:
        return False
    return known >= peers | {member.node for member in spec.members}


def missing_nodes(cluster: PostgresCluster, swarm: SwarmState) -> str:
    """Return the reason why the desired state can't be computed: members' nodes that are
    missing."""
    known = [node.name for node in swarm.nodes]
    wanted = {member.node for member in cluster.spec.members if not member.address}
    volume, whose = volume_of(cluster), "member"
    if volume is not None and not volume.address and wanted <= set(known):
        wanted, whose = {volume.node}, "repository"
    names = ", ".join(sorted(wanted - set(known)))
    return (
        f"the swarm has no node {names}, so that its {whose}'s address is not known; there are "
        f"{', '.join(sorted(known))}"
    )


@lru_cache(maxsize=MOST_DOCUMENTS)
def with_members_as_before(
    same: Identity[PostgresCluster],
    places: tuple[DeployedMember, ...],
    homes: Nodes = (),
    standing: tuple[str, ...] = (),
) -> PostgresCluster:
    """``with_deployed_members``, remembered from pass to pass."""
    return with_deployed_members(with_homes(same.value, homes), places, standing)


@lru_cache(maxsize=MOST_DOCUMENTS)
def with_changes(
    same: Identity[DesiredCluster], topology: Topology, replacement: Replacement
) -> DesiredCluster:
    """The desired state with the members that come, go and move, remembered from pass to pass: its
    digest is made once."""
    return replace(same.value, topology=topology, replacement=replacement)


@lru_cache(maxsize=MOST_DOCUMENTS)
def expand_as_before(
    same: Identity[PostgresCluster],
    nodes: tuple[tuple[str, str], ...],
    places: tuple[DeployedMember, ...],
    claims: DesiredCatalog = NO_CATALOG,
    deployed: Deployed = Deployed(),  # noqa: B008 (frozen)
) -> DesiredCluster:
    """``expand``, remembered from pass to pass: rendering every configuration file of a cluster and
    digesting it takes milliseconds, and nearly every pass asks for the same again."""
    cluster = with_members_as_before(same, places, deployed.homes, deployed.standing)
    cluster = with_noted_restore(with_deployed_raft_port(cluster, deployed), deployed.restore)
    whole, numbers = deployed.was_whole, numbers_of(places)
    volumes = {place.name: place.volumes for place in places if place.volumes}
    ways = deployed.ways
    return expand(
        cluster,
        dict(nodes),
        claims,
        ways,
        was_whole=whole,
        numbers=numbers,
        volumes=volumes,
        repository=deployed.repository,
    )
