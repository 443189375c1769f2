"""The kind NotesApp: the notes application, with its edge and its place in a cluster."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from queenright.core.kinds.kind import Context, Kind, Rule, Surroundings
from queenright.core.kinds.notes_app.checks.app import check_app
from queenright.core.kinds.notes_app.checks.clusters import check_beside_clusters
from queenright.core.kinds.notes_app.checks.conflicts import check_apps_together
from queenright.core.kinds.notes_app.checks.placement import check_placement
from queenright.core.kinds.notes_app.desired.app import (
    DesiredApp,
    app_node_labels,
    state_config_name,
)
from queenright.core.kinds.notes_app.desired.database_claim import claim_of
from queenright.core.kinds.notes_app.guards import APP_GUARDS, is_dump, is_spare_edge
from queenright.core.kinds.notes_app.planner import (
    APP_RULES,
    expand_app_here,
    plan_app,
    plan_app_deletion,
)
from queenright.core.kinds.notes_app.readiness import targets
from queenright.core.kinds.notes_app.schema.app import NotesApp
from queenright.core.kinds.notes_app.status.figures import app_figures
from queenright.core.kinds.notes_app.status.live import live_app
from queenright.core.kinds.notes_app.status.picture import app_parts
from queenright.core.kinds.notes_app.status.rows import AppStatus, app_status
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.manifest.document import Clash, Document, documents_of
from queenright.core.manifest.problems import Finding
from queenright.core.observed import Node, Observed, SwarmState
from queenright.core.observed.readiness import ReadinessTarget
from queenright.core.planning.faults import DocumentKey
from queenright.core.planning.picture import Part
from queenright.core.planning.plan import Plan
from queenright.core.postgres.catalog import DesiredCatalog
from queenright.core.swarm.objects import APP_LABEL, NodeLabels


class NotesAppKind(Kind[NotesApp, DesiredApp]):
    model = NotesApp
    noun, plural, label = "application", "applications", APP_LABEL
    rules = APP_RULES
    guards = APP_GUARDS
    removable = (is_dump, is_spare_edge)

    def check(self, resource: NotesApp) -> Iterable[Finding]:
        return check_app(resource)

    def check_together(
        self, documents: Sequence[Document], described: Collection[tuple[str, str]]
    ) -> Iterable[Clash]:
        yield from check_apps_together(documents_of(NotesApp, documents))
        yield from check_beside_clusters(documents, described)

    def check_placement(self, resource: NotesApp, nodes: Sequence[Node]) -> Iterable[Finding]:
        return check_placement(resource, nodes)

    def node_labels(self, resource: NotesApp) -> Iterable[NodeLabels]:
        return app_node_labels(resource)

    def needs(self, resource: NotesApp) -> DocumentKey | None:
        cluster = resource.spec.database.cluster
        return DocumentKey(PostgresCluster.KIND, cluster) if cluster else None

    def claims(self, resource: NotesApp) -> DesiredCatalog:
        return claim_of(resource)

    def state_config(self, name: str) -> str:
        return state_config_name(name)

    def expand(self, document: Document[NotesApp], around: Surroundings) -> DesiredApp:
        return expand_app_here(document, around.documents, around.swarm)

    def texts(self, desired: DesiredApp) -> Iterable[tuple[str, str]]:
        if (url := desired.url) is not None:
            shown = url.text if url.hosts else "unknown: the swarm has the proxies' addresses"
            yield f"connection string of {desired.name}", f"# {shown}"
        yield from ((f"config {one.name}", one.data.decode()) for one in desired.configs)

    def readiness(self, desired: DesiredApp, swarm: SwarmState) -> Iterable[ReadinessTarget]:
        return targets(desired, swarm)

    def plan(
        self,
        document: Document[NotesApp],
        desired: DesiredApp | None,
        context: Context,
        rules: tuple[Rule, ...],
    ) -> Plan:
        if desired is None:
            return Plan(document.name, "")
        return plan_app(document, desired, context, rules)

    def plan_deletion(self, name: str, context: Context) -> Plan:
        return plan_app_deletion(name, context)

    def status(
        self, name: str, desired: DesiredApp | None, plan: Plan, observed: Observed, now: datetime
    ) -> AppStatus:
        return app_status(name, desired, plan, observed)

    def parts(self, desired: DesiredApp, observed: Observed, swarm: SwarmState) -> Iterable[Part]:
        return app_parts(desired, observed, swarm)

    def figures(
        self, desired: DesiredApp, observed: Observed, swarm: SwarmState, now: datetime
    ) -> Mapping[str, object]:
        return app_figures(desired, observed, swarm)

    def live_status(self, name: str, swarm: SwarmState, observed: Observed) -> AppStatus:
        return live_app(name, swarm, observed)


NOTES_APP = NotesAppKind()
