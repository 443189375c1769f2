"""The kind PostgresCluster: a replicated PostgreSQL cluster with its proxies."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from queenright.core.kinds.kind import Context, Kind, Rule, Surroundings
from queenright.core.kinds.postgres_cluster.annotations import state_config_name
from queenright.core.kinds.postgres_cluster.backup.guard import is_backup_job
from queenright.core.kinds.postgres_cluster.backup.repository_guard import is_left_repository
from queenright.core.kinds.postgres_cluster.checks.cluster import check_cluster
from queenright.core.kinds.postgres_cluster.checks.conflicts import check_clusters_together
from queenright.core.kinds.postgres_cluster.checks.placement import check_placement
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.kinds.postgres_cluster.desired.expand import node_labels
from queenright.core.kinds.postgres_cluster.drill.guard import is_drill_job
from queenright.core.kinds.postgres_cluster.expansion import (
    expand_here,
    has_addresses,
    missing_nodes,
)
from queenright.core.kinds.postgres_cluster.guards import CLUSTER_GUARDS, is_keepalived
from queenright.core.kinds.postgres_cluster.in_place.guard import is_stopped_member
from queenright.core.kinds.postgres_cluster.losses.data_end_guard import is_data_end_job
from queenright.core.kinds.postgres_cluster.planner import (
    RULES,
    plan_cluster,
    plan_cluster_deletion,
)
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.kinds.postgres_cluster.status.figures import cluster_figures
from queenright.core.kinds.postgres_cluster.status.live import live_cluster
from queenright.core.kinds.postgres_cluster.status.picture import cluster_parts
from queenright.core.kinds.postgres_cluster.status.rows import ClusterStatus, cluster_status
from queenright.core.kinds.postgres_cluster.topology.guards import is_left_member
from queenright.core.manifest.document import Clash, Document, documents_of
from queenright.core.manifest.problems import Finding
from queenright.core.observed import Node, Observed, SwarmState
from queenright.core.planning.faults import DocumentKey
from queenright.core.planning.picture import Part
from queenright.core.planning.plan import Plan
from queenright.core.postgres.catalog import NO_CATALOG
from queenright.core.swarm.objects import CLUSTER_LABEL, NodeLabels


class PostgresClusterKind(Kind[PostgresCluster, DesiredCluster]):
    model = PostgresCluster
    noun, plural, label = "cluster", "clusters", CLUSTER_LABEL
    rules = RULES
    guards = CLUSTER_GUARDS
    has_members = True
    removable = (
        is_keepalived,
        is_left_member,
        is_stopped_member,
        is_backup_job,
        is_drill_job,
        is_data_end_job,
        is_left_repository,
    )

    def check(self, resource: PostgresCluster) -> Iterable[Finding]:
        return check_cluster(resource)

    def check_together(
        self, documents: Sequence[Document], described: Collection[tuple[str, str]]
    ) -> Iterable[Clash]:
        return check_clusters_together(documents_of(PostgresCluster, documents))

    def check_placement(
        self, resource: PostgresCluster, nodes: Sequence[Node]
    ) -> Iterable[Finding]:
        return check_placement(resource, nodes)

    def node_labels(self, resource: PostgresCluster) -> Iterable[NodeLabels]:
        return node_labels(resource)

    def state_config(self, name: str) -> str:
        return state_config_name(name)

    def expand(
        self, document: Document[PostgresCluster], around: Surroundings
    ) -> DesiredCluster | None:
        claims = around.claims.get(DocumentKey(document.kind, document.name), NO_CATALOG)
        return expand_here(document, around.swarm, claims)

    def says_all(self, resource: PostgresCluster) -> bool:
        return has_addresses(resource)

    def why_not_expanded(self, document: Document[PostgresCluster], swarm: SwarmState) -> str:
        return missing_nodes(document.resource, swarm)

    def texts(self, desired: DesiredCluster) -> Iterable[tuple[str, str]]:
        return ((f"config {one.name}", one.data.decode()) for one in desired.rendered)

    def plan(
        self,
        document: Document[PostgresCluster],
        desired: DesiredCluster | None,
        context: Context,
        rules: tuple[Rule, ...],
    ) -> Plan:
        return plan_cluster(document, desired, context, rules)

    def plan_deletion(self, name: str, context: Context) -> Plan:
        return plan_cluster_deletion(name, context)

    def status(
        self,
        name: str,
        desired: DesiredCluster | None,
        plan: Plan,
        observed: Observed,
        now: datetime,
    ) -> ClusterStatus:
        return cluster_status(name, desired, plan, observed, now)

    def parts(
        self, desired: DesiredCluster, observed: Observed, swarm: SwarmState
    ) -> Iterable[Part]:
        return cluster_parts(desired, observed, swarm)

    def figures(
        self, desired: DesiredCluster, observed: Observed, swarm: SwarmState, now: datetime
    ) -> Mapping[str, object]:
        return cluster_figures(desired, observed, swarm, now)

    def live_status(self, name: str, swarm: SwarmState, observed: Observed) -> ClusterStatus:
        return live_cluster(name, swarm, observed)


POSTGRES_CLUSTER = PostgresClusterKind()
