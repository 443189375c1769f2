"""Keeps a switchover and its annotation together in a plan."""

from __future__ import annotations

from dataclasses import replace

from queenright.core.actions import AnyAction, LabelConfig, Switchover
from queenright.core.kinds.postgres_cluster.annotations import MOVE_LABEL
from queenright.core.observed import Known, Observed
from queenright.core.planning.assemble import sorted_holds
from queenright.core.planning.plan import Hold, Plan


def with_noted_moves(plan: Plan, observed: Observed) -> Plan:
    """Return the plan with a switchover and its annotation, or with neither: an annotation alone
    would report a request that was never sent, and a switchover alone could be requested twice."""
    annotations = [action for action in plan.actions if begins_move(action, observed)]
    moves = [action for action in plan.actions if isinstance(action, Switchover)]
    if bool(annotations) == bool(moves):
        return plan
    left = [*annotations, *moves]
    held = (
        Hold(move.key, f"waiting: it has to be annotated first; {move.reason}") for move in moves
    )
    return replace(
        plan,
        actions=tuple(action for action in plan.actions if action not in left),
        holds=sorted_holds((*plan.holds, *held)),
    )


def begins_move(action: AnyAction, observed: Observed) -> bool:
    """True if the action writes the annotation of a switchover that has none yet."""
    if not isinstance(action, LabelConfig) or MOVE_LABEL not in action.config.labels:
        return False
    match observed.swarm:
        case Known(swarm):
            live = swarm.config(action.config.name)
            return live is not None and MOVE_LABEL not in live.value.labels
        case _:
            return False
