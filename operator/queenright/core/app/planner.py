"""One application's plan: the ordered rules, then patience, then at most one disturbance.

Pure: the same documents, observation and moment give the same plan, whatever order things came in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from queenright.core.actions import Action
from queenright.core.app.desired import DesiredApp, SwarmFacts, expand_app
from queenright.core.app.retirement import plan_app_retirement
from queenright.core.app.rules.anchor import plan_anchor
from queenright.core.app.rules.configs import plan_configs
from queenright.core.app.rules.dumps import plan_dumps
from queenright.core.app.rules.edge import plan_edge
from queenright.core.app.rules.logins import plan_logins
from queenright.core.app.rules.networks import plan_networks
from queenright.core.app.rules.nodes import plan_nodes
from queenright.core.app.rules.readiness import plan_readiness
from queenright.core.app.rules.secrets import plan_secrets
from queenright.core.app.rules.web import plan_web
from queenright.core.app.situation import AppSituation
from queenright.core.app.wishes import wishes_of
from queenright.core.catalog import NO_CATALOG
from queenright.core.claimed_labels import claimed_labels
from queenright.core.observed import Observed, SwarmState
from queenright.core.pinning import unresolved_image
from queenright.core.plan import Hold, Plan
from queenright.core.planner import arrange, only_told, situation_of
from queenright.core.preflight import foreign_app_services, placement_holds, swarm_or_hold
from queenright.core.situation import Situation
from queenright.core.spec.neighbours import connections_needed
from queenright.core.spec.notes_app import NotesApp
from queenright.core.spec.problems import Document

AppRule: TypeAlias = Callable[[AppSituation], Iterable[Action | Hold]]

APP_RULES: tuple[AppRule, ...] = (
    plan_nodes,
    plan_networks,
    plan_secrets,
    plan_configs,
    plan_anchor,
    plan_dumps,
    plan_web,
    plan_edge,
    plan_readiness,
    plan_logins,
)
"""In the order of a deployment: what the replicas refer to, then the replicas."""


@dataclass(frozen=True, slots=True)
class AppDecision:
    """A plan, and the desired state that it serves (None where it could not be derived)."""

    plan: Plan
    desired: DesiredApp | None = None


def make_app_plan(
    document: Document,
    documents: Sequence[Document],
    observed: Observed,
    now: datetime,
    rules: tuple[AppRule, ...] = APP_RULES,
) -> AppDecision:
    """The next safe steps for one application; ``documents`` are all, its cluster's among them."""
    name = document.name
    swarm = swarm_or_hold(observed)
    if isinstance(swarm, Hold):
        return AppDecision(Plan(name, "", holds=(swarm,)))
    desired = expand_app_here(document, documents, swarm)
    cluster = cluster_here(document, documents, observed, swarm, now)
    situation = AppSituation(
        desired,
        swarm,
        observed.images,
        now,
        cluster,
        observed.readiness,
        observed.outputs,
        sum(connections_needed(app) for app in sharers(desired, documents)),
        claimed_labels(one for one in documents if one is not document),
    )
    foreign = [*foreign_app_services(name, desired.services, desired.anchor.name, swarm)]
    if foreign:
        return AppDecision(arrange(name, desired.digest, foreign, observed, now), desired)
    misplaced = [*placement_holds(document, swarm, is_deployed=situation.web is not None)]
    steps: list[Action | Hold] = [*misplaced]
    if not misplaced or situation.web is not None:
        steps += [step for rule in rules for step in rule(situation)]
    if desired.reconcile.is_paused(now):
        steps = [*only_told(name, desired.reconcile, steps)]
    return AppDecision(arrange(name, desired.digest, steps, observed, now), desired)


def sharers(desired: DesiredApp, documents: Iterable[Document]) -> Iterator[NotesApp]:
    """The applications that share its cluster, itself among them."""
    for document in documents:
        if document.is_app and document.app.spec.database.cluster == (desired.cluster or None):
            yield document.app


def cluster_here(
    document: Document,
    documents: Sequence[Document],
    observed: Observed,
    swarm: SwarmState,
    now: datetime,
) -> Situation | None:
    """The cluster that has the database, as it is; None where it is not described or deployed."""
    cluster = cluster_of(document, documents)
    if cluster is None:
        return None
    wishes = wishes_of(documents).get(cluster.name, NO_CATALOG)
    return situation_of(cluster, swarm, observed, now, wishes)


def cluster_of(document: Document, documents: Iterable[Document]) -> Document | None:
    """The document of the cluster that has the application's database."""
    wanted = document.app.spec.database.cluster
    return next((one for one in documents if one.is_cluster and one.name == wanted), None)


def expand_app_here(
    document: Document, documents: Iterable[Document], swarm: SwarmState
) -> DesiredApp:
    """The desired state on this swarm."""
    cluster = cluster_of(document, documents)
    facts = SwarmFacts(
        {live.value.name: live.id for live in swarm.secrets},
        {node.name: node.address for node in swarm.nodes},
    )
    return expand_app(document.app, cluster.cluster if cluster else None, facts)


def app_images_needed(desired: DesiredApp, swarm: SwarmState) -> frozenset[str]:
    """Image references that must be looked up before the services can be planned."""
    found = (unresolved_image(s, swarm.service(s.name)) for s in desired.services)
    return frozenset(reference for reference in found if reference)


def make_app_retirement_plan(
    app: str, observed: Observed, now: datetime, documents: Iterable[Document] = ()
) -> AppDecision:
    """The next safe steps for an application that none of the documents describes."""
    swarm = swarm_or_hold(observed)
    if isinstance(swarm, Hold):
        return AppDecision(Plan(app, "", holds=(swarm,)))
    steps = plan_app_retirement(app, swarm, now, claimed_labels(documents))
    return AppDecision(arrange(app, "", steps, observed, now))
