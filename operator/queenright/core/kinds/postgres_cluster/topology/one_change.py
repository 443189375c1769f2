"""A plan with at most one change of the members, and nothing beside it that disrupts.

Pure. Invariant: what the members' change rests on is not changed by the same plan.
"""

from __future__ import annotations

from dataclasses import replace

from queenright.core.actions import (
    AnyAction,
    CreateService,
    Failover,
    LabelConfig,
    NoteMembers,
    RaftRemove,
    RaftTransfer,
    Reinitialize,
    RemoveService,
    RestartService,
    Switchover,
)
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.settled import is_unlisted
from queenright.core.planning.assemble import sorted_holds
from queenright.core.planning.plan import Hold, Plan


def with_one_change(plan: Plan, state: ClusterState) -> Plan:
    """Return the plan without the changes of its members that have to wait for another action."""
    changes = [action for action in plan.actions if changes_members(action, state)]
    if not changes:
        return plan
    first = next((action for action in plan.actions if disrupts(action, changes)), None)
    left = changes if first is not None else changes[1:]
    before = first.key if first is not None else changes[0].key
    if not left:
        return plan
    held = (Hold(action.key, f"waiting: {before} comes first; {action.reason}") for action in left)
    return replace(
        plan,
        actions=tuple(action for action in plan.actions if action not in left),
        holds=sorted_holds((*plan.holds, *held)),
    )


def disrupts(action: AnyAction, changes: list[AnyAction]) -> bool:
    """Return True for an action that a change of the members waits for: one that disrupts, or
    writes the config in which places are noted."""
    if action in changes:
        return False
    notes = [change for change in changes if isinstance(change, NoteMembers)]
    is_rival = isinstance(action, LabelConfig) and any(n.id == action.id for n in notes)
    moves = isinstance(action, Switchover | Failover)
    return is_rival or moves or bool(action.disrupts)


def changes_members(action: AnyAction, state: ClusterState) -> bool:
    """Return True for a change of who the members are."""
    match action:
        case RaftRemove() | RaftTransfer() | Reinitialize() | NoteMembers():
            return True
        case CreateService(service=service) | RestartService(service=service):
            return any(
                member.service.name == service.name and is_unlisted(state, member)
                for member in state.desired.members
            )
        case RemoveService(name=name):
            return any(member.service.name == name for member in state.desired.members)
        case _:
            return False
