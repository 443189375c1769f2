"""One pass: observe, plan, guard, execute."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import anyio
import structlog

from queenright.core.actions import RaftRemove
from queenright.core.audit.record import Trigger
from queenright.core.kinds.registry import needed_by
from queenright.core.kinds.ruleset import RULESET, Ruleset
from queenright.core.manifest.document import Document
from queenright.core.observed import Known, Observed, Unknown
from queenright.core.observed.ages import Ages
from queenright.core.planning.faults import DocumentKey
from queenright.core.planning.guards import refusal_by
from queenright.core.planning.plan import Refusal
from queenright.engine.absences import Absences
from queenright.engine.execute import FRESH_S, Result, execute, is_stale
from queenright.engine.faults import Faults
from queenright.engine.give_way import between_documents, give_way
from queenright.engine.held import HeldSteps
from queenright.engine.interruption import Interruption
from queenright.engine.limited import NotAskedError
from queenright.engine.observe import observe_fresh
from queenright.engine.planning import PlannedObject, PlannedPass, plan_all
from queenright.engine.remembered import Inputs, Remembered
from queenright.engine.retries import Attempts
from queenright.engine.sightings import Sightings
from queenright.engine.tenure import ALWAYS, Permission
from queenright.ports import Ports

STRICT_LOOKS = 2
"""The number of observations in a row that may be too slow and are made again; after that, data
that can't be read sooner is used as it is."""
MOST_DOUBLINGS = 4
ENDED = "a trigger ended the pass"

log = structlog.get_logger()


@dataclass(slots=True)
class LoopState:
    """The state that a process keeps between passes: attempts, and recorded refusals."""

    attempts: Attempts = field(default_factory=Attempts)
    faults: Faults = field(default_factory=Faults)
    sightings: Sightings = field(default_factory=Sightings)
    absences: Absences = field(default_factory=Absences)
    holds: HeldSteps = field(default_factory=HeldSteps)
    remembered: Remembered = field(default_factory=Remembered)
    refused: dict[str, Refusal] = field(default_factory=dict)
    disrupted_at_s: dict[str, float] = field(default_factory=dict)
    """The time at which this process last disrupted each service, by a monotonic clock."""
    slow_looks: int = 0
    """The number of observations in a row that were older than ``FRESH_S`` when complete."""

    def touched_s_ago(self) -> Mapping[str, float]:
        return Ages(dict(self.disrupted_at_s), anyio.current_time())

    async def with_memory(
        self, seen: Observed, now_s: float, part: frozenset[str] | None = None
    ) -> Observed:
        """Return the observation with the values that only a running process knows. Between its
        steps the event loop runs whatever else is due. With ``part``, only the members of these
        clusters were asked."""
        for _ in self.sightings.noting(seen, now_s, part):
            await give_way()
        ages = self.sightings.ages(now_s)
        await give_way()
        return replace(
            seen,
            touched_s_ago=self.touched_s_ago(),
            seen_s_ago=ages,
            absent_s=self.absences.of(seen, now_s),
        )

    def note(self, result: Result, now_s: float) -> None:
        """Record the actions that were just tried; a failed one may still have taken effect."""
        self.attempts.record(result.tried, now_s)
        for action, _ in result.tried:
            if action.disrupts:
                self.disrupted_at_s[action.disrupts] = anyio.current_time()
            if isinstance(action, RaftRemove):
                self.sightings.forget_voters(action.cluster)

    def fresh_s(self, seen_at_s: float) -> float:
        """Return the greatest age for this pass's observation. If even a second observation of only
        the swarm and the members is too slow, several times in a row, the limit doubles and a
        warning is logged, because an operator that never acts protects nobody."""
        self.slow_looks = self.slow_looks + 1 if is_stale(seen_at_s) else 0
        doublings = min(max(0, self.slow_looks - STRICT_LOOKS), MOST_DOUBLINGS)
        if doublings:
            took_s = round(anyio.current_time() - seen_at_s, 1)
            log.warning("observation too old; age limit raised", seconds=took_s)
        return FRESH_S * 2.0**doublings


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms on which a pass acts: why, until when, by which rules, and with which right."""

    trigger: Trigger
    is_stopping: Callable[[], bool]
    ruleset: Ruleset = RULESET
    permission: Permission = ALWAYS


@dataclass(slots=True)
class PassResult:
    """The observation, the actions that were tried, and a guard's refusals. ``is_too_old`` marks a
    pass that did nothing because its observation was too old by then, ``is_ended`` one that a
    trigger ended before it had planned everything. ``left`` are documents that needed more than was
    asked."""

    survey: PlannedPass
    results: list[Result] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    left: set[DocumentKey] = field(default_factory=set)
    is_too_old: bool = False
    is_ended: bool = False

    @property
    def has_acted(self) -> bool:
        return any(result.tried for result in self.results)

    @property
    def failures(self) -> tuple[str, ...]:
        return tuple(failure for result in self.results for failure in result.failures)

    @property
    def is_converged(self) -> bool:
        return all(view.plan.is_converged for view in self.survey.views)


NOTHING: Final = PassResult(PlannedPass(Observed(Unknown("nothing was asked"))))
"""The result of a pass over no document."""


async def reconcile(
    ports: Ports,
    documents: Sequence[Document],
    trigger: Trigger,
    memory: LoopState,
    is_stopping: Callable[[], bool],
    *,
    ruleset: Ruleset = RULESET,
    permission: Permission = ALWAYS,
    interruption: Interruption | None = None,
) -> PassResult:
    """One pass over every document. Without ``permission`` nothing is tried, and nothing recorded.
    Until it begins to act, ``interruption`` can end it."""
    with (interruption or Interruption()).may_end() as scope:
        memory.absences.note(documents, ports.clock.monotonic_s())
        attempts = memory.attempts.as_of(ports.clock.monotonic_s())
        look = await observe_fresh(ports, documents, attempts, memory.faults, memory.remembered)
        await give_way()
        seen = await memory.with_memory(look.observed, ports.clock.monotonic_s())
        look = replace(look, observed=seen)
        await give_way()
        now = ports.clock.now()
        found = await plan_all(
            documents, look, now, ruleset, memory.faults, remembered=memory.remembered
        )
    if scope.cancelled_caught:
        return PassResult(PlannedPass(Observed(Unknown(ENDED))), is_ended=True)
    fresh_s = memory.fresh_s(found.seen_at_s)
    terms = Terms(trigger, is_stopping, ruleset, permission)
    result = await act(ports, found, memory, terms, fresh_s=fresh_s)
    remember(memory, found, ports)
    return result


async def act(
    ports: Ports,
    found: PlannedPass,
    memory: LoopState,
    terms: Terms,
    *,
    fresh_s: float,
) -> PassResult:
    """Judge and execute the plans. A document that rests on what was disrupted in this very pass
    waits for the next one, which sees what has come of it; one of which a guard needs more than was
    asked, for the next full pass."""
    is_standby = not terms.permission.holds()
    judged = Inputs(found.observed)
    result = PassResult(found)
    disrupted: set[DocumentKey] = set()
    for view in found.views:
        await between_documents()
        if is_standby or (view.document is not None and needed_by(view.document) in disrupted):
            continue
        tried = Result()
        with memory.faults.kept_from_others(view.key, "recording"):
            now_s = ports.clock.monotonic_s()
            memory.holds.note(view.key, view.plan, terms.trigger, now_s, ports.audit)
        with memory.faults.kept_from_others(view.key, "acting"):
            try:
                refusal = judge(view, judged, terms.ruleset, memory)
            except NotAskedError:
                result.left.add(view.key)
                continue
            if refusal:
                refuse(ports, view, terms.trigger, refusal, memory)
                result.refusals.append(refusal)
                continue
            memory.refused.pop(view.name, None)
            tried = await execute(
                ports,
                view.plan,
                terms.trigger,
                terms.is_stopping,
                found.seen_at_s,
                fresh_s=fresh_s,
                permission=terms.permission,
            )
        is_late = bool(view.plan.actions) and is_stale(found.seen_at_s, fresh_s)
        result.is_too_old |= is_late and not tried.tried
        result.results.append(tried)
        memory.note(tried, ports.clock.monotonic_s())
        if any(action.disrupts for action, _ in tried.tried):
            disrupted.add(view.key)
    return result


def judge(
    view: PlannedObject[Any], inputs: Inputs, ruleset: Ruleset, memory: LoopState
) -> Refusal | None:
    """Return the first guard's refusal of a plan, None if it may be carried out: for a plan that is
    remembered, and so does nothing, as it is remembered."""
    guards, plan = ruleset.guards, view.plan
    if not memory.remembered.keeps((view.key, "plan"), plan):
        return refusal_by(guards, plan, inputs.observed)
    refusal = memory.remembered.answer(
        (view.key, "refusal"),
        (plan, guards),
        inputs,
        lambda given: refusal_by(guards, plan, given.observed),
        may_last=lambda refusal: refusal is None,
    )
    return refusal and refusal_by(guards, plan, inputs.observed)


def refuse(
    ports: Ports, view: PlannedObject[Any], trigger: Trigger, refusal: Refusal, memory: LoopState
) -> None:
    """Record a refusal once, not again in every pass that repeats it."""
    if refusal.fault is not None:
        memory.faults.note(view.key, refusal.fault, "judging")
    if memory.refused.get(view.name) != refusal:
        ports.audit.refused(view.plan, trigger, refusal)
    memory.refused[view.name] = refusal


def remember(memory: LoopState, found: PlannedPass, ports: Ports) -> None:
    present = {view.key for view in found.views}
    memory.holds.forget_others(present)
    memory.remembered.forget_others(present)
    if isinstance(found.observed.swarm, Known):
        memory.faults.is_whole = True
        plans = [view.plan for view in found.views]
        memory.attempts.forget_satisfied(plans, ports.clock.monotonic_s())
