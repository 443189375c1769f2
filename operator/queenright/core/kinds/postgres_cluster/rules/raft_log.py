"""Rule for members whose Raft logs are lost: ``losses.raft_log`` says who begins one anew."""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import AnyAction, UpdateService
from queenright.core.kinds.postgres_cluster.losses.raft_log import (
    logs_of,
    needs_a_person,
    next_request,
    present_partners,
)
from queenright.core.kinds.postgres_cluster.raft_reset import FENCE
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.planning.plan import Hold
from queenright.core.planning.service_context import SETTLES
from queenright.core.swarm.diff import diff


def plan_raft_log(state: ClusterState) -> Iterator[AnyAction | Hold]:
    logs = logs_of(state)
    if not logs.lost:
        return
    found = next_request(state, logs)
    if isinstance(found, str):
        yield Hold(
            f"raft-log/{state.desired.name}",
            f"cluster {state.desired.name}: {', '.join(sorted(logs.lost))} lost the Raft log and "
            f"waits ({found})",
            state.now + SETTLES,
            wants_attention=needs_a_person(state, logs),
        )
        return
    member, request = found
    live = state.swarm.service(member.service.name)
    if live is None:
        return
    present = None if request.word == FENCE else present_partners(state, member)
    service = request.asked_of(live, present)
    does = "keeps its Raft log, and may not lead before it streams"
    if request.word != FENCE:
        does = "lost its Raft log, as did too many for a quorum, and begins one anew"
    what = "it leads on" if request.leader == member.name else f"{request.leader} leads on"
    yield UpdateService(
        live.id,
        live.version,
        service,
        live.force_update,
        reason=f"{member.name} {does}: {what}, which has the newest data",
        changes=diff(service, live.value),
        disrupts=member.service.name,
    )
