"""The replicas: deployed once there is a database for them, updated by swarm one after another.

Invariant: no running replica is replaced while the database has no leader, since a new one could
not become ready; and none is started before all that it refers to is there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from queenright.core.actions import Action
from queenright.core.app.passage import is_told_just_now, why_ports_stay
from queenright.core.app.rollbacks import refusal, why_image_unknown, why_not_noted
from queenright.core.app.situation import AppSituation
from queenright.core.app.upgrades import why_not_dumped
from queenright.core.diff import diff, disturbs
from queenright.core.observed import LiveService
from queenright.core.pinning import wanted_service
from queenright.core.plan import Hold
from queenright.core.resources import Service
from queenright.core.servicing import plan_service, watch_tasks
from queenright.core.situation import SETTLES, UPDATE_LIMIT, is_under_way


def plan_web(situation: AppSituation) -> Iterator[Action | Hold]:
    desired, live = situation.desired, situation.web
    obstacle = (
        why_not_now(situation)
        or refusal(situation)
        or why_not_dumped(situation)
        or why_ports_stay(situation)
        or (why_image_unknown(situation) if live is not None else None)
    )
    if live is None and obstacle is not None:
        yield Hold(f"create-service/{desired.web.name}", f"{desired.web.name} waits: {obstacle}")
        return
    if situation.missing:
        return
    if (
        live is not None
        and obstacle is not None
        and not any(situation.swarm.possible_tasks(live.id))
    ):
        key = f"update-service/{desired.web.name}"
        if obstacle_to_new_ones(situation):
            yield Hold(key, f"{desired.web.name}: {obstacle}", wants_attention=True)
            yield from watch_tasks(situation, live)
            return
    wanted = desired.web
    few = situation.why_too_few_connections()
    if live is not None and few is not None and wanted.replicas > live.value.replicas:
        yield Hold(
            f"replicas/{desired.name}", f"{wanted.name} stays at {live.value.replicas}: {few}"
        )
        wanted = dataclasses.replace(wanted, replicas=live.value.replicas)
    if live is not None and (hold := wait_for_swarm(situation, live, wanted, obstacle)):
        yield hold
        yield from watch_tasks(situation, live)
        return
    yield from plan_service(situation, wanted, obstacle)


def wait_for_swarm(
    situation: AppSituation, live: LiveService, wanted: Service, obstacle: str | None
) -> Hold | None:
    """What waits for the update that swarm is carrying out; None where nothing has to. Whatever is
    written takes the place of what swarm would go back to, and what replaces no replica also ends
    one whose successor is not healthy yet (swarmkit: PreviousSpec, updater.useExistingTask). So
    another version waits until those that come run, or are taken back; all else until the end."""
    changes = diff(wanted_service(situation, wanted, live), live.value)
    is_new_update = disturbs(changes) and obstacle is None
    again = live.updated_at + UPDATE_LIMIT
    if changes and (unnoted := why_not_noted(situation)) is not None:
        return Hold(f"update-service/{wanted.name}", obstacle or unnoted)
    if is_new_update and is_told_just_now(live, situation.now):
        again = live.updated_at + SETTLES
    elif not (is_any_starting(situation, live) if is_new_update else is_under_way(live)):
        return None
    if not changes or situation.now > again:
        return None
    fields = ", ".join(change.path for change in changes)
    why = obstacle or "swarm is carrying out an update, which comes first"
    return Hold(f"update-service/{wanted.name}", f"{fields}: {why}", again)


def is_any_starting(situation: AppSituation, live: LiveService) -> bool:
    """Whether the update has a replica on its way: one that no node takes is none."""
    return live.update_state == "updating" and any(
        task.is_alive and task.state not in {"running", "new", "pending"}
        for task in situation.swarm.tasks_of(live.id)
    )


def obstacle_to_new_ones(situation: AppSituation) -> bool:
    """Whether not even a first replica of what the file asks for may be started: it was taken back,
    or may have been, or its database is not dumped yet."""
    return bool(
        refusal(situation) or why_not_dumped(situation) or why_image_unknown(situation) is not None
    )


def why_not_now(situation: AppSituation) -> str | None:
    """Why no replica may be started or replaced now; None when they may."""
    if situation.missing:
        return f"{' and '.join(situation.missing)} not in the swarm yet"
    return (
        situation.why_no_database()
        or situation.why_not_in_catalog()
        or situation.why_too_few_connections()
        or (situation.why_disturbed() if situation.web is not None else None)
    )
