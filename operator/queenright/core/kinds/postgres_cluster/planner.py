"""Plan of one cluster: run the rules in order, apply retry backoff, keep one disruption.

Pure: the same document, observation and moment give the same plan, whatever order things came in.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from queenright.core.actions import AnyAction
from queenright.core.kinds.kind import Context, Rule
from queenright.core.kinds.postgres_cluster.annotations import (
    damaged_note_holds,
    state_config_name,
)
from queenright.core.kinds.postgres_cluster.backup.guard import with_quiet_backups
from queenright.core.kinds.postgres_cluster.checks.placement import check_placement
from queenright.core.kinds.postgres_cluster.deletion import plan_retirement
from queenright.core.kinds.postgres_cluster.deployed import (
    Deployed,
    deployed_of,
    port_holds,
    with_deployed_raft_port,
)
from queenright.core.kinds.postgres_cluster.deployed_restore import with_deployed_restore
from queenright.core.kinds.postgres_cluster.deployed_secrets import with_deployed_secrets
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster, expand
from queenright.core.kinds.postgres_cluster.desired.repository import address_of, volume_of
from queenright.core.kinds.postgres_cluster.desired.services import service_name
from queenright.core.kinds.postgres_cluster.in_place.beginning import with_noted_restore
from queenright.core.kinds.postgres_cluster.membership import (
    deployed_members,
    lost_membership,
    moved_member_holds,
    stray_holds,
    with_deployed_members,
)
from queenright.core.kinds.postgres_cluster.places import DeployedMember, numbers_of
from queenright.core.kinds.postgres_cluster.preflight import deployment_holds, foreign_service_holds
from queenright.core.kinds.postgres_cluster.raft_reset import with_deployed_requests
from queenright.core.kinds.postgres_cluster.rules.backup import plan_backup
from queenright.core.kinds.postgres_cluster.rules.base_backups import plan_base_backups
from queenright.core.kinds.postgres_cluster.rules.configs import plan_configs
from queenright.core.kinds.postgres_cluster.rules.databases import plan_databases
from queenright.core.kinds.postgres_cluster.rules.drills import plan_drills
from queenright.core.kinds.postgres_cluster.rules.failover import plan_failover
from queenright.core.kinds.postgres_cluster.rules.in_place import plan_in_place, takes_over
from queenright.core.kinds.postgres_cluster.rules.losses import plan_losses
from queenright.core.kinds.postgres_cluster.rules.maintenance import plan_pauses
from queenright.core.kinds.postgres_cluster.rules.members import plan_members
from queenright.core.kinds.postgres_cluster.rules.networks import plan_networks
from queenright.core.kinds.postgres_cluster.rules.node_labels import plan_nodes
from queenright.core.kinds.postgres_cluster.rules.patroni_config import plan_settings
from queenright.core.kinds.postgres_cluster.rules.proxies import plan_proxies
from queenright.core.kinds.postgres_cluster.rules.raft import plan_raft
from queenright.core.kinds.postgres_cluster.rules.replication import plan_replication
from queenright.core.kinds.postgres_cluster.rules.repository import plan_repository
from queenright.core.kinds.postgres_cluster.rules.restore import plan_restore
from queenright.core.kinds.postgres_cluster.rules.secrets import plan_secrets
from queenright.core.kinds.postgres_cluster.rules.switchover import plan_leadership
from queenright.core.kinds.postgres_cluster.rules.virtual_ip import plan_vip
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.switchover.noted_moves import with_noted_moves
from queenright.core.kinds.postgres_cluster.topology.alone import with_one_change
from queenright.core.kinds.postgres_cluster.topology.replaced import (
    NO_REPLACEMENT,
    Nodes,
    homes_of,
    noted_replacements,
    replacement_of,
    with_homes,
)
from queenright.core.kinds.postgres_cluster.topology.rule import plan_topology
from queenright.core.kinds.postgres_cluster.topology.wanted import UNCHANGED, topology_of
from queenright.core.manifest.document import Document
from queenright.core.manifest.identity import Identity
from queenright.core.manifest.problems import Problem
from queenright.core.manifest.remembered import MOST_DOCUMENTS
from queenright.core.observed import Node, SwarmState
from queenright.core.planning.assemble import arrange, as_paused_holds, drawn
from queenright.core.planning.deletion import Absence
from queenright.core.planning.faults import DocumentKey
from queenright.core.planning.plan import Hold, Plan
from queenright.core.planning.preflight import placement_holds
from queenright.core.planning.service_context import answered_once
from queenright.core.postgres.catalog import NO_CATALOG, DesiredCatalog
from queenright.core.swarm.objects import CLUSTER_LABEL

RULES: tuple[Rule, ...] = (
    plan_nodes,
    plan_networks,
    plan_secrets,
    plan_configs,
    plan_repository,
    plan_members,
    plan_restore,
    plan_in_place,
    plan_raft,
    plan_losses,
    plan_topology,
    plan_proxies,
    plan_vip,
    plan_settings,
    plan_replication,
    plan_backup,
    plan_base_backups,
    plan_drills,
    plan_databases,
    plan_pauses,
    plan_leadership,
    plan_failover,
)
"""In the contract's deployment order: labels, network, secrets, configs, members, proxies;
then what only a running cluster has. A switchover comes last: its annotation is written with the
configs."""


def plan_cluster(
    document: Document[PostgresCluster],
    desired: DesiredCluster | None,
    context: Context,
    rules: tuple[Rule, ...] = RULES,
) -> Plan:
    """The next safe steps for one cluster; ``desired`` is None where it could not be derived."""
    name, swarm = document.name, context.swarm
    observed, now = context.observed, context.now
    deployed = is_deployed(document, swarm)
    places = deployed_members(document.resource, swarm)
    cluster = with_present_homes(document, places, swarm)
    misplaced = (
        *foreign_service_holds(document, swarm),
        *placement_holds(misplacements(document, swarm), is_deployed=deployed),
        *moved_member_holds(cluster, places, swarm.index.addresses),
        *stray_holds(name, places, swarm),
        *port_holds(cluster, deployed_of(cluster, places, swarm)),
    )
    if deployed and not places and (lost := lost_membership(name, swarm)):
        return Plan(name, "", holds=(*misplaced, lost))
    if desired is None or (misplaced and not deployed):
        return Plan(name, "", holds=misplaced)
    state = ClusterState(desired, swarm, observed, now)
    held = [] if deployed else list(deployment_holds(state))
    made_by: dict[str, str] = {}
    chosen = (plan_in_place,) if plan_in_place in rules and takes_over(state) else rules
    ruled = [] if held else drawn(chosen, state, made_by)
    steps: list[AnyAction | Hold] = [*held] if held else [*misplaced, *ruled]
    steps += damaged_note_holds(name, swarm)
    if desired.policy.reconcile.is_paused(now):
        spared = "; Patroni goes on protecting the database"
        steps = [*as_paused_holds(name, desired.policy.reconcile, steps, spared)]
    plan = with_noted_moves(
        arrange(name, desired.digest, steps, observed, now, made_by=made_by), observed
    )
    return with_quiet_backups(with_one_change(plan, state), observed)


def misplacements(document: Document[PostgresCluster], swarm: SwarmState) -> tuple[Problem, ...]:
    """The document's problems on the swarm's nodes, by the members' noted numbers."""
    places = deployed_members(document.resource, swarm)
    numbers = {str(n): place.node for n, place in zip(numbers_of(places), places, strict=True)}
    cluster = with_present_homes(document, places, swarm)
    found = check_placement(cluster, nodes_to_check(cluster, swarm), numbers)
    return document.origin.problems(found)


def nodes_to_check(cluster: PostgresCluster, swarm: SwarmState) -> tuple[Node, ...]:
    """The nodes that the document's placement depends on."""
    spec = cluster.spec
    names = {*(member.node for member in spec.members), *spec.proxies.nodes}
    names |= {spec.backup.drill.node} if spec.backup and spec.backup.drill else set()
    volume = volume_of(cluster)
    names |= {volume.node} if volume is not None else set()
    labels = (spec.node_labels.member, spec.node_labels.proxy)
    return swarm.index.nodes_for_check(names, labels, spec.vip.address if spec.vip else "")


def deployed_state(document: Document[PostgresCluster], context: Context) -> ClusterState | None:
    """A deployed cluster as others see it that rest on it; None while it is not deployed."""
    desired = context.desired.get(DocumentKey(document.kind, document.name))
    if not isinstance(desired, DesiredCluster) or not is_deployed(document, context.swarm):
        return None
    return ClusterState(desired, context.swarm, context.observed, context.now)


def is_deployed(document: Document[PostgresCluster], swarm: SwarmState) -> bool:
    """Return True if a member's service of ours exists. A foreign service of that name is no sign,
    unless the state config says that the cluster is deployed, and somebody removed the labels."""
    anchored = swarm.config(state_config_name(document.name)) is not None
    names = {service_name(document.name, m.name) for m in document.resource.spec.members}
    ours = swarm.index.services_labelled(CLUSTER_LABEL, document.name)
    return bool(ours) or (anchored and any(map(swarm.service, names)))


def plan_cluster_deletion(cluster: str, context: Context) -> Plan:
    """The next safe steps for a cluster that no document describes."""
    absence = Absence(context.now, context.observed.absent_s.get(cluster))
    steps = plan_retirement(cluster, context.swarm, absence, context.claimed)
    return arrange(cluster, "", steps, context.observed, context.now)


def expand_here(
    document: Document[PostgresCluster], swarm: SwarmState, claims: DesiredCatalog = NO_CATALOG
) -> DesiredCluster | None:
    """The desired state: deployed members as they were deployed, at their addresses and with their
    passwords, others with their nodes' present addresses; and the roles and databases that
    applications wish for. None when a node was never there."""
    places = deployed_members(document.resource, swarm)
    noted = noted_replacements(document.name, swarm)
    homes = homes_of(document.resource, places, noted, swarm)
    cluster = with_members_as_before(Identity(document), places, homes)
    nodes = swarm.index.addresses
    if any(not m.address and not nodes.get(m.node) for m in cluster.spec.members):
        return None
    deployed = replace(deployed_of(document.resource, places, swarm), homes=homes)
    volume = volume_of(cluster)
    if volume is not None and not address_of(volume, nodes, deployed.repository):
        return None
    named = {m.node for m in cluster.spec.members}
    named |= {volume.node} if volume is not None else set()
    named |= {*cluster.spec.proxies.nodes} if cluster.spec.vip is not None else set()
    found = tuple((n, nodes[n]) for n in sorted(named & nodes.keys()))
    desired = expand_as_before(Identity(document), found, places, claims, deployed)
    topology = topology_of(with_homes(document.resource, homes), places, nodes)
    replacement = replacement_of(document.resource, noted, nodes)
    if topology != UNCHANGED or replacement != NO_REPLACEMENT:
        desired = replace(desired, topology=topology, replacement=replacement)
    if deployed.was_whole:
        desired = with_deployed_restore(desired, swarm)
    return with_deployed_requests(with_deployed_secrets(desired, swarm), swarm)


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
    same: Identity[Document[PostgresCluster]],
    places: tuple[DeployedMember, ...],
    homes: Nodes = (),
) -> PostgresCluster:
    """``with_deployed_members``, remembered from pass to pass."""
    return with_deployed_members(with_homes(same.value.resource, homes), places)


@lru_cache(maxsize=MOST_DOCUMENTS)
def expand_as_before(
    same: Identity[Document[PostgresCluster]],
    nodes: tuple[tuple[str, str], ...],
    places: tuple[DeployedMember, ...],
    claims: DesiredCatalog = NO_CATALOG,
    deployed: Deployed = Deployed(),  # noqa: B008 (frozen)
) -> DesiredCluster:
    """``expand``, remembered from pass to pass: rendering every configuration file of a cluster and
    digesting it takes milliseconds, and nearly every pass asks for the same again."""
    cluster = with_members_as_before(same, places, deployed.homes)
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
