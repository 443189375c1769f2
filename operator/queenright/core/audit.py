"""The audit trail's records: what was meant, what came of it, and why.

Decides, from a plan, its trigger and one of its actions, what the trail says of it. Invariant: a
record's body is finished JSON-ready data with nothing secret in it before it is numbered, hashed
and chained (see ``audit_chain``).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from queenright.core.redaction import HIDDEN, names_a_secret, redact

if TYPE_CHECKING:
    from queenright.core.actions import Action, FieldChange
    from queenright.core.plan import Plan, Refusal

LONGEST_TEXT = 2000
"""Characters of one old or new value that a record keeps; the digest in a name tells the rest."""


@dataclass(frozen=True, slots=True)
class Trigger:
    """What woke the pass. ``file`` and ``line`` are set where an edit caused it."""

    kind: Literal["start", "file", "docker", "member", "timer", "command"]
    detail: str = ""
    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Done:
    """The action took effect."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Somebody else wrote first; the next pass observes again."""

    error: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The action had no effect, or none that is known; ``transient`` if it may work later."""

    error: str
    transient: bool = True


Outcome = Done | Conflict | Failed

Phase = Literal["start", "intent", "outcome", "refused", "measured", "stop", "recovered", "rotated"]
Body = Mapping[str, object]
"""A record before it is numbered and chained: JSON-ready, redacted."""


def intent_body(plan: Plan, trigger: Trigger, action: Action) -> Body:
    """What is about to be tried."""
    return _finish("intent", _about(plan, trigger) | _deed(action))


def outcome_body(
    plan: Plan,
    trigger: Trigger,
    action: Action,
    outcome: Outcome,
    *,
    duration_ms: float,
    intent_seq: int | None,
) -> Body:
    """What came of it. It repeats the intent, so that this one line tells the whole story."""
    match outcome:
        case Done():
            result: dict[str, object] = {"outcome": "done"}
        case Conflict(error):
            result = {"outcome": "conflict", "error": error}
        case Failed(error, transient):
            result = {"outcome": "failed", "error": error, "transient": transient}
    result |= {"duration_ms": round(duration_ms, 1), "intent_seq": intent_seq}
    return _finish("outcome", _about(plan, trigger) | _deed(action) | result)


def refused_body(plan: Plan, trigger: Trigger, refusal: Refusal) -> Body:
    """A guard stopped the plan whole; ``not_done`` names what it would have done."""
    return _finish(
        "refused",
        _about(plan, trigger)
        | {
            "guard": refusal.guard,
            "reason": refusal.reason,
            "not_done": [action.key for action in plan.actions],
        },
    )


def note_body(phase: Phase, **details: object) -> Body:
    """A record of the operator itself: its start and stop, and what befell the trail's file."""
    return _finish(phase, details)


def shown_changes(changes: tuple[FieldChange, ...]) -> list[dict[str, str]]:
    """Changes as path, old and new; what goes by a secret's name is hidden, its path is not."""
    return [
        {"path": change.path, "old": HIDDEN, "new": HIDDEN}
        if names_a_secret(change.path)
        else {
            "path": change.path,
            "old": shorten(str(redact(change.old))),
            "new": shorten(str(redact(change.new))),
        }
        for change in changes
    ]


def shorten(text: str) -> str:
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{text[:LONGEST_TEXT]}… ({len(text) - LONGEST_TEXT} more characters)"


def _about(plan: Plan, trigger: Trigger) -> dict[str, object]:
    return {
        "cluster": plan.cluster,
        "plan_id": plan.id,
        "trigger": {
            key: value
            for key, value in dataclasses.asdict(trigger).items()
            if value or key == "kind"
        },
    }


def _deed(action: Action) -> dict[str, object]:
    kind, _, target = action.key.partition("/")
    return {
        "action": {"kind": kind, "key": action.key},
        "target": target,
        "reason": action.reason,
        "changes": shown_changes(action.changes),
        "disturbs": action.disturbs,
    }


def _finish(phase: Phase, details: Mapping[str, object]) -> Body:
    body = redact({"phase": phase, **details})
    assert isinstance(body, dict)  # noqa: S101 (a mapping stays a mapping)
    return body
