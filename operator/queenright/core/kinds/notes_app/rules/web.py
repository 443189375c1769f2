"""The replicas: deployed once there is a database for them, updated by swarm one after another.

Invariant: no running replica is replaced while the database has no leader, since a new one could
not become ready; and none is started before all that it refers to is there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from queenright.core.actions import AnyAction
from queenright.core.kinds.notes_app.edge_cutover import (
    changed_ago,
    is_told_just_now,
    why_ports_stay,
)
from queenright.core.kinds.notes_app.state import AppState
from queenright.core.kinds.notes_app.upgrade.dump import why_not_dumped
from queenright.core.kinds.notes_app.upgrade.rollback import (
    rollback_reason,
    why_image_unknown,
    why_not_noted,
)
from queenright.core.observed import LiveService
from queenright.core.planning.images import wanted_service
from queenright.core.planning.plan import Hold
from queenright.core.planning.service_context import SETTLES, UPDATE_LIMIT, is_under_way
from queenright.core.planning.service_rollout import plan_service
from queenright.core.planning.task_watch import watch_tasks
from queenright.core.swarm.diff import diff, disrupts
from queenright.core.swarm.objects import Service


def plan_web(state: AppState) -> Iterator[AnyAction | Hold]:
    desired, live = state.desired, state.web
    obstacle = (
        why_not_now(state)
        or rollback_reason(state)
        or why_not_dumped(state)
        or why_ports_stay(state)
        or (why_image_unknown(state) if live is not None else None)
    )
    if live is None and obstacle is not None:
        yield Hold(
            f"create-service/{desired.web.name}",
            f"{desired.web.name}: not created yet ({obstacle})",
        )
        return
    if state.missing:
        return
    if live is not None and obstacle is not None and not any(state.swarm.possible_tasks(live.id)):
        key = f"update-service/{desired.web.name}"
        if obstacle_to_new_ones(state):
            yield Hold(key, f"{desired.web.name}: {obstacle}", wants_attention=True)
            yield from watch_tasks(state, live)
            return
    wanted = desired.web
    few = state.why_too_few_connections()
    if live is not None and few is not None and wanted.replicas > live.value.replicas:
        yield Hold(
            f"replicas/{desired.name}",
            f"{wanted.name}: stays at {live.value.replicas} replicas ({few})",
        )
        wanted = dataclasses.replace(wanted, replicas=live.value.replicas)
    if live is not None and (hold := wait_for_swarm(state, live, wanted, obstacle)):
        yield hold
        yield from watch_tasks(state, live)
        return
    yield from plan_service(state, wanted, obstacle)


def wait_for_swarm(
    state: AppState, live: LiveService, wanted: Service, obstacle: str | None
) -> Hold | None:
    """Hold while swarm carries out an update that a new change would disrupt; else None.

    Whatever is written takes the place of what swarm would go back to, and what replaces no replica
    also ends one whose successor is not healthy yet (swarmkit: PreviousSpec,
    updater.useExistingTask). So another version waits until new replicas run, or are rolled back;
    all else until the end.
    """
    changes = diff(wanted_service(state, wanted, live), live.value)
    is_new_update = disrupts(changes) and obstacle is None
    limit = UPDATE_LIMIT
    if changes and (unnoted := why_not_noted(state)) is not None:
        return Hold(f"update-service/{wanted.name}", obstacle or unnoted)
    if is_new_update and is_told_just_now(state, live):
        limit = SETTLES
    elif not (is_any_starting(state, live) if is_new_update else is_under_way(live)):
        return None
    age = changed_ago(state, live)
    if not changes or age > limit:
        return None
    fields = ", ".join(change.path for change in changes)
    why = obstacle or "swarm finishes its present update first"
    return Hold(f"update-service/{wanted.name}", f"{fields}: {why}", state.now + (limit - age))


def is_any_starting(state: AppState, live: LiveService) -> bool:
    """True if the update has a replica on its way; one that no node takes does not count."""
    return live.update_state == "updating" and any(
        task.is_alive and task.state not in {"running", "new", "pending"}
        for task in state.swarm.tasks_of(live.id)
    )


def obstacle_to_new_ones(state: AppState) -> bool:
    """True if not even a first replica of what the file asks for may be started.

    It was rolled back, or may have been, or its database is not dumped yet.
    """
    return bool(
        rollback_reason(state) or why_not_dumped(state) or why_image_unknown(state) is not None
    )


def why_not_now(state: AppState) -> str | None:
    """Reason why no replica may be started or replaced now; None when they may."""
    if state.missing:
        return f"{' and '.join(state.missing)} not in the swarm yet"
    return (
        state.why_no_database()
        or state.why_not_in_catalog()
        or state.why_too_few_connections()
        or (state.why_disrupted() if state.web is not None else None)
    )
