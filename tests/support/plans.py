"""The plan of one document as a pass makes it, from an observation that is at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from queenright.core.actions import LabelConfig
from queenright.core.kinds.claims import claimed_labels, claims_of
from queenright.core.kinds.kind import Context, Rule, Surroundings
from queenright.core.kinds.notes_app.kind import NOTES_APP
from queenright.core.kinds.postgres_cluster.annotations import (
    PendingSwitchover,
    read_annotations,
)
from queenright.core.kinds.postgres_cluster.kind import POSTGRES_CLUSTER
from queenright.core.kinds.registry import AnyKind, key_of, kind_of
from queenright.core.manifest.document import Document
from queenright.core.observed import Observed
from queenright.core.planning.deletion import NO_LABELS, ClaimedLabels
from queenright.core.planning.plan import Hold, Plan
from queenright.core.planning.preflight import swarm_or_hold
from queenright.core.postgres.catalog import DesiredCatalog


@dataclass(frozen=True, slots=True)
class Decision:
    """A plan, and the desired state that it serves (None where it could not be derived)."""

    plan: Plan
    desired: Any = None


def make_plan(
    document: Document,
    observed: Observed,
    now: datetime,
    documents: Sequence[Document] | None = None,
    rules: tuple[Rule, ...] | None = None,
    *,
    claims: DesiredCatalog | None = None,
) -> Decision:
    """The next safe steps for a document; ``documents`` are all, itself among them, and
    ``claims`` what they claim of it, if not what is in them."""
    documents = (document,) if documents is None else documents
    swarm, kind = swarm_or_hold(observed), kind_of(document)
    if isinstance(swarm, Hold):
        return Decision(Plan(document.name, "", holds=(swarm,)))
    claimed_of = claims_of(documents) if claims is None else {key_of(document): claims}
    around = Surroundings(swarm, documents, claimed_of)
    found = ((key_of(one), kind_of(one).expand(one, around)) for one in documents)
    desired = {key: one for key, one in found if one is not None}
    claimed = claimed_labels(one for one in documents if one is not document)
    context = Context(swarm, observed, now, documents, desired, claimed)
    mine = desired.get(key_of(document))
    return Decision(kind.plan(document, mine, context, rules or kind.rules), mine)


def plan_deletion(
    kind: AnyKind, name: str, observed: Observed, now: datetime, claimed: ClaimedLabels = NO_LABELS
) -> Plan:
    """The next safe steps for what no document describes."""
    swarm = swarm_or_hold(observed)
    if isinstance(swarm, Hold):
        return Plan(name, "", holds=(swarm,))
    return kind.plan_deletion(name, Context(swarm, observed, now, claimed=claimed))


def plan_cluster_deletion(
    name: str, observed: Observed, now: datetime, claimed: ClaimedLabels = NO_LABELS
) -> Plan:
    return plan_deletion(POSTGRES_CLUSTER, name, observed, now, claimed)


def plan_app_deletion(
    name: str, observed: Observed, now: datetime, claimed: ClaimedLabels = NO_LABELS
) -> Plan:
    return plan_deletion(NOTES_APP, name, observed, now, claimed)


def note_of(plan: Plan) -> PendingSwitchover | None:
    """The switchover that a plan notes in the state config."""
    label = next(action for action in plan.actions if isinstance(action, LabelConfig))
    return read_annotations(label.config.labels).move
