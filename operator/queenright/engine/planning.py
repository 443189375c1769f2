"""Plans what is to be done for each document, and for what is deployed without one.

The loop acts on the plans; ``plan`` and ``status`` show them. Invariant: a document in which the
operator itself fails has a hold in the place of its plan, and keeps no other from its.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Generic, TypeVar

from queenright.core.kinds.claims import claimed_labels
from queenright.core.kinds.kind import Context, Desired, Kind
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.kinds.registry import (
    KINDS,
    AnyKind,
    key_of,
    kind_of,
    needed_by,
    of_kind,
)
from queenright.core.kinds.ruleset import RULESET, Ruleset
from queenright.core.manifest.document import Document
from queenright.core.observed import Known, Observed, SwarmState
from queenright.core.observed.recorded.time import plain
from queenright.core.planning.deletion import NO_LABELS
from queenright.core.planning.fault_holds import fault_hold, waits_for_cluster
from queenright.core.planning.faults import DocumentKey, fault_of
from queenright.core.planning.plan import Hold, Plan
from queenright.core.planning.preflight import swarm_or_hold
from queenright.core.planning.status import Status
from queenright.engine.faults import Faults
from queenright.engine.give_way import between_documents
from queenright.engine.observe import Look, observe_fresh
from queenright.engine.remembered import Inputs, Remembered
from queenright.ports import Ports

D_co = TypeVar("D_co", bound=Desired, covariant=True)
D = TypeVar("D", bound=Desired)


@dataclass(frozen=True, slots=True)
class PlannedObject(Generic[D_co]):
    """One document (None when it left the files, and something is deployed), what it asks of the
    swarm, and its plan."""

    key: DocumentKey
    document: Document | None
    desired: D_co | None
    plan: Plan

    @property
    def name(self) -> str:
        return self.key.name


@dataclass(frozen=True, slots=True)
class PlannedPass:
    """``views`` are in the order of the kinds: what a document rests on is planned, and done,
    before it. ``seen_at_s`` is when swarm and members began to be asked, by a clock that never
    jumps."""

    observed: Observed
    views: tuple[PlannedObject[Any], ...] = ()
    seen_at_s: float = 0.0

    def of(self, kind: Kind[Any, D]) -> tuple[PlannedObject[D], ...]:
        """The views of one kind."""
        return tuple(view for view in self.views if view.key.kind == kind.name)

    def with_members(self) -> tuple[PlannedObject[DesiredCluster], ...]:
        """The views of documents with members, in their order."""
        return tuple(view for view in self.views if KINDS[view.key.kind].has_members)


async def observe_and_plan(
    ports: Ports, documents: Sequence[Document], ruleset: Ruleset = RULESET
) -> PlannedPass:
    """One look for a command that remembers nothing: observes and plans, and does nothing."""
    faults = Faults()
    look = await observe_fresh(ports, documents, {}, faults)
    return await plan_all(documents, look, ports.clock.now(), ruleset, faults)


async def plan_all(
    documents: Sequence[Document],
    look: Look,
    now: datetime,
    ruleset: Ruleset,
    faults: Faults,
    *,
    remembered: Remembered | None = None,
) -> PlannedPass:
    """The plans for all that is described or deployed: of what nothing has changed, as they are
    ``remembered``. Between two of them the event loop runs whatever else is due: the plans rest on
    one observation all the same."""
    views: list[PlannedObject[Any]] = []
    memory = Remembered() if remembered is None else remembered
    for view in Planning(documents, look, now, ruleset, faults, memory).views():
        views.append(view)
        await between_documents()
    return PlannedPass(look.observed, tuple(views), look.began_s)


@dataclass(frozen=True)
class Planning:
    """The plans of one pass, each made separately: one that fails is a hold."""

    documents: Sequence[Document]
    look: Look
    now: datetime
    ruleset: Ruleset
    faults: Faults
    remembered: Remembered

    def views(self) -> Iterator[PlannedObject[Any]]:
        """The documents of each kind, then deployed objects without one."""
        swarm = self.swarm
        for kind in KINDS.values():
            for document in of_kind(kind, self.documents):
                yield self.described(document, swarm)
            for name in self._orphans(kind):
                yield self.former(kind, name, swarm)

    @property
    def swarm(self) -> SwarmState | Hold:
        return swarm_or_hold(self.look.observed)

    def described(self, document: Document, swarm: SwarmState | Hold) -> PlannedObject[Any]:
        """The view of a document."""
        key, needed = key_of(document), needed_by(document)
        if odd := self._unreadable(key) or (needed and self._unreadable(needed, key.name)):
            return PlannedObject(key, document, None, odd)
        if needed is not None and needed in self.faults.now:
            waits = Plan(key.name, "", holds=(waits_for_cluster(key, needed),))
            return PlannedObject(key, document, None, waits)
        if isinstance(swarm, Hold):
            return PlannedObject(key, document, None, Plan(key.name, "", holds=(swarm,)))
        kind, desired = kind_of(document), self.look.desired.get(key)
        rules = self.ruleset.rules[kind.name]

        def plan_from(given: Inputs) -> Plan:
            plan = kind.plan(document, desired, context_of(given, key), rules)
            return counted(with_real_moments(plan))

        def make() -> Plan:
            given = (document, desired, rules)
            return self.remembered.answer(
                (key, "plan"), given, self._inputs, plan_from, may_last=may_last
            )

        plan = self._made(key, make)
        return PlannedObject(key, document, desired if key not in self.faults.now else None, plan)

    def former(self, kind: AnyKind, name: str, swarm: SwarmState | Hold) -> PlannedObject[Any]:
        """The view of what no document describes."""
        key = DocumentKey(kind.name, name)
        if odd := self._unreadable(key):
            return PlannedObject(key, None, None, odd)
        if isinstance(swarm, Hold):
            return PlannedObject(key, None, None, Plan(name, "", holds=(swarm,)))

        def make() -> Plan:
            claimed = claimed_labels(self.documents)
            return kind.plan_deletion(name, replace(context_of(self._inputs), claimed=claimed))

        return PlannedObject(key, None, None, self._made(key, make))

    @cached_property
    def _inputs(self) -> Inputs:
        look, (labels, claims) = self.look, self.remembered.claims_among(self.documents)
        return Inputs(look.observed, self.documents, self.now, look.desired, claims, labels)

    def _orphans(self, kind: AnyKind) -> list[str]:
        """Return the objects that are in the swarm and in no document."""
        match self.look.observed.swarm:
            case Known(swarm):
                described = {document.name for document in of_kind(kind, self.documents)}
                odd = {one.owner for one in swarm.unreadable if one.label == kind.label}
                return sorted((kind.owned(swarm) | odd) - described)
            case _:
                return []

    def _unreadable(self, key: DocumentKey, planned: str = "") -> Plan | None:
        """Return holds instead of a plan if an object of the document can't be read, so that the
        operator never acts as if it did not exist."""
        if not isinstance(self.look.observed.swarm, Known):
            return None
        label = KINDS[key.kind].label
        holds = tuple(
            Hold(
                f"unreadable/{key.name}",
                f"{key}: {odd.why}; nothing is changed here. Undo what was changed of it by hand, "
                "or remove it",
                wants_attention=True,
            )
            for odd in self.look.observed.swarm.value.unreadable
            if (odd.label, odd.owner) == (label, key.name)
        )
        return Plan(planned or key.name, "", holds=holds) if holds else None

    def _made(self, key: DocumentKey, make: Callable[[], Plan]) -> Plan:
        """The plan, or the hold in its place where the document has a fault in this pass."""
        if key not in self.faults.now:
            with self.faults.kept_from_others(key, "planning"):
                return counted(make())
        wait_s = self.faults.retried_in_s(key)
        at = self.now + timedelta(seconds=wait_s) if wait_s else None
        return Plan(key.name, "", holds=(fault_hold(key, self.faults.now[key], at),))


def context_of(given: Inputs, key: DocumentKey | None = None) -> Context:
    """Return the context of a plan; with a key, of the document that has it."""
    claimed = NO_LABELS if key is None else given.claimed(key)
    return Context(given.swarm, given.observed, given.now, given.documents, given.desired, claimed)


def counted(plan: Plan) -> Plan:
    """Return the plan. It counts as made if it can be written down: its identifier is a digest of
    all its values."""
    _ = plan.id
    return plan


def with_real_moments(plan: Plan) -> Plan:
    """Return the plan without views of the time, which its holds may have."""
    if plan.recheck_at is None:
        return plan
    holds = (replace(hold, recheck_at=plain(hold.recheck_at)) for hold in plan.holds)
    return replace(plan, holds=tuple(holds))


def may_last(plan: Plan) -> bool:
    """Return True for a plan that may be given again: one that does nothing, and waits for no
    moment."""
    return not plan.actions and plan.recheck_at is None


def status_of(view: PlannedObject[Any], observed: Observed, now: datetime) -> Status:
    """Return one document's status; if the operator itself fails at it, its plan with the fault."""
    kind = KINDS[view.key.kind]
    try:
        return kind.status(view.name, view.desired, view.plan, observed, now)
    except Exception as error:  # noqa: BLE001  # one document's rows, and every other one is shown
        return kind.status(view.name, None, with_fault(view, error), observed, now)


def with_fault(view: PlannedObject[Any], error: Exception) -> Plan:
    hold = fault_hold(view.key, fault_of(error))
    return replace(view.plan, holds=(hold, *view.plan.holds))
