"""Rule for the lists of partners with which members were deployed.

A member's Raft node asks its partners at its start who votes; a list that is out of date matters
only where Raft's state is lost. Invariant: the leader does not restart for its list alone: it goes
along with the next restart (``planning.images``). One whose list is empty hands over, and restarts:
it was the only member, and without its Raft files it would vote alone, beside the others.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import AnyAction, UpdateService
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.settled import partners, why_not_settled
from queenright.core.kinds.postgres_cluster.topology.wanted import UNCHANGED
from queenright.core.planning.images import newest_service, service_changes
from queenright.core.planning.plan import Hold
from queenright.core.planning.service_context import SETTLES
from queenright.core.swarm.diff import diff
from queenright.core.swarm.objects import PARTNERS_VARIABLE


def has_empty_list(state: ClusterState, member: DesiredMember) -> bool:
    """Return True for a member that was deployed as the only one, and is not that any more."""
    if state.desired.topology != UNCHANGED or len(state.desired.members) == 1:
        return False
    live = state.swarm.service(member.service.name)
    has_list = live is not None and PARTNERS_VARIABLE in live.value.environment
    return state.is_bootstrapped and has_list and not partners(state, member)


def bring_up_to_date(state: ClusterState) -> Iterator[AnyAction | Hold]:
    """Yield the update of one replica's list, once all changes of the members are done."""
    if state.desired.topology != UNCHANGED or not state.is_prepared:
        return
    for member in state.desired.members:
        live = state.swarm.service(member.service.name)
        if live is None or service_changes(state, member.service, live):
            continue
        wanted = newest_service(state, member.service, live)
        deployed = live.value.environment.get(PARTNERS_VARIABLE)
        if wanted.environment.get(PARTNERS_VARIABLE) == deployed:
            continue
        key = f"partners/{member.service.name}"
        told = f"{member.name}: {PARTNERS_VARIABLE} is that of former members"
        if member is state.leader:
            until = "it has handed over" if has_empty_list(state, member) else "its next restart"
            yield Hold(key, f"{told} until {until}", is_informational=True)
        elif obstacle := state.why_not_disrupt(member) or why_not_settled(state):
            yield Hold(key, f"{told}; updated later ({obstacle})", state.now + SETTLES)
        else:
            yield UpdateService(
                live.id,
                live.version,
                wanted,
                live.force_update,
                reason=f"{member.name} starts again with the present members as partners",
                changes=diff(wanted, live.value),
                disrupts=live.value.name,
            )
