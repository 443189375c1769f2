"""The reasons of an action, a refusal, a hold or a change of leader, from the trail's records.

Pure. Invariant: it says what the records have, and that something is not recorded; it never infers
a cause from silence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from queenright.core.audit.questions import ACTING, Found, Held, LeaderChange
from queenright.core.audit.reading import Step
from queenright.core.audit.reasons import (
    NO_RULE,
    Why,
    causes,
    disrupted_text,
    gap_text,
    more,
    outcome_text,
    outcome_word,
    rule_text,
)

BEFOREHAND = timedelta(hours=24)
MOST_BEFORE = 3
MOST_FIELDS = 12


@dataclass(frozen=True, slots=True)
class Explanation:
    """An event, and its reasons in the order in which a person asks for them."""

    title: str
    sort: str
    cluster: str
    at: str
    record: int | None
    reasons: tuple[Why, ...]


@dataclass(frozen=True)
class Trail:
    """The records around, newest first, and the changes of leader."""

    steps: Sequence[Step]
    changes: Sequence[LeaderChange] = ()
    _others: dict[str, list[Step]] = field(default_factory=dict, compare=False)

    def of(self, cluster: str) -> list[Step]:
        """Return the records of one cluster, newest first."""
        if cluster not in self._others:
            self._others[cluster] = [step for step in self.steps if step.cluster == cluster]
        return self._others[cluster]

    def guards(self, step: Step) -> tuple[str, ...]:
        """Return the guards of the process that wrote a record: those of the last start before."""
        starts = (
            one
            for one in self.steps
            if one.phase == "start" and one.chain == step.chain and is_before(one, step)
        )
        start = next(starts, None)
        return start.guards if start else ()


def is_before(one: Step, other: Step) -> bool:
    return one.seq is not None and other.seq is not None and one.seq < other.seq


def explained(found: Found, trail: Trail) -> Explanation:
    """Return the explanation of one thing that was found."""
    match found:
        case Held(step, _):
            return explained_hold(found, trail)
        case LeaderChange():
            return explained_change(found, trail)
        case step if step.phase == "refused":
            return explained_refusal(step, trail)
        case step:
            return explained_action(step, trail)


def title_of(found: Found) -> str:
    """Return what it is, of whom, when, and in which record."""
    match found:
        case Held(step, hold):
            name = f"hold {hold.key}"
        case LeaderChange():
            step = found.noted
            name = f"{found.key}: {found.before or 'nobody'} -> {found.leader}"
        case step if step.phase == "refused":
            name = f"plan {step.plan_id}, refused by {step.guard}"
        case step:
            name = f"{step.key}, {outcome_word(step)}"
    return f"{name}; cluster {step.cluster}, {step.at} ({step.place})"


def explained_action(step: Step, trail: Trail) -> Explanation:
    change = change_after(step, trail)
    reasons = [
        *causes(step),
        Why("Observed", step.reason or "no reason is recorded"),
        *(Why("Field", str(one)) for one in step.changes[:MOST_FIELDS]),
        *more(len(step.changes) - MOST_FIELDS, "Field"),
        Why("Rule", rule_text(step)),
        Why("Guards", guards_text(step, trail)),
        *beforehand(step, trail),
        Why("Disrupted", disrupted_text(step)),
        Why("Outcome", outcome_text(step)),
        *afterwards(step, change, trail),
        Why("Clients", clients_text(step, change)),
    ]
    return told(step, step.key, "action", reasons)


def explained_refusal(step: Step, trail: Trail) -> Explanation:
    reasons = [
        *causes(step),
        Why("Guard", f"{step.guard or 'not recorded'}: {step.reason or 'no reason is recorded'}"),
        *(Why("Not done", key) for key in step.not_done[:MOST_FIELDS]),
        *more(len(step.not_done) - MOST_FIELDS, "Not done"),
        *done_since(step, step.not_done, trail),
    ]
    return told(step, f"refused: plan {step.plan_id}", "refusal", reasons)


def explained_hold(found: Held, trail: Trail) -> Explanation:
    step, hold = found.step, found.hold
    over = next(
        (
            one
            for one in reversed(trail.of(step.cluster))
            if one.phase == "held" and hold.key in one.ended and is_later(one, step)
        ),
        None,
    )
    waits = "nobody has to act" if hold.is_note else "it waits; nobody has to act"
    needs = "a person has to act" if hold.wants_attention else waits
    reasons = [
        *causes(step),
        Why("Held", hold.reason or "no reason is recorded"),
        Why("Rule", hold.rule or NO_RULE),
        Why("Needs", needs),
        *done_since(step, (hold.key,), trail),
        Why("Over", f"by {over.at} ({over.place})" if over else "no end is recorded"),
    ]
    return told(step, f"hold {hold.key}", "hold", reasons)


def explained_change(found: LeaderChange, trail: Trail) -> Explanation:
    cause, measured = found.cause, found.measured
    reasons = [Why("Leader", f"{found.before or 'nobody'} -> {found.leader}")]
    if cause is not None:
        said = f"{cause.key}, {outcome_word(cause)} at {cause.at} ({cause.place})"
        reasons += [
            Why("Action", said),
            *causes(cause),
            Why("Observed", cause.reason or "no reason is recorded"),
            Why("Rule", rule_text(cause)),
            Why("Guards", guards_text(cause, trail)),
            *beforehand(cause, trail),
            Why("Disrupted", disrupted_text(cause)),
        ]
    else:
        text = "no action here asked for it: Patroni's own failover, or a switchover by hand"
        reasons.append(Why("Action", text))
    if measured is not None and measured.cause:
        reasons.append(Why("Known", f"the operator noted: {measured.cause}"))
    reasons.append(Why("Clients", gap_text(measured)))
    return told(found.noted, f"{found.key} (timeline {found.timeline})", "leader-change", reasons)


def told(step: Step, name: str, sort: str, reasons: Sequence[Why]) -> Explanation:
    title = f"{name}; cluster {step.cluster}, {step.at} ({step.place})"
    shown = tuple(reasons)
    if step.is_altered:
        text = (
            f"{step.place} does not match its hash: it was altered; "
            "`queenright audit verify` shows the trail's breaks"
        )
        shown = (Why("Warning", text), *shown)
    return Explanation(title, sort, step.cluster, step.at, step.seq, shown)


def guards_text(step: Step, trail: Trail) -> str:
    names = trail.guards(step)
    if step.trigger == "command":
        return "those of the command itself; none is recorded"
    if not names:
        return "not recorded; the operator acts only on a plan that every guard lets pass"
    return f"{len(names)} let the plan pass: {', '.join(names)}"


def beforehand(step: Step, trail: Trail) -> list[Why]:
    """Return earlier refusals, holds and failures of the same step, newest first."""
    found: list[Why] = []
    for one in trail.of(step.cluster):
        if not is_earlier(one, step) or not_within(one, step, BEFOREHAND):
            continue
        if one.phase == "refused" and step.key in one.not_done:
            found.append(Why("Before", f"{one.at}: refused by {one.guard}: {one.reason}"))
        held = (hold for hold in one.holds if hold.key == step.key)
        found += [Why("Before", f"{one.at}: held: {hold.reason}") for hold in held]
        if one.key == step.key and one.phase in ACTING:
            if one.outcome == "done":
                break
            found.append(Why("Before", f"{one.at}: {outcome_text(one)}"))
    return found[:MOST_BEFORE] + more(len(found) - MOST_BEFORE, "Before")


def done_since(step: Step, keys: Sequence[str], trail: Trail) -> list[Why]:
    """Return the first attempt at each of these steps after a record."""
    found: dict[str, Step] = {}
    for one in trail.of(step.cluster):
        if one.key in keys and one.phase in ACTING and is_later(one, step):
            found[one.key] = one
    return [
        Why("Since", f"{one.at}: {key}, {outcome_text(one)} ({one.place})")
        for key, one in list(found.items())[:MOST_FIELDS]
    ]


def afterwards(step: Step, change: LeaderChange | None, trail: Trail) -> list[Why]:
    found: list[Why] = []
    if change is not None:
        text = f"{change.before} -> {change.leader} on timeline {change.timeline} at {change.at}"
        found.append(Why("After", f"the leader changed: {text}"))
    if step.outcome not in ("", "done"):
        found += [Why("After", why.text) for why in done_since(step, (step.key,), trail)]
    return found


def change_after(step: Step, trail: Trail) -> LeaderChange | None:
    """Return the change of leader that an action made."""
    return next((one for one in trail.changes if one.cause == step), None)


def clients_text(step: Step, change: LeaderChange | None) -> str:
    if change is not None:
        return gap_text(change.measured)
    return "no change of leader came of it" if not step.disturbs else "no write gap is recorded"


def is_later(one: Step, other: Step) -> bool:
    return is_earlier(other, one)


def is_earlier(one: Step, other: Step) -> bool:
    """Return True if a record is before another one; the two trails share only the clock."""
    if one.chain == other.chain and one.seq is not None and other.seq is not None:
        return one.seq < other.seq
    return at_of(one) < at_of(other)


def at_of(step: Step) -> float:
    moment: datetime | None = step.moment
    return moment.timestamp() if moment else 0.0


def not_within(one: Step, other: Step, limit: timedelta) -> bool:
    return abs(at_of(other) - at_of(one)) > limit.total_seconds()
