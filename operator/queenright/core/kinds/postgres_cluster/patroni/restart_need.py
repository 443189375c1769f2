"""Members that have to restart before they are as the file wants them, and the reasons.

Decides from the services' differences and from the parameters that wait for a restart.
"""

from __future__ import annotations

from queenright.core.actions import RestartPostgres
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.patroni.pending_restart import (
    as_fields,
    pending_restart,
)
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.partners import has_empty_list
from queenright.core.planning.images import service_changes, wanted_service
from queenright.core.planning.service_context import answered_once
from queenright.core.swarm.diff import disrupts
from queenright.core.swarm.objects import PARTNERS_VARIABLE, Service


@answered_once
def restart_need(state: ClusterState, member: DesiredMember) -> str:
    """Fields and parameters for which a member has to restart, as text; empty when none, and
    for one that the file takes away."""
    if member.name in state.desired.topology.leaving:
        return ""
    container = restarting_fields(state, member.service)
    partners = [PARTNERS_VARIABLE] if has_empty_list(state, member) else []
    return ", ".join((*container, *partners, *restarting_parameters(state, member)))


@answered_once
def restarting_parameters(state: ClusterState, member: DesiredMember) -> tuple[str, ...]:
    """Parameters that a restart of this member applies, as fields of the file.

    One that a replica applies only after the primary is not among them: a switchover would not help
    it.
    """
    pending = pending_restart(state, member)
    if pending is None:
        return ()
    return as_fields(name for name in pending.owned if name not in pending.primary_first)


def restart_step(state: ClusterState, member: DesiredMember, reason: str) -> RestartPostgres:
    """PostgreSQL restarted in this member, for this reason."""
    return RestartPostgres(
        **state.asked(member),
        member=member.name,
        reason=reason,
        disrupts=member.service.name,
    )


@answered_once
def restarting_fields(state: ClusterState, service: Service) -> tuple[str, ...]:
    """The fields whose change restarts the service's running task; nothing where none is wanted."""
    live = state.swarm.service(service.name)
    if not state.is_prepared or live is None or not any(state.swarm.possible_tasks(live.id)):
        return ()
    wanted = wanted_service(state, service, live)
    if wanted.mode != live.value.mode:
        return ()  # no update can change the mode
    changes = service_changes(state, service, live)
    fewer = 0 < wanted.replicas < live.value.replicas
    return tuple(
        change.path
        for change in changes
        if disrupts((change,)) or (fewer and change.path == "replicas")
    )
