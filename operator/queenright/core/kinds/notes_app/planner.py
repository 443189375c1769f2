"""Plan of one application: run the rules in order, apply backoff, keep one disruption.

Pure: the same documents, observation and moment give the same plan, whatever order things came in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from queenright.core.actions import AnyAction
from queenright.core.kinds.kind import Context, Rule
from queenright.core.kinds.notes_app.checks.deployment import connections_needed
from queenright.core.kinds.notes_app.checks.placement import check_placement, named_nodes
from queenright.core.kinds.notes_app.deletion import plan_app_retirement
from queenright.core.kinds.notes_app.desired.app import DesiredApp, SwarmFacts, expand_app
from queenright.core.kinds.notes_app.rules.annotations import plan_annotations
from queenright.core.kinds.notes_app.rules.configs import plan_configs
from queenright.core.kinds.notes_app.rules.dumps import plan_dumps
from queenright.core.kinds.notes_app.rules.edge import plan_edge
from queenright.core.kinds.notes_app.rules.login_roles import plan_logins
from queenright.core.kinds.notes_app.rules.networks import plan_networks
from queenright.core.kinds.notes_app.rules.node_labels import plan_nodes
from queenright.core.kinds.notes_app.rules.readiness import plan_readiness
from queenright.core.kinds.notes_app.rules.secrets import plan_secrets
from queenright.core.kinds.notes_app.rules.web import plan_web
from queenright.core.kinds.notes_app.schema.app import NotesApp
from queenright.core.kinds.notes_app.state import AppState
from queenright.core.kinds.postgres_cluster.expansion import as_deployed, with_present_homes
from queenright.core.kinds.postgres_cluster.membership import deployed_members
from queenright.core.kinds.postgres_cluster.planner import deployed_state
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.manifest.document import Document, documents_of, is_of
from queenright.core.manifest.document_index import found_by
from queenright.core.manifest.problems import Problem
from queenright.core.observed import Node, SwarmState
from queenright.core.planning.assemble import arrange, as_paused_holds, drawn
from queenright.core.planning.deletion import Absence
from queenright.core.planning.plan import Hold, Plan
from queenright.core.planning.preflight import foreign_service, placement_holds
from queenright.core.swarm.objects import APP_LABEL

APP_RULES: tuple[Rule, ...] = (
    plan_nodes,
    plan_networks,
    plan_secrets,
    plan_configs,
    plan_annotations,
    plan_dumps,
    plan_web,
    plan_edge,
    plan_readiness,
    plan_logins,
)
"""In the order of a deployment: what the replicas refer to, then the replicas."""


def plan_app(
    document: Document[NotesApp],
    desired: DesiredApp,
    context: Context,
    rules: tuple[Rule, ...] = APP_RULES,
) -> Plan:
    """The next safe steps for one application."""
    name, swarm = document.name, context.swarm
    observed, now = context.observed, context.now
    cluster = cluster_of(document, context.documents)
    state = AppState(
        desired,
        swarm,
        observed,
        now,
        deployed_state(cluster, context) if cluster else None,
        sum(connections_needed(app) for app in sharers(desired, context.documents)),
        context.claimed,
    )
    foreign = [*foreign_services(desired, swarm)]
    if foreign:
        return arrange(name, desired.digest, foreign, observed, now)
    is_deployed = state.web is not None
    misplaced = [*placement_holds(misplacements(document, swarm), is_deployed=is_deployed)]
    made_by: dict[str, str] = {}
    steps: list[AnyAction | Hold] = [*misplaced]
    if not misplaced or is_deployed:
        steps += drawn(rules, state, made_by)
    if desired.reconcile.is_paused(now):
        steps = [*as_paused_holds(name, desired.reconcile, steps)]
    return arrange(name, desired.digest, steps, observed, now, made_by=made_by)


def plan_app_deletion(app: str, context: Context) -> Plan:
    """The next safe steps for an application that no document describes."""
    absence = Absence(context.now, context.observed.absent_s.get(app))
    steps = plan_app_retirement(app, context.swarm, absence, context.claimed)
    return arrange(app, "", steps, context.observed, context.now)


def misplacements(document: Document[NotesApp], swarm: SwarmState) -> tuple[Problem, ...]:
    """The document's problems on the swarm's nodes."""
    nodes = nodes_to_check(document.resource, swarm)
    return document.origin.problems(check_placement(document.resource, nodes))


def nodes_to_check(app: NotesApp, swarm: SwarmState) -> tuple[Node, ...]:
    """The nodes that the document's placement depends on."""
    labels = {app.spec.placement.label, *([app.spec.edge.label] if app.spec.edge else [])}
    return swarm.index.nodes_for_check({name for _, name in named_nodes(app)}, labels)


def foreign_services(desired: DesiredApp, swarm: SwarmState) -> Iterator[Hold]:
    """Services under the application's names that somebody else has deployed."""
    if swarm.config(desired.state_config.name) is not None:
        return
    for service in desired.services:
        live = swarm.service(service.name)
        if live is not None and live.value.labels.get(APP_LABEL) != desired.name:
            yield foreign_service(service.name, "application")


def sharers(desired: DesiredApp, documents: Iterable[Document]) -> Iterator[NotesApp]:
    """The applications that share its cluster, itself among them."""
    shared = found_by(cluster_named_by, desired.cluster or None, documents)
    return (document.resource for document in documents_of(NotesApp, shared))


def cluster_named_by(document: Document) -> str | None:
    """The name of the cluster whose database an application has; None for what has none."""
    return document.resource.spec.database.cluster if is_of(document, NotesApp) else None


def name_of(document: Document) -> str:
    return document.name


def cluster_of(
    document: Document[NotesApp], documents: Iterable[Document]
) -> Document[PostgresCluster] | None:
    """The document of the cluster that has the application's database."""
    wanted = document.resource.spec.database.cluster
    if wanted is None:
        return None
    return next(iter(documents_of(PostgresCluster, found_by(name_of, wanted, documents))), None)


def expand_app_here(
    document: Document[NotesApp], documents: Iterable[Document], swarm: SwarmState
) -> DesiredApp:
    """The desired state on this swarm; where none was asked, with the addresses of the files.

    The cluster is the deployed one, whose members and proxies go where the file has them step by
    step; the connection string names the nodes to come as well.
    """
    cluster = cluster_of(document, documents)
    if cluster is None:
        return expand_app(document.resource, None, SwarmFacts(swarm.index.secret_ids))
    addresses = swarm.index.addresses
    if not swarm.nodes:
        members = cluster.resource.spec.members
        addresses = {member.node: member.address for member in members if member.address}
    places = deployed_members(cluster.resource, swarm)
    coming = with_present_homes(cluster, places, swarm).spec.proxies.nodes
    facts = SwarmFacts(swarm.index.secret_ids, addresses, tuple(coming))
    return expand_app(document.resource, as_deployed(cluster, swarm), facts)
