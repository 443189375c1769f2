"""One service from live to desired: create, update field by field, or start again.

Shared by the rules of all kinds. Invariant: a running task is only restarted when ``obstacle`` is
None.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

from queenright.core.actions import (
    AdjustService,
    AnyAction,
    CreateService,
    FieldChange,
    UpdateService,
)
from queenright.core.observed import LiveService
from queenright.core.planning.images import (
    newest_service,
    pin_image,
    service_changes,
    wanted_service,
)
from queenright.core.planning.plan import Hold
from queenright.core.planning.rollout_waits import rollout_in_the_way
from queenright.core.planning.service_context import SETTLES, ServiceContext, is_under_way
from queenright.core.planning.task_watch import is_stopped, watch_tasks
from queenright.core.swarm.diff import UNDISRUPTING, diff, disrupts
from queenright.core.swarm.objects import IMAGE_LABEL, Service


def plan_service(
    state: ServiceContext, service: Service, obstacle: str | None
) -> Iterator[AnyAction | Hold]:
    """Yield the next safe step for a service; ``obstacle`` is a reason not to restart its task."""
    live = state.swarm.service(service.name)
    pinned = pin_image(state, service, live)
    if isinstance(pinned, Hold):
        yield pinned
    elif live is None:
        yield CreateService(pinned, reason=f"{service.name} is in the file and not in the swarm")
    if live is None:
        return
    wanted = wanted_service(state, service, live)
    changes = service_changes(state, service, live)
    if changes:
        yield from plan_update(state, live, wanted, changes, obstacle)
    else:
        newest = newest_service(state, service, live)
        yield from watch_tasks(state, live, newest, obstacle)


def plan_update(
    state: ServiceContext,
    live: LiveService,
    wanted: Service,
    changes: tuple[FieldChange, ...],
    obstacle: str | None,
) -> Iterator[AnyAction | Hold]:
    """Yield the whole update if it may restart what it restarts; else its harmless part."""
    name = wanted.name
    if wanted.mode != live.value.mode:
        yield Hold(
            f"update-service/{name}",
            f"service {name}: is {live.value.mode}, not {wanted.mode} (swarm can't change that); "
            f"remove it (docker service rm {name}; its volumes stay): the operator creates it anew",
            wants_attention=True,
        )
        return
    fields = ", ".join(change.path for change in changes)
    may_run = any(state.swarm.possible_tasks(live.id))
    fewer = 0 < wanted.replicas < live.value.replicas  # swarm chooses which task goes
    restarts = may_run and (disrupts(changes) or fewer or is_stopped(live))
    if restarts and obstacle is not None:
        again = state.now + SETTLES
        yield Hold(f"update-service/{name}", f"{fields}: {obstacle}", again, wants_attention=True)
        if is_stopped(live) or (is_under_way(live) and rollout_in_the_way(state, live)):
            return  # swarm would go on with any write, or begin again with any task
        harmless = {"labels", "update", "rollback"} if fewer else UNDISRUPTING
        wanted = harmless_part(wanted, live.value, harmless)
        changes = diff(wanted, live.value)
        restarts = False
        if not changes:
            return
    elif (restarts or is_under_way(live)) and (waits := rollout_in_the_way(state, live)):
        yield Hold(f"update-service/{name}", f"{fields}: {waits[0]}", state.now + waits[1])
        return
    reason = f"{name} differs from the file in {fields}"
    if not disrupts(changes):
        yield AdjustService(
            live.id,
            live.version,
            wanted,
            reason=reason,
            changes=changes,
            disrupts=name if restarts else "",
        )
        return
    yield UpdateService(
        live.id,
        live.version,
        wanted,
        live.force_update,
        reason=reason,
        changes=changes,
        disrupts=name if restarts else "",
    )


def harmless_part(wanted: Service, live: Service, fields: Iterable[str]) -> Service:
    """Return the live service with those changes that restart nothing. The label of the deployed
    image stays, because the image does."""
    changed = {item: getattr(wanted, item) for item in fields}
    changed["labels"] = {**wanted.labels}
    changed["labels"].pop(IMAGE_LABEL, None)
    if IMAGE_LABEL in live.labels:
        changed["labels"][IMAGE_LABEL] = live.labels[IMAGE_LABEL]
    return dataclasses.replace(live, **changed)
