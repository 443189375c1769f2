"""Guards of the leadership and of Patroni's settings.

As ``guards``: from the observation alone, and on purpose a second check beside the rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from queenright.core.actions import LabelConfig, PatchSettings, Switchover
from queenright.core.kinds.postgres_cluster.annotations import read_annotations, state_config_name
from queenright.core.kinds.postgres_cluster.patroni.config_keys import pause_reason
from queenright.core.kinds.postgres_cluster.replication.settings import read_replication
from queenright.core.observed import Known, Observed
from queenright.core.planning.disruption import peers, swarm_of
from queenright.core.planning.plan import Plan, Refusal


def move_is_safe(plan: Plan, observed: Observed) -> Refusal | None:
    """Refuse a switchover that is not certain to be safe.

    The leadership moves only from the one proven leader, to a replica that streams on its timeline
    within the lag bound, while no member is paused, unknown or unwell; and only with its annotation
    in the same plan, and no earlier request that may still be carried out.
    """
    for action in plan.actions:
        if isinstance(action, Switchover) and (
            why := why_not_move(action, plan, observed) or why_not_noted(action, plan, observed)
        ):
            return Refusal("move-is-safe", why)
    return None


def why_not_move(action: Switchover, plan: Plan, observed: Observed) -> str | None:
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
    if holders != [f"{plan.cluster}_{action.leader}"] or action.disrupts != holders[0]:
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
        return f"{action.candidate} lags by {lag_bytes} bytes ({most} are allowed)"
    if read_replication(settings).is_synchronous and not candidate.value.synchronous:
        return f"{action.candidate} is not in Patroni's /sync key"
    return None


def why_not_noted(action: Switchover, plan: Plan, observed: Observed) -> str | None:
    """Reason why the plan does not annotate the switchover; None if it does.

    The annotation keeps another pass, or another operator, from requesting it again.
    """
    swarm = swarm_of(observed)
    state_config = swarm.config(state_config_name(plan.cluster)) if swarm else None
    if state_config is None or read_annotations(state_config.value.labels).move is not None:
        return "the result of an earlier switchover is not known"
    for earlier in plan.actions[: plan.actions.index(action)]:
        if isinstance(earlier, LabelConfig) and earlier.id == state_config.id:
            note = read_annotations(earlier.config.labels).move
            if note is not None and (note.leader, note.candidate, note.timeline) == (
                action.leader,
                action.candidate,
                action.timeline,
            ):
                return None
    return "the plan does not annotate the switchover first"


def pauses_are_respected(plan: Plan, observed: Observed) -> Refusal | None:
    """Refuse to lift a pause that is not the operator's, and patches of unobserved values."""
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
            return Refusal("pauses-are-respected", "Patroni's pause is not the operator's")
        if not agrees(action.expected, settings) or not covers(action.expected, action.patch):
            return Refusal(
                "pauses-are-respected", f"{action.key} expects other values than were observed"
            )
    return None


def agrees(expected: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    """True if the expected values are those that are there; None stands for an absent key."""
    for key, value in expected.items():
        present = found.get(key)
        if isinstance(value, Mapping) and isinstance(present, Mapping):
            if not agrees(value, present):
                return False
        elif value != present:
            return False
    return True


def covers(expected: Mapping[str, Any], patch: Mapping[str, Any]) -> bool:
    """True if the expected values contain every key that is written."""
    for key, value in patch.items():
        if key not in expected:
            return False
        inner = expected[key]
        if isinstance(value, Mapping) and isinstance(inner, Mapping) and not covers(inner, value):
            return False
    return True
