"""One look without doing anything: what is observed, and what would be done for each cluster.

The loop acts on it; ``plan`` and ``status`` show it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from queenright.core.desired import DesiredCluster
from queenright.core.doctrine import DOCTRINE, Doctrine
from queenright.core.observed import Attempt, Known, Observed
from queenright.core.plan import Plan
from queenright.core.planner import make_plan, make_retirement_plan
from queenright.core.retirement import owned_clusters
from queenright.core.spec.problems import Document
from queenright.engine.observe import observe
from queenright.engine.world import Ports


@dataclass(frozen=True, slots=True)
class ClusterView:
    """One cluster: its document (None when it left the files), desired state and plan."""

    name: str
    document: Document | None
    desired: DesiredCluster | None
    plan: Plan


@dataclass(frozen=True, slots=True)
class Survey:
    observed: Observed
    clusters: tuple[ClusterView, ...]


async def survey(
    ports: Ports,
    documents: Sequence[Document],
    attempts: Mapping[str, Attempt] | None = None,
    doctrine: Doctrine = DOCTRINE,
    touched_s_ago: Mapping[str, float] | None = None,
) -> Survey:
    """Observe once, and plan for every cluster that is described or present."""
    seen = await observe(ports, documents, attempts or {})
    observed = dataclasses.replace(seen, touched_s_ago=touched_s_ago or {})
    now = ports.clock.now()
    views = []
    for document in documents:
        decision = make_plan(document, observed, now, doctrine.rules)
        views.append(ClusterView(document.name, document, decision.desired, decision.plan))
    for name in orphans(documents, observed):
        decision = make_retirement_plan(name, observed, now, documents)
        views.append(ClusterView(name, None, None, decision.plan))
    return Survey(observed, tuple(views))


def orphans(documents: Sequence[Document], observed: Observed) -> list[str]:
    """Clusters that are in the swarm and in no document."""
    match observed.swarm:
        case Known(swarm):
            return sorted(owned_clusters(swarm) - {document.name for document in documents})
        case _:
            return []
