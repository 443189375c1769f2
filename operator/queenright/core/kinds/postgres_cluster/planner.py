"""Plan of one cluster: run the rules in order, apply retry backoff, keep one disruption.

Pure: the same document, observation and moment give the same plan, whatever order things came in.
"""

from __future__ import annotations

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
    deployed_of,
    port_holds,
)
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.kinds.postgres_cluster.desired.repository import volume_of
from queenright.core.kinds.postgres_cluster.desired.services import service_name
from queenright.core.kinds.postgres_cluster.expansion import with_present_homes
from queenright.core.kinds.postgres_cluster.membership import (
    deployed_members,
    lost_membership,
    moved_member_holds,
    stray_holds,
)
from queenright.core.kinds.postgres_cluster.places import numbers_of
from queenright.core.kinds.postgres_cluster.preflight import deployment_holds, foreign_service_holds
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
from queenright.core.kinds.postgres_cluster.rules.raft_log import plan_raft_log
from queenright.core.kinds.postgres_cluster.rules.replication import plan_replication
from queenright.core.kinds.postgres_cluster.rules.repository import plan_repository
from queenright.core.kinds.postgres_cluster.rules.restore import plan_restore
from queenright.core.kinds.postgres_cluster.rules.secrets import plan_secrets
from queenright.core.kinds.postgres_cluster.rules.switchover import plan_leadership
from queenright.core.kinds.postgres_cluster.rules.virtual_ip import plan_vip
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.switchover.noted_moves import with_noted_moves
from queenright.core.kinds.postgres_cluster.topology.one_change import with_one_change
from queenright.core.kinds.postgres_cluster.topology.rule import plan_topology
from queenright.core.manifest.document import Document
from queenright.core.manifest.problems import Problem
from queenright.core.observed import Node, SwarmState
from queenright.core.planning.assemble import arrange, as_paused_holds, drawn
from queenright.core.planning.deletion import Absence
from queenright.core.planning.faults import DocumentKey
from queenright.core.planning.plan import Hold, Plan
from queenright.core.planning.preflight import placement_holds
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
    plan_raft_log,
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
