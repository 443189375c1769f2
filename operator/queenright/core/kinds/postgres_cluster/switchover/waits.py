"""Ages of the annotated leader and of the settings, by the annotation's time and by what this
process has seen, and the other reasons for which a switchover waits.

Decides nothing. Invariant: a clock that jumps makes no wait endless, and failback never earlier
than after a minute that this process has watched.
"""

from __future__ import annotations

from datetime import timedelta

from queenright.core.kinds.postgres_cluster.annotations import LEADER_LABEL, Annotations
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.patroni.settings_due import writes_restarts
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import parameters_key
from queenright.core.planning.ages import likely_age
from queenright.core.planning.rollout_waits import task_age

STABLE = timedelta(seconds=60)
"""Time for which this process itself has seen a leader before failback."""


def seen_note(state: ClusterState, label: str) -> float | None:
    """Seconds for which this process has seen the state config's label unchanged."""
    state_config = state.swarm.config(state.desired.state_config.name)
    return state.seen_s_ago.get(f"{state_config.id}/{label}") if state_config is not None else None


def well_for(state: ClusterState, annotations: Annotations) -> timedelta:
    """Time for which the leader has led and every member's task has run.

    A member that came back a moment ago may not stay, and one that still starts has not come back.
    Of that time, this process has seen a minute itself: a clock that was set forward does not
    shorten it.
    """
    if annotations.leader is None:
        return timedelta(0)
    seen_s = seen_note(state, LEADER_LABEL)
    found = [likely_age(annotations.leader.since, state.now, seen_s)]
    for member in state.desired.members:
        if (live := state.swarm.service(member.service.name)) is not None:
            alone = state.swarm.sole_task(live.id)
            found.append(task_age(state, alone) if alone is not None else timedelta(0))
    if seen_s is not None and timedelta(seconds=seen_s) < STABLE:
        found.append(timedelta(seconds=seen_s))
    return max(min(found), timedelta(0))


def until_heard(state: ClusterState) -> timedelta:
    """Time until it is known whether each member has to restart for the file as it is.

    A member takes its parameters over in its next round, also those that this pass writes. What its
    service differs in is compared once all that the service refers to is there; where another one
    has to make a secret of it, nobody waits for that. Without an observation of the parameters' age
    (a command that looks once) nothing is left of it.
    """
    round_s = float(state.desired.settings["loop_wait"])
    makes_objects = not state.is_prepared and not state.missing_given_secrets
    if makes_objects or writes_restarts(state):
        return timedelta(seconds=round_s)
    seen_s = state.seen_s_ago.get(parameters_key(state.desired.name))
    return timedelta(0) if seen_s is None else timedelta(seconds=max(round_s - seen_s, 0.0))


def why_moving(state: ClusterState, member: DesiredMember) -> str:
    """Return in words that a member moves before it leads; empty where its place stays. It would
    have to hand over again for that."""
    topology = state.desired.topology
    return f"{topology.why_leaving(member.name)} first" if member.name in topology.leaving else ""
