"""The audit trail's records: intent, outcome and reason of each action.

Pure: builds a record from a plan, its trigger and one of its actions. Invariant: a record's body
is JSON-ready data without secrets before it is numbered, hashed and chained (see ``chain``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from queenright.core.audit.redaction import HIDDEN, names_a_secret, redact

if TYPE_CHECKING:
    from queenright.core.actions import AnyAction, FieldChange
    from queenright.core.planning.lease import Lease
    from queenright.core.planning.plan import Hold, Plan, Refusal

LONGEST_TEXT = 2000
"""The longest old or new value that a record keeps, in characters."""


MOST_EDITS = 20
"""The number of edited fields that one record keeps."""
LONGEST_EDIT = 200
"""The longest value of an edited field that a record keeps: each action of the edit repeats it."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One field of a document that a person changed, with its place in the file."""

    name: str
    """The document's name."""
    file: str
    line: int
    path: str
    old: object = None
    new: object = None


@dataclass(frozen=True, slots=True)
class Trigger:
    """The event that started the pass. ``file`` and ``line`` are set where an edit caused it;
    ``edits`` are all its fields, which belong to the same edit and are not compared."""

    kind: Literal["start", "file", "docker", "member", "timer", "command"]
    detail: str = ""
    file: str = ""
    line: int = 0
    edits: tuple[Edit, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Done:
    """The action took effect."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Another writer changed the object first; the next pass observes again."""

    error: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The action had no effect, or none that is known; ``transient`` if a retry may work."""

    error: str
    transient: bool = True


Outcome = Done | Conflict | Failed

Phase = Literal[
    "start",
    "intent",
    "outcome",
    "refused",
    "held",
    "measured",
    "lease",
    "stop",
    "recovered",
    "rotated",
]
Body = Mapping[str, object]
"""A record before it is numbered and chained: JSON-ready, redacted."""


def intent_body(plan: Plan, trigger: Trigger, action: AnyAction) -> Body:
    """Return the record of an action before it is tried."""
    return _finish("intent", _about(plan, trigger) | _deed(plan, action))


def outcome_body(
    plan: Plan,
    trigger: Trigger,
    action: AnyAction,
    outcome: Outcome,
    *,
    duration_ms: float,
    intent_seq: int | None,
) -> Body:
    """Return the record of an action's result. It repeats the intent, so that one line suffices."""
    match outcome:
        case Done():
            result: dict[str, object] = {"outcome": "done"}
        case Conflict(error):
            result = {"outcome": "conflict", "error": error}
        case Failed(error, transient):
            result = {"outcome": "failed", "error": error, "transient": transient}
    result |= {"duration_ms": round(duration_ms, 1), "intent_seq": intent_seq}
    return _finish("outcome", _about(plan, trigger) | _deed(plan, action) | result)


def refused_body(plan: Plan, trigger: Trigger, refusal: Refusal) -> Body:
    """Return the record of a plan that a guard refused; ``not_done`` names its actions."""
    return _finish(
        "refused",
        _about(plan, trigger)
        | {
            "guard": refusal.guard,
            "reason": refusal.reason,
            "not_done": [action.key for action in plan.actions],
        },
    )


def held_body(plan: Plan, trigger: Trigger, began: Sequence[Hold], ended: Sequence[str]) -> Body:
    """Return the record of the holds that began, and of the keys of those that ended."""
    return _finish(
        "held",
        _about(plan, trigger)
        | {
            "holds": [
                {
                    "key": hold.key,
                    "reason": hold.reason,
                    "rule": plan.rule_of(hold.key),
                    "wants_attention": hold.wants_attention,
                    **({"is_note": True} if hold.is_informational else {}),
                }
                for hold in began
            ],
            "ended": [*ended],
        },
    )


def lease_body(*, acting: bool, why: str, host: str, term: str, other: Lease | None) -> Body:
    """Return the record of an operator that begins or ceases to act. ``other`` is the operator that
    had the lease before, or has it now, with the end of its chain as it was in the lease."""
    named = {"host": other.host, "process": other.process, "chain": other.chain} if other else {}
    known = {"term": term, "other": named if any(named.values()) else {}}
    body = {"acting": acting, "why": why, "host": host}
    return _finish("lease", body | {key: value for key, value in known.items() if value})


def note_body(phase: Phase, **details: object) -> Body:
    """Return a record about the operator itself: start, stop, and faults of the trail's file."""
    return _finish(phase, details)


def shown_changes(changes: tuple[FieldChange, ...]) -> list[dict[str, str]]:
    """Return changes as path, old and new; values named like a secret are hidden."""
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


def shorten(text: str, longest: int = LONGEST_TEXT) -> str:
    if len(text) <= longest:
        return text
    return f"{text[:longest]}… ({len(text) - longest} more characters)"


def _about(plan: Plan, trigger: Trigger) -> dict[str, object]:
    return {
        "cluster": plan.cluster,
        "plan_id": plan.id,
        "trigger": _cause(plan, trigger),
    }


def _cause(plan: Plan, trigger: Trigger) -> dict[str, object]:
    """Return the trigger, with the edited fields of the plan's own document; where there are none,
    with the first of another document, which may be the cause too (an application's claims)."""
    told: dict[str, object] = {"kind": trigger.kind}
    given = {"detail": trigger.detail, "file": trigger.file, "line": trigger.line}
    told |= {key: value for key, value in given.items() if value}
    own = [edit for edit in trigger.edits if edit.name == plan.cluster] or [*trigger.edits[:1]]
    if own:
        told["edits"] = [_shown_edit(edit) for edit in own[:MOST_EDITS]]
    if len(own) > MOST_EDITS:
        told["more_edits"] = len(own) - MOST_EDITS
    return told


def _shown_edit(edit: Edit) -> dict[str, object]:
    is_secret = names_a_secret(edit.path)
    values = {"old": edit.old, "new": edit.new}
    return {
        "document": edit.name,
        "file": edit.file,
        "line": edit.line,
        "path": edit.path,
        **{
            key: HIDDEN if is_secret else shorten(str(redact(value)), LONGEST_EDIT)
            for key, value in values.items()
            if value is not None
        },
    }


def _deed(plan: Plan, action: AnyAction) -> dict[str, object]:
    kind, _, target = action.key.partition("/")
    rule = plan.rule_of(action.key)
    return {
        **({"rule": rule} if rule else {}),
        "action": {"kind": kind, "key": action.key},
        "target": target,
        "reason": action.reason,
        "changes": shown_changes(action.changes),
        "disturbs": action.disrupts,
    }


def _finish(phase: Phase, details: Mapping[str, object]) -> Body:
    body = redact({"phase": phase, **details})
    assert isinstance(body, dict)  # noqa: S101 (a mapping stays a mapping)
    return body
