"""One pass: observe, plan, guard, execute. Reads as the architecture does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import anyio
import structlog

from queenright.core.audit import Trigger
from queenright.core.doctrine import DOCTRINE, Doctrine
from queenright.core.guards import first_refusal
from queenright.core.observed import Known
from queenright.core.plan import Refusal
from queenright.core.spec.problems import Document
from queenright.engine.attempts import Attempts
from queenright.engine.execute import FRESH_S, Result, execute, is_stale
from queenright.engine.survey import AppView, ClusterView, Survey, View, survey
from queenright.engine.world import Ports

STRICT_LOOKS = 2
"""So many looks in a row that were too slow to act on are made again; after that, what can't be
had sooner is taken for what it is."""
MOST_DOUBLINGS = 4

log = structlog.get_logger()


@dataclass(slots=True)
class Memory:
    """What the passes of one process hand on: attempts, and the refusals already recorded."""

    attempts: Attempts = field(default_factory=Attempts)
    refused: dict[str, Refusal] = field(default_factory=dict)
    disturbed_at_s: dict[str, float] = field(default_factory=dict)
    """When this process last disturbed each service, by a clock that never jumps."""
    slow_looks: int = 0
    """How many observations in a row were older than ``FRESH_S`` when they were complete."""

    def touched_s_ago(self) -> dict[str, float]:
        now = anyio.current_time()
        return {name: now - at for name, at in self.disturbed_at_s.items()}

    def note(self, result: Result) -> None:
        """These actions were just tried; one that failed may have taken effect all the same."""
        for action, _ in result.tried:
            if action.disturbs:
                self.disturbed_at_s[action.disturbs] = anyio.current_time()

    def fresh_s(self, seen_at_s: float) -> float:
        """How old the observation of this pass may be. Where even a second look at nothing but the
        swarm and the members is too slow, time and again, the bound doubles, since an operator that
        never acts protects nobody; and that is said."""
        self.slow_looks = self.slow_looks + 1 if is_stale(seen_at_s) else 0
        doublings = min(max(0, self.slow_looks - STRICT_LOOKS), MOST_DOUBLINGS)
        if doublings:
            took_s = round(anyio.current_time() - seen_at_s, 1)
            log.warning("swarm and members take too long to tell how they are", seconds=took_s)
        return FRESH_S * 2.0**doublings


@dataclass(frozen=True, slots=True)
class PassResult:
    """What was seen, what was tried, and what a guard stopped. ``is_too_old`` is a pass that did
    nothing of what it had to do, since what it saw was too old by then."""

    survey: Survey
    results: tuple[Result, ...]
    refusals: tuple[Refusal, ...]
    is_too_old: bool = False

    @property
    def has_acted(self) -> bool:
        return any(result.tried for result in self.results)

    @property
    def failures(self) -> tuple[str, ...]:
        return tuple(failure for result in self.results for failure in result.failures)

    @property
    def is_converged(self) -> bool:
        return all(view.plan.is_converged for view in self.survey.views)


async def reconcile(
    ports: Ports,
    documents: Sequence[Document],
    trigger: Trigger,
    memory: Memory,
    is_stopping: Callable[[], bool],
    *,
    doctrine: Doctrine = DOCTRINE,
) -> PassResult:
    """One pass over every cluster and every application. An application whose cluster was disturbed
    in this very pass waits for the next one, which sees what has come of it."""
    found = await survey(
        ports, documents, memory.attempts.counted, doctrine, memory.touched_s_ago()
    )
    fresh_s = memory.fresh_s(found.seen_at_s)
    is_too_old = False
    results, refusals = [], []
    disturbed: set[str] = set()
    for view in found.views:
        if isinstance(view, AppView) and view.desired and view.desired.cluster in disturbed:
            continue
        if refusal := first_refusal(view.plan, found.observed, doctrine.guards):
            refuse(ports, view, trigger, refusal, memory)
            refusals.append(refusal)
            continue
        memory.refused.pop(view.name, None)
        result = await execute(
            ports, view.plan, trigger, is_stopping, found.seen_at_s, fresh_s=fresh_s
        )
        is_late = bool(view.plan.actions) and is_stale(found.seen_at_s, fresh_s)
        is_too_old = is_too_old or (is_late and not result.tried)
        memory.attempts.record(result.tried, ports.clock.now())
        memory.note(result)
        results.append(result)
        if isinstance(view, ClusterView) and any(action.disturbs for action, _ in result.tried):
            disturbed.add(view.name)
    remember(memory, found, ports)
    return PassResult(found, tuple(results), tuple(refusals), is_too_old)


def refuse(ports: Ports, view: View, trigger: Trigger, refusal: Refusal, memory: Memory) -> None:
    """Record a refusal once, not again for every pass in which it stands."""
    if memory.refused.get(view.name) != refusal:
        ports.audit.refused(view.plan, trigger, refusal)
    memory.refused[view.name] = refusal


def remember(memory: Memory, found: Survey, ports: Ports) -> None:
    if isinstance(found.observed.swarm, Known):
        plans = [view.plan for view in found.views]
        memory.attempts.forget_satisfied(plans, ports.clock.now())
