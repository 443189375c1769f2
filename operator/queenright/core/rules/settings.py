"""The settings that Patroni keeps for a running cluster are what the file says.

They were read from the file once, at bootstrap (spec: database-cluster §2.5), and live in Patroni
since: ttl and its like, PostgreSQL's parameters, access rules. Invariant: what the file does not
own is never written, and nothing is written while the quorum is not certain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from queenright.core.actions import Action, PatchSettings
from queenright.core.observed import Known, Unknown
from queenright.core.pending import PendingRestart, pending_restart
from queenright.core.plan import Hold
from queenright.core.published import read_parameters
from queenright.core.settings_patch import (
    TAKES_OVER,
    SettingsPatch,
    parameters_in,
    settings_patch,
)
from queenright.core.situation import Situation

ASPECT = "settings"


def plan_settings(situation: Situation) -> Iterator[Action | Hold]:
    match situation.settings:
        case Known(found) if situation.is_bootstrapped:
            due = settings_patch(situation, found)
        case Unknown(why) if situation.is_bootstrapped and situation.leader is not None:
            reason = f"Patroni's settings are not known ({why}), nor whether they are the file's"
            yield Hold(f"{ASPECT}/{situation.desired.name}", reason)
            return
        case _:
            return
    if due.patch:
        yield write(situation, due)
    else:
        yield from not_taken_over(situation, found)
    yield from other_access_file(situation, found)
    yield from waiting_for_restart(situation)


def write(situation: Situation, due: SettingsPatch) -> Action | Hold:
    """The patch, or why it is not written now."""
    names = ", ".join(change.path for change in due.changes)
    leader, obstacle = situation.leader, why_not_write(situation)
    if leader is None or obstacle is not None:
        why = obstacle or "there is no leader that every observation agrees on"
        return Hold(
            f"{ASPECT}/{situation.desired.name}",
            f"Patroni keeps other settings than the file: {names}. They are not written yet: {why}",
        )
    return PatchSettings(
        **situation.desired.asked(leader),
        aspect=ASPECT,
        patch=due.patch,
        expected=due.expected,
        reason=f"Patroni keeps other settings than the file: {names}",
        changes=due.changes,
    )


def why_not_write(situation: Situation) -> str | None:
    """Why Patroni is not asked to change anything now. Without a quorum the request would hang,
    and might be applied much later."""
    for member in situation.desired.members:
        if situation.status(member) is None:
            return f"{member.name} does not answer ({situation.why_unknown(member)})"
    if (move := situation.notes.move) is not None:
        return f"the lead is moving from {move.leader} to {move.candidate}"
    return situation.why_no_quorum()


def not_taken_over(situation: Situation, found: Mapping[str, Any]) -> Iterator[Hold]:
    """What is written already, and not yet in force as far as a member tells."""
    key = f"{ASPECT}/{situation.desired.name}"
    for member in situation.desired.members:
        pending = pending_restart(situation, member)
        if pending is not None and pending.unsettled:
            names = ", ".join(pending.unsettled)
            yield Hold(key, f"{member.name} has not taken over the file's {names} yet")
    for name, at in sorted(read_parameters(found).removed.items()):
        if situation.now < at + TAKES_OVER:
            reason = (
                f"{name} was taken out of the file; within a minute the members tell whether they "
                "have to restart for it"
            )
            yield Hold(key, reason, at + TAKES_OVER)


def other_access_file(situation: Situation, found: Mapping[str, Any]) -> Iterator[Hold]:
    """The one foreign parameter that takes away what the file owns."""
    if any(name.lower() == "hba_file" for name in parameters_in(found)):
        yield Hold(
            f"access-rules/{situation.desired.name}",
            "somebody has set hba_file among Patroni's parameters: PostgreSQL takes "
            "its access rules from there, not from the file. Remove it (patronictl edit-config in "
            "a member's container)",
            wants_attention=True,
        )


def waiting_for_restart(situation: Situation) -> Iterator[Hold]:
    """What a restart waits for that is not made, and why."""
    scope = situation.desired.name
    found = {
        member.name: pending
        for member in situation.desired.members
        if (pending := pending_restart(situation, member)) is not None
    }
    yield from leader_first(situation, found)
    if untold := ", ".join(name for name, pending in found.items() if pending.is_unexplained):
        yield Hold(
            f"unexplained-restart/{scope}",
            f"PostgreSQL waits for a restart on {untold}, and Patroni does not tell for which "
            "parameter: nothing is restarted for it. Restart it at a moment of your choice "
            "(queenright restart and the member's name), replicas before the leader",
            wants_attention=True,
        )
    foreign = sorted({name for pending in found.values() for name in pending.foreign})
    if foreign:
        where = ", ".join(name for name, pending in found.items() if pending.foreign)
        yield Hold(
            f"foreign-restart/{scope}",
            f"{', '.join(foreign)} will change when PostgreSQL restarts on {where}. The file does "
            "not set that, so nothing is restarted for it",
        )


def leader_first(situation: Situation, found: Mapping[str, PendingRestart]) -> Iterator[Hold]:
    """Parameters that are lowered: only a restart of the leader in its place brings them, and that
    stops writes for seconds at a moment that its owner should choose."""
    leader = situation.leader
    names = sorted({name for pending in found.values() for name in pending.primary_first})
    if not names:
        return
    who = leader.name if leader is not None else "the leader"
    yield Hold(
        f"leader-restart/{situation.desired.name}",
        f"{', '.join(names)}: lowered in the file, which a replica takes only after its primary "
        "(it may not have less than that), so that moving the lead would not help. Restart "
        f"PostgreSQL on {who} at a moment of your choice, writes stop for some seconds "
        f"(queenright restart {leader.name if leader is not None else '<leader>'}); the replicas "
        "follow by themselves",
        wants_attention=True,
    )
