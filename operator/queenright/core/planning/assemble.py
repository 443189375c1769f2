"""Steps of a plan put together: the owner's pause, retry backoff, at most one disruption.

Pure: the same steps, observation and moment give the same plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from queenright.core.actions import AnyAction
from queenright.core.manifest.moments import Pausing
from queenright.core.observed import Observed
from queenright.core.planning.backoff import hold_back
from queenright.core.planning.plan import Hold, Plan


def arrange(
    name: str,
    desired_digest: str,
    steps: Iterable[AnyAction | Hold],
    observed: Observed,
    now: datetime,
    *,
    made_by: Mapping[str, str] | None = None,
) -> Plan:
    """The plan out of the steps: repeated ones held back, and one disruption at the most.
    ``made_by`` is filled while the steps are drawn."""
    actions: list[AnyAction] = []
    holds: list[Hold] = []
    disrupted = ""
    for step in steps:
        kept = step if isinstance(step, Hold) else hold_back(step, observed.attempts, now)
        if isinstance(kept, Hold):
            holds.append(kept)
        elif kept.disrupts and disrupted and kept.disrupts != disrupted:
            holds.append(
                Hold(kept.key, f"waiting: {disrupted} is disrupted first (one service at a time)")
            )
        else:
            disrupted = kept.disrupts or disrupted
            actions.append(kept)
    rules = tuple((made_by or {}).items())
    return Plan(name, desired_digest, tuple(actions), sorted_holds(holds), rules)


def drawn(
    rules: Iterable[Callable[[Any], Iterable[AnyAction | Hold]]],
    state: object,
    made_by: dict[str, str],
) -> Iterator[AnyAction | Hold]:
    """The steps of the rules in their order; ``made_by`` gets the rule of each step's key."""
    for rule in rules:
        name = getattr(rule, "__name__", "").removeprefix("plan_")
        for step in rule(state):
            if name:
                made_by.setdefault(step.key, name)
            yield step


def sorted_holds(holds: Iterable[Hold]) -> tuple[Hold, ...]:
    """The holds, each once, in the order of their keys."""
    return tuple(sorted(set(holds), key=lambda h: (h.key, h.reason)))


def as_paused_holds(
    name: str, pause: Pausing, steps: Iterable[AnyAction | Hold], spared: str = ""
) -> Iterator[Hold]:
    """The steps as what would be done: the owner has paused reconciliation, and nothing else, which
    ``spared`` tells."""
    until = pause.until
    end = f"until {until:%Y-%m-%dT%H:%M:%SZ}" if until else "until the file says otherwise"
    yield Hold(
        f"reconcile/{name}",
        f"reconciliation is paused {end}; nothing is changed here{spared}",
        until,
    )
    for step in steps:
        if isinstance(step, Hold):
            yield step
        else:
            yield Hold(step.key, f"not done while reconciliation is paused: {step.reason}")
