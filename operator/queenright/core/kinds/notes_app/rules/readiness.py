"""Rule that reports the readiness of each replica from its own ``/readyz``.

It plans no action: swarm restarts what is unhealthy, and what is not ready waits for its database.
Invariant: a replica that can't be asked is reported as unknown, never as down.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from queenright.core.actions import AnyAction
from queenright.core.kinds.notes_app.state import AppState
from queenright.core.observed import Known, Task, Unknown
from queenright.core.planning.ages import likely_age
from queenright.core.planning.plan import Hold
from queenright.core.planning.rollout_waits import task_age

STARTS = timedelta(seconds=60)
"""Time to become ready, after which a person should look at a replica."""


def plan_readiness(state: AppState) -> Iterator[AnyAction | Hold]:
    live = state.web
    if live is None:
        return
    running = sorted(state.swarm.running_tasks(live.id), key=lambda task: (task.slot, task.id))
    for task in running:
        if hold := unready(state, task):
            yield hold
    wanted = live.value.replicas
    if len(running) < wanted:
        waits = [
            task
            for task in state.swarm.tasks_of(live.id)
            if task.is_alive and task.state != "running"
        ]
        why = next((task.error for task in waits if task.error), "")
        waited = min(
            (task_age(state, task) for task in waits or running),
            default=likely_age(live.updated_at, state.now, state.seen_s_ago.get(live.id)),
        )
        yield Hold(
            f"replicas/{state.desired.name}",
            f"{len(running)} of {wanted} replicas of {state.desired.name} run"
            + (f": {why}" if why else ""),
            wants_attention=waited > STARTS and bool(waits or not running),
        )


def unready(state: AppState, task: Task) -> Hold | None:
    """Hold for a running replica that is not known to serve; None when it does."""
    name = state.desired.name
    node = state.swarm.node_by_id(task.node_id)
    which = f"replica {task.slot} of {name} on {node.name if node else 'an unknown node'}"
    key = f"readiness/{name}/{task.slot}"
    match state.observed.readiness.get(task.id, Unknown("not asked yet")):
        case Known(answer) if answer.is_ready:
            return None
        case Known(answer):
            said = f": {answer.reason}" if answer.reason else ""
            late = task_age(state, task) > STARTS
            reason = f"{which} is not ready (/readyz answers {answer.status}{said})"
            database = state.why_no_database()
            if database:
                reason = f"{reason}; {database}"
            return Hold(key, reason, wants_attention=late)
        case Unknown(why):
            return Hold(key, f"{which}: it is not known whether it is ready ({why})")
