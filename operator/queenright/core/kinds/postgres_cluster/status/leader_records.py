"""Changes of leader that the trail has: the operator's note of each, what caused it, its gap.

Pure. Joins three records: the note of the new leader in the state config, the action that moved or
stopped the former one, and the canary's measurement.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from queenright.core.audit.questions import ACTING, LeaderChange
from queenright.core.audit.reading import Step
from queenright.core.kinds.postgres_cluster.annotations import LEADER_LABEL
from queenright.core.kinds.postgres_cluster.status.leader_history import BEFORE, MOVING, STOPPING

LEADER_PATH = f"labels[{LEADER_LABEL}]"


def leader_changes(steps: Sequence[Step]) -> tuple[LeaderChange, ...]:
    """Return the changes of leader, newest first; ``steps`` are newest first."""
    measured = {(step.cluster, step.timeline): step for step in steps if step.phase == "measured"}
    causing = [step for step in steps if step.phase in ACTING and step.kind in MOVING | STOPPING]
    found: dict[tuple[str, int], LeaderChange] = {}
    for step in steps:
        change = noted_change(step)
        if change is not None and (change.cluster, change.timeline) not in found:
            gap = measured.get((change.cluster, change.timeline))
            cause = cause_of(change, causing)
            found[change.cluster, change.timeline] = replace(change, measured=gap, cause=cause)
    for (cluster, timeline), step in measured.items():
        if timeline is not None and (cluster, timeline) not in found and step.leader:
            change = LeaderChange(
                cluster, step.at, step.moment, step.leader_before, step.leader, timeline, step, step
            )
            found[cluster, timeline] = replace(change, cause=cause_of(change, causing))
    return tuple(
        sorted(found.values(), key=lambda c: c.moment.timestamp() if c.moment else 0, reverse=True)
    )


def noted_change(step: Step) -> LeaderChange | None:
    """Return the change that an action noted; None for the first leader, and for no note."""
    if step.phase not in ACTING or step.kind != "label-config":
        return None
    for one in step.changes:
        if one.path == LEADER_PATH:
            old, new = leader_in(one.old), leader_in(one.new)
            if old is not None and new is not None and old != new:
                return LeaderChange(
                    step.cluster, step.at, step.moment, old[0], new[0], new[1], step
                )
    return None


def leader_in(text: str) -> tuple[str, int] | None:
    """Return member and timeline of a note; None if it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    match found:
        case [str(member), int(timeline), *_]:
            return member, timeline
        case _:
            return None


def cause_of(change: LeaderChange, causing: Sequence[Step]) -> Step | None:
    """Return the nearest action before a change that moved the leader, or stopped the former."""
    for kinds in (MOVING, STOPPING):
        for step in causing:
            if step.kind not in kinds or step.cluster != change.cluster:
                continue
            if kinds is STOPPING and not stops(step, change.before):
                continue
            if step.outcome == "failed" and not step.is_transient:
                continue
            if change.moment is None or step.moment is None:
                continue
            began_s = step.moment.timestamp() - (step.duration_ms or 0.0) / 1000
            since_s = change.moment.timestamp() - began_s
            if 0 <= since_s <= BEFORE.total_seconds() + (step.duration_ms or 0.0) / 1000:
                return step
    return None


def stops(step: Step, member: str) -> bool:
    return bool(member) and step.disturbs.endswith(f"_{member}")
