"""One look without doing anything: what is observed, and what would be done for each cluster and
each application.

The loop acts on it; ``plan`` and ``status`` show it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import anyio

from queenright.core.app.desired import DesiredApp
from queenright.core.app.planner import make_app_plan, make_app_retirement_plan
from queenright.core.app.retirement import owned_apps
from queenright.core.app.wishes import wishes_of
from queenright.core.catalog import NO_CATALOG
from queenright.core.desired import DesiredCluster
from queenright.core.doctrine import DOCTRINE, Doctrine
from queenright.core.observed import Attempt, Known, Observed
from queenright.core.plan import Plan
from queenright.core.planner import make_plan, make_retirement_plan
from queenright.core.retirement import owned_clusters
from queenright.core.spec.problems import Document
from queenright.engine.execute import FRESH_S
from queenright.engine.observe import observe, observe_anew
from queenright.engine.world import Ports


@dataclass(frozen=True, slots=True)
class ClusterView:
    """One cluster: its document (None when it left the files), desired state and plan."""

    name: str
    document: Document | None
    desired: DesiredCluster | None
    plan: Plan


@dataclass(frozen=True, slots=True)
class AppView:
    """One application: its document (None when it left the files), desired state and plan."""

    name: str
    document: Document | None
    desired: DesiredApp | None
    plan: Plan


View: TypeAlias = ClusterView | AppView


@dataclass(frozen=True, slots=True)
class Survey:
    """``seen_at_s`` is when swarm and members began to be asked, by a clock that never jumps."""

    observed: Observed
    clusters: tuple[ClusterView, ...]
    apps: tuple[AppView, ...] = ()
    seen_at_s: float = 0.0

    @property
    def views(self) -> tuple[View, ...]:
        """The clusters first: what an application rests on is planned, and done, before it."""
        return (*self.clusters, *self.apps)


async def survey(
    ports: Ports,
    documents: Sequence[Document],
    attempts: Mapping[str, Attempt] | None = None,
    doctrine: Doctrine = DOCTRINE,
    touched_s_ago: Mapping[str, float] | None = None,
) -> Survey:
    """Observe, and plan for all that is described or present. Where something took so long that
    nothing may rest on it any more, what changes quickly is observed again."""
    wishes = wishes_of(documents)
    seen_at_s = anyio.current_time()
    seen = await observe(ports, documents, attempts or {}, wishes)
    if anyio.current_time() - seen_at_s > FRESH_S:
        seen_at_s = anyio.current_time()
        seen = await observe_anew(ports, documents, seen, wishes)
    observed = dataclasses.replace(seen, touched_s_ago=touched_s_ago or {})
    now = ports.clock.now()
    clusters, apps = [], []
    for document in documents:
        if document.is_cluster:
            wished = wishes.get(document.name, NO_CATALOG)
            decision = make_plan(document, observed, now, doctrine.rules, wished)
            clusters.append(ClusterView(document.name, document, decision.desired, decision.plan))
        elif document.is_app:
            made = make_app_plan(document, documents, observed, now, doctrine.app_rules)
            apps.append(AppView(document.name, document, made.desired, made.plan))
    for name in orphans(documents, observed):
        plan = make_retirement_plan(name, observed, now, documents).plan
        clusters.append(ClusterView(name, None, None, plan))
    for name in orphaned_apps(documents, observed):
        plan = make_app_retirement_plan(name, observed, now, documents).plan
        apps.append(AppView(name, None, None, plan))
    return Survey(observed, tuple(clusters), tuple(apps), seen_at_s)


def orphans(documents: Sequence[Document], observed: Observed) -> list[str]:
    """Clusters that are in the swarm and in no document."""
    match observed.swarm:
        case Known(swarm):
            described = {document.name for document in documents if document.is_cluster}
            return sorted(owned_clusters(swarm) - described)
        case _:
            return []


def orphaned_apps(documents: Sequence[Document], observed: Observed) -> list[str]:
    """Applications that are in the swarm and in no document."""
    match observed.swarm:
        case Known(swarm):
            described = {document.name for document in documents if document.is_app}
            return sorted(owned_apps(swarm) - described)
        case _:
            return []
