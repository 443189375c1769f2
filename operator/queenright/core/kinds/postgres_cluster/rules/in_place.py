"""Rule for a restore in place: the members are stopped, and the cluster begins anew.

While a request is begun it is the cluster's only rule. Each step derives from what is there: the
members are stopped one at a time, the leader last; when no task of theirs can be running, their
services go; then one write gives the members new volumes and notes the restore, and the rules for
a new cluster do the rest. Invariant: volumes are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from queenright.core.actions import AdjustService, AnyAction, RemoveService
from queenright.core.kinds.postgres_cluster.in_place.decision import (
    labels_anew,
    member_services,
    why_not_begun,
)
from queenright.core.kinds.postgres_cluster.in_place.note import RestoreRequest
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import Known, LiveService
from queenright.core.planning.configs import relabelled
from queenright.core.planning.plan import Hold
from queenright.core.swarm.diff import diff
from queenright.core.swarm.objects import BOOTSTRAPPED_LABEL

LOOK_AGAIN = timedelta(seconds=2)


def takes_over(state: ClusterState) -> bool:
    """Return True where this rule is the cluster's only one: a restore has begun, or the file has
    no repository any more for one that has not ended."""
    request = state.restore_request
    if request is not None and request.has_begun:
        return True
    is_anew = state.restored is not None and BOOTSTRAPPED_LABEL not in state.noted_labels
    return is_anew and state.desired.base_backups is None


def plan_in_place(state: ClusterState) -> Iterator[AnyAction | Hold]:
    name, request = state.desired.name, state.restore_request
    key = f"restore/{name}"
    if request is None or not request.has_begun:
        if takes_over(state):
            reason = (
                f"cluster {name}: is restored in place, and the file has no `backup`; write it "
                "again (no member is started meanwhile: it would begin an empty database)"
            )
            yield Hold(key, reason, wants_attention=True)
        elif request is not None and (why := why_not_begun(state, request.wanted)):
            reason = f"cluster {name}: the restore that was asked for does not begin ({why})"
            yield Hold(key, reason, state.now + LOOK_AGAIN, wants_attention=True)
        return
    yield from steps_anew(state, request, key)


def steps_anew(
    state: ClusterState, request: RestoreRequest, key: str
) -> Iterator[AnyAction | Hold]:
    """Yield the next step of a restore that has begun."""
    name, services = state.desired.name, member_services(state)
    running = [live for live in services if live.value.replicas]
    if running:
        live = min(running, key=lambda one: (leads(state, one), one.value.name))
        stopped = replace(live.value, replicas=0)
        yield AdjustService(
            live.id,
            live.version,
            stopped,
            reason=f"{live.value.name} is stopped for the restore in place",
            changes=diff(stopped, live.value),
            disrupts=live.value.name,
        )
        return
    for live in services:
        for task in state.swarm.possible_tasks(live.id):
            node = state.swarm.node_by_id(task.node_id)
            where = node.name if node is not None else "a node that is not known"
            reason = (
                f"cluster {name}: the restore in place waits until the task of {live.value.name} "
                f"on {where} has ended"
            )
            yield Hold(key, reason, state.now + LOOK_AGAIN)
            return
    if services:
        yield removal(services[0])
        return
    state_config = state.swarm.config(state.desired.state_config.name)
    if state_config is not None:
        labels = labels_anew(name, state_config.value.labels, request)
        back = "the data before the last restore" if request.wanted.is_back else "its backup"
        reason = f"all members are stopped: the cluster begins anew with {back}"
        yield relabelled(state_config, labels, reason)


def removal(live: LiveService) -> RemoveService:
    """Return the removal of a stopped member's service; the reason names the volumes that stay."""
    mounts = [mount.source for mount in live.value.mounts if mount.kind == "volume"]
    stay = ", ".join(f"volume {source}" for source in mounts)
    return RemoveService(
        live.id,
        live.value.name,
        reason=f"{live.value.name} is stopped for the restore in place; these stay: {stay}",
    )


def leads(state: ClusterState, live: LiveService) -> bool:
    match state.observed.members.get(live.value.name):
        case Known(status):
            return status.holds_lock
        case _:
            return False
