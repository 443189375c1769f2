"""What a person's command does next to a live cluster, and what the person should know first.

Decides, from the same observation and by the same rules as the operator, the steps of a planned
move, whose pause it is, and how much an emergency failover can lose. Invariant: a command asks for
a move only as the operator would: noted in the anchor, which keeps a running operator from
interfering, and never while an earlier request may still be carried out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from queenright.core.actions import (
    Action,
    FailOver,
    FieldChange,
    LabelConfig,
    PatchSettings,
)
from queenright.core.candidates import why_not_lead
from queenright.core.desired import DesiredMember
from queenright.core.diff import ABSENT, CONCEALED, diff
from queenright.core.edited_settings import PARAMETERS
from queenright.core.leadership import (
    Lead,
    Move,
    disarm,
    settle,
    settle_time,
    step_towards,
    waiting,
)
from queenright.core.notes import MoveNote, Notes, noted
from queenright.core.plan import Hold
from queenright.core.published import PAUSE_KEY, pause_reason
from queenright.core.settings_patch import shown_present
from queenright.core.situation import Situation
from queenright.core.spec.quantities import format_duration

PAUSED = "Patroni is paused"


def why_not_commanded(situation: Situation, to: DesiredMember) -> str | None:
    """Why a planned move to this member is not to be had now; None when it is."""
    move = situation.notes.move
    if move is not None:
        left = move.at + settle_time(situation) - situation.now
        if left > timedelta(0):
            return (
                f"a move from {move.leader} to {move.candidate} was asked for, and may still "
                f"happen for {max(1, round(left.total_seconds()))} s"
            )
    if to.node in situation.maintained:
        return f"{to.name} is on {to.node}, which is in maintenance"
    obstacle = why_not_lead(situation, to)
    if obstacle == PAUSED and not pause_reason(situation.known_settings):
        return f"{obstacle}; `queenright resume` lifts that"
    return obstacle


def what_follows(situation: Situation, to: DesiredMember) -> str:
    """What the operator will make of a lead that has moved to this member; empty when nothing."""
    policy, wished = situation.desired.policy, situation.desired.policy.primary
    if not wished or wished == to.name:
        return ""
    if situation.notes.primary != wished:
        return (
            f"the file names {wished} as primary, which is not honoured yet: the operator moves "
            "the lead there as soon as it can"
        )
    if policy.failback.mode == "automatic":
        after = format_duration(policy.failback.after_s)
        return f"the file names {wished} as primary: the lead moves back there after {after}"
    return f"the file names {wished} as primary; failback is manual, so the lead stays where it is"


def move_steps(situation: Situation, to: DesiredMember) -> tuple[Action | Hold, ...]:
    """The next steps of a move that a person asked for; the anchor's note comes first."""
    decided = commanded(situation, to)
    return (*note_steps(situation, decided.notes), *decided.steps)


def commanded(situation: Situation, to: DesiredMember) -> Lead:
    """The next step of a move that a person asks for at the command line."""
    notes, leader = situation.notes, situation.leader
    timeline = situation.timeline
    if leader is None or timeline is None:
        return Lead(notes, tuple(waiting(situation, notes)))
    if notes.move is not None:
        return settle(situation, notes, leader, timeline)
    if leader is to:
        return Lead(notes, tuple(disarm(situation)))
    return step_towards(
        situation, notes, leader, timeline, Move(to, "command", "asked for by a command")
    )


def tidying_steps(situation: Situation) -> tuple[Action, ...]:
    """What is left to do when the lead has moved, if no operator has done it: the note is taken
    back, then the proxies' hint. Nothing is asked for again."""
    notes, leader = situation.notes, situation.leader
    timeline = situation.timeline
    if leader is None or timeline is None:
        return ()
    if notes.move is not None:
        return tuple(note_steps(situation, settle(situation, notes, leader, timeline).notes))
    return tuple(disarm(situation))


def note_steps(situation: Situation, notes: Notes) -> Iterator[LabelConfig]:
    """The anchor with these notes, where it has others."""
    live = situation.swarm.config(situation.desired.anchor.name)
    if live is None:
        return
    wanted = replace(live.value, labels=noted(live.value.labels, notes))
    if changes := diff(wanted, live.value):
        yield LabelConfig(
            reason="notes about the cluster are kept with it",
            changes=changes,
            id=live.id,
            version=live.version,
            config=wanted,
        )


def forgotten_move(situation: Situation) -> tuple[Action, ...]:
    """Takes back the note of a move that Patroni refused before it did anything."""
    return tuple(note_steps(situation, replace(situation.notes, move=None)))


def failover_steps(situation: Situation, to: DesiredMember) -> tuple[Action, ...]:
    """An emergency change of leader: noted, where a leader is known, and asked for at the
    candidate itself."""
    leader = situation.leader
    timeline = situation.timeline
    first: tuple[Action, ...] = ()
    if leader is not None and timeline is not None:
        note = MoveNote(leader.name, to.name, timeline, situation.now, "command")
        first = tuple(note_steps(situation, replace(situation.notes, move=note)))
    step = FailOver(
        **situation.desired.asked(to),
        candidate=to.name,
        reason=f"{to.name} is to lead at once; it may lose data: {loss_bound(situation, to)}",
        disturbs=leader.service.name if leader is not None else "",
    )
    return (*first, step)


def loss_bound(situation: Situation, to: DesiredMember) -> str:
    """How much WAL a failover to this member can lose, as far as it is known now."""
    status, leader = situation.status(to), situation.leader
    if leader is not None and status is not None and status.lag_bytes is not None:
        return (
            f"at most {status.lag_bytes} bytes of WAL that {leader.name} has and {to.name} has "
            "not, and whatever is written until then"
        )
    if status is None or status.location is None:
        return f"how much is unknown: how far {to.name} is, is not known"
    others = {
        member.name: found.location - status.location
        for member in situation.desired.members
        if member is not to and (found := situation.status(member)) and found.location is not None
    }
    furthest = max(others, key=lambda name: others[name], default="")
    if furthest and others[furthest] > 0:
        return (
            f"how much is unknown, as no leader answers; {furthest} has {others[furthest]} bytes "
            f"more than {to.name}"
        )
    return (
        f"how much is unknown, as no leader answers; no member that answers has more than {to.name}"
    )


def further_member(situation: Situation, to: DesiredMember) -> str:
    """The replica that has the most WAL, where that is not this one; empty when it is."""
    own = situation.status(to)
    found = {
        member.name: status.location
        for member in situation.desired.members
        if (status := situation.status(member)) is not None
        and not status.holds_lock
        and status.location is not None
    }
    best = max(found, key=lambda name: found[name], default="")
    if not best or own is None or own.location is None or found[best] <= own.location:
        return ""
    return best


def settings_patch(
    situation: Situation,
    asked: DesiredMember,
    found: Mapping[str, Any],
    patch: Mapping[str, Any],
    *,
    aspect: str,
    reason: str,
) -> PatchSettings:
    """A change of Patroni's settings that rests on what was ``found`` at the member ``asked``. What
    is free text may hold a secret, and is not written into the audit trail."""
    return PatchSettings(
        **situation.desired.asked(asked),
        aspect=aspect,
        patch=patch,
        expected=present(found, patch),
        reason=reason,
        changes=tuple(
            FieldChange(".".join(path), audited(path, old), audited(path, new))
            for path, old, new in changed_values(found, patch)
        ),
    )


def pause_patch(found: Mapping[str, Any], *, paused: bool) -> dict[str, Any]:
    """What sets or lifts the pause; the operator's mark goes with the pause."""
    if paused:
        return {"pause": True}
    return {"pause": None} | ({PAUSE_KEY: None} if PAUSE_KEY in found else {})


def present(found: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """The present values under a patch's keys; None stands for an absent one."""
    expected: dict[str, Any] = {}
    for key, value in patch.items():
        there = found.get(key)
        if isinstance(value, Mapping) and isinstance(there, Mapping):
            expected[key] = present(there, value)
        else:
            expected[key] = there
    return expected


def changed_keys(found: Mapping[str, Any], patch: Mapping[str, Any]) -> Iterator[FieldChange]:
    """A patch field by field, with the values that it replaces, for the person who asks for it."""
    for path, old, new in changed_values(found, patch):
        yield FieldChange(".".join(path), text_of(old), text_of(new))


def changed_values(
    found: Mapping[str, Any], patch: Mapping[str, Any], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], object, object]]:
    """Path, present and future value of each field of a patch that differs."""
    for key, value in patch.items():
        there, here = found.get(key), (*path, key)
        if isinstance(value, Mapping):
            yield from changed_values(there if isinstance(there, Mapping) else {}, value, here)
        elif there != value:
            yield here, there, value


def audited(path: tuple[str, ...], value: object) -> str:
    """A value for the audit trail: a text below the top level is a command or the like, unless it
    is a parameter's whose type says otherwise."""
    if isinstance(value, str) and len(path) > 1 and path[:-1] != PARAMETERS:
        return CONCEALED
    return shown_present(path, value)


def text_of(value: object) -> str:
    return ABSENT if value is None else str(value)


def why_not_restart(situation: Situation, member: DesiredMember) -> str | None:
    """Why PostgreSQL may not be restarted in this member now, whether it leads or not."""
    if not situation.is_leader(member):
        return situation.why_not_disturb(member)
    if (move := situation.notes.move) is not None:
        return f"the lead is moving from {move.leader} to {move.candidate}"
    for other in situation.desired.members:
        status = situation.status(other)
        if other is member:
            continue
        if status is None:
            return f"{other.name} does not answer ({situation.why_unknown(other)})"
        if not status.is_streaming:
            return f"{other.name} is {status.state}, not streaming"
        if unsettled := situation.why_unsettled(other):
            return unsettled
    return None
