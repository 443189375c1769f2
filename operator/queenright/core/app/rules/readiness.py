"""Whether the replicas serve: each is asked itself, and what it says is told.

Decides nothing that is done: swarm restarts what is unhealthy, and what is not ready waits for its
database. Invariant: a replica that can't be asked is called unknown, never down.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from queenright.core.actions import Action
from queenright.core.app.situation import AppSituation
from queenright.core.observed import Known, Task, Unknown
from queenright.core.plan import Hold

STARTS = timedelta(seconds=60)
"""How long a replica may take to become ready before a person should look."""


def plan_readiness(situation: AppSituation) -> Iterator[Action | Hold]:
    live = situation.web
    if live is None:
        return
    running = sorted(situation.swarm.running_tasks(live.id), key=lambda task: (task.slot, task.id))
    for task in running:
        if hold := unready(situation, task):
            yield hold
    wanted = live.value.replicas
    if len(running) < wanted:
        waits = [
            task
            for task in situation.swarm.tasks_of(live.id)
            if task.is_alive and task.state != "running"
        ]
        why = next((task.error for task in waits if task.error), "")
        since = max((task.at for task in waits or running), default=live.updated_at)
        yield Hold(
            f"replicas/{situation.desired.name}",
            f"{len(running)} of {wanted} replicas of {situation.desired.name} run"
            + (f": {why}" if why else ""),
            wants_attention=situation.now - since > STARTS and bool(waits or not running),
        )


def unready(situation: AppSituation, task: Task) -> Hold | None:
    """Why a running replica is not known to serve; None when it does."""
    name = situation.desired.name
    node = situation.swarm.node_by_id(task.node_id)
    which = f"replica {task.slot} of {name} on {node.name if node else 'an unknown node'}"
    key = f"readiness/{name}/{task.slot}"
    match situation.readiness.get(task.id, Unknown("it has not been asked yet")):
        case Known(answer) if answer.is_ready:
            return None
        case Known(answer):
            said = f": {answer.reason}" if answer.reason else ""
            late = situation.now - task.at > STARTS
            reason = f"{which} is not ready (/readyz answers {answer.status}{said})"
            database = situation.why_no_database()
            if database:
                reason = f"{reason}; {database}"
            return Hold(key, reason, wants_attention=late)
        case Unknown(why):
            return Hold(key, f"it is not known whether {which} is ready: {why}")
