"""One pass: observe, plan, guard, execute. Reads as the architecture does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import anyio

from queenright.core.audit import Trigger
from queenright.core.doctrine import DOCTRINE, Doctrine
from queenright.core.guards import first_refusal
from queenright.core.observed import Known
from queenright.core.plan import Refusal
from queenright.core.spec.problems import Document
from queenright.engine.attempts import Attempts
from queenright.engine.execute import Result, execute
from queenright.engine.survey import AppView, ClusterView, Survey, View, survey
from queenright.engine.world import Ports


@dataclass(slots=True)
class Memory:
    """What the passes of one process hand on: attempts, and the refusals already recorded."""

    attempts: Attempts = field(default_factory=Attempts)
    refused: dict[str, Refusal] = field(default_factory=dict)
    disturbed_at_s: dict[str, float] = field(default_factory=dict)
    """When this process last disturbed each service, by a clock that never jumps."""

    def touched_s_ago(self) -> dict[str, float]:
        now = anyio.current_time()
        return {name: now - at for name, at in self.disturbed_at_s.items()}

    def note(self, result: Result) -> None:
        """These actions were just tried; one that failed may have taken effect all the same."""
        for action, _ in result.tried:
            if action.disturbs:
                self.disturbed_at_s[action.disturbs] = anyio.current_time()


@dataclass(frozen=True, slots=True)
class PassResult:
    """What was seen, what was tried, and what a guard stopped."""

    survey: Survey
    results: tuple[Result, ...]
    refusals: tuple[Refusal, ...]

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
    seen_at_s = anyio.current_time()
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
        result = await execute(ports, view.plan, trigger, is_stopping, seen_at_s)
        memory.attempts.record(result.tried, ports.clock.now())
        memory.note(result)
        results.append(result)
        if isinstance(view, ClusterView) and any(action.disturbs for action, _ in result.tried):
            disturbed.add(view.name)
    remember(memory, found, ports)
    return PassResult(found, tuple(results), tuple(refusals))


def refuse(ports: Ports, view: View, trigger: Trigger, refusal: Refusal, memory: Memory) -> None:
    """Record a refusal once, not again for every pass in which it stands."""
    if memory.refused.get(view.name) != refusal:
        ports.audit.refused(view.plan, trigger, refusal)
    memory.refused[view.name] = refusal


def remember(memory: Memory, found: Survey, ports: Ports) -> None:
    if isinstance(found.observed.swarm, Known):
        plans = [view.plan for view in found.views]
        memory.attempts.forget_satisfied(plans, ports.clock.now())
