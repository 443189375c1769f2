"""What no plan may do to the lead, or to Patroni's settings, whatever a rule says.

As ``guards``: from the observation alone, and on purpose once more than the rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from queenright.core.actions import FailOver, LabelConfig, PatchSettings, SwitchOver
from queenright.core.consequences import peers, swarm_of
from queenright.core.notes import read_notes
from queenright.core.observed import Known, Observed
from queenright.core.plan import Plan, Refusal
from queenright.core.published import pause_reason


def move_is_safe(plan: Plan, observed: Observed) -> Refusal | None:
    """The lead moves only from the one proven leader, to a replica that streams on its timeline
    within the lag bound, while nobody is paused, unknown or unwell; and only as it is noted in the
    same plan, with no earlier request that may still be carried out."""
    for action in plan.actions:
        if isinstance(action, SwitchOver) and (
            why := why_not_move(action, plan, observed) or why_not_noted(action, plan, observed)
        ):
            return Refusal("move-is-safe", why)
    return None


def failover_is_a_persons(plan: Plan, observed: Observed) -> Refusal | None:
    """A failover that may lose data is never planned: only a person asks for one."""
    for action in plan.actions:
        if isinstance(action, FailOver):
            return Refusal("failover-is-a-persons", f"{action.key} was planned")
    return None


def why_not_move(action: SwitchOver, plan: Plan, observed: Observed) -> str | None:
    found = {
        peer.value.name: observed.members.get(peer.value.name) for peer in peers(plan, observed)
    }
    for name, reading in found.items():
        if not isinstance(reading, Known):
            return f"{name} is unknown"
        if reading.value.paused:
            return "Patroni is paused"
        if not reading.value.is_well:
            return f"{name} is {reading.value.state}"
    leader = found.get(f"{plan.cluster}_{action.leader}")
    candidate = found.get(f"{plan.cluster}_{action.candidate}")
    holders = [name for name, r in found.items() if isinstance(r, Known) and r.value.holds_lock]
    if holders != [f"{plan.cluster}_{action.leader}"] or action.disturbs != holders[0]:
        return f"the leader lock is held by {', '.join(holders) or 'nobody'}"
    if not isinstance(leader, Known) or not isinstance(candidate, Known):
        return f"{action.candidate} is no member"
    if {leader.value.timeline, candidate.value.timeline} != {action.timeline}:
        return f"{action.candidate} is on another timeline"
    match observed.settings.get(plan.cluster):
        case Known(settings):
            most = settings.get("maximum_lag_on_failover")
        case _:
            return "Patroni's settings are unknown"
    lag_bytes = candidate.value.lag_bytes
    if not isinstance(most, int) or lag_bytes is None or lag_bytes > most:
        return f"{action.candidate} is {lag_bytes} bytes behind, of {most} allowed"
    return None


def why_not_noted(action: SwitchOver, plan: Plan, observed: Observed) -> str | None:
    """The note is what keeps another pass, or another operator, from asking again."""
    swarm = swarm_of(observed)
    anchor = swarm.config(f"{plan.cluster}_cluster") if swarm else None
    if anchor is None or read_notes(anchor.value.labels).move is not None:
        return "an earlier move is not settled"
    for earlier in plan.actions[: plan.actions.index(action)]:
        if isinstance(earlier, LabelConfig) and earlier.id == anchor.id:
            note = read_notes(earlier.config.labels).move
            if note is not None and (note.leader, note.candidate, note.timeline) == (
                action.leader,
                action.candidate,
                action.timeline,
            ):
                return None
    return "the move is not noted in the anchor first"


def pauses_are_respected(plan: Plan, observed: Observed) -> Refusal | None:
    """A pause is only lifted where Patroni's own settings say that the operator set it, and every
    patch rests on the values that were observed."""
    for action in plan.actions:
        if not isinstance(action, PatchSettings):
            continue
        match observed.settings.get(plan.cluster):
            case Known(settings):
                pass
            case _:
                return Refusal("pauses-are-respected", "Patroni's settings are unknown")
        lifts = "pause" in action.patch and not action.patch["pause"] and settings.get("pause")
        if lifts and not pause_reason(settings):
            return Refusal("pauses-are-respected", "somebody else has paused Patroni")
        if not agrees(action.expected, settings) or not covers(action.expected, action.patch):
            return Refusal("pauses-are-respected", f"{action.key} does not rest on what is there")
    return None


def agrees(expected: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    """Whether the expected values are those that are there; None stands for an absent key."""
    for key, value in expected.items():
        present = found.get(key)
        if isinstance(value, Mapping) and isinstance(present, Mapping):
            if not agrees(value, present):
                return False
        elif value != present:
            return False
    return True


def covers(expected: Mapping[str, Any], patch: Mapping[str, Any]) -> bool:
    """Whether every key that is written was looked at."""
    for key, value in patch.items():
        if key not in expected:
            return False
        inner = expected[key]
        if isinstance(value, Mapping) and isinstance(inner, Mapping) and not covers(inner, value):
            return False
    return True
