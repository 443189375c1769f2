"""Three members of which one is moved, replaced or renamed by its line, step by step."""

from __future__ import annotations

from queenright.core.actions import NoteMembers
from queenright.core.kinds.postgres_cluster.places import (
    DeployedMember,
    decode_places,
)
from queenright.core.observed import Observed, Unknown
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import MEMBERS_LABEL
from tests.support.builders import plan_for
from tests.support.changed import with_member, with_node
from tests.support.topology_worlds import (
    after,
    deployed,
    raft_nodes,
    refusal,
    text_of,
    with_raft_nodes,
)

MOVED = text_of(1, 2, 3).replace("member-3, node: node4", "member-3, node: node5")
READDRESSED = text_of(1, 2, 3).replace("node: node4", "node: node4, address: 10.77.0.99")
RENAMED = text_of(1, 2, 3).replace("member-3, node: node4", "db-3, node: node4")


def keys(plan: Plan) -> list[str]:
    return [action.key for action in plan.actions]


def reason(plan: Plan, key: str) -> str:
    return next(hold.reason for hold in plan.holds if hold.key == key)


def places_noted(plan: Plan) -> tuple[DeployedMember, ...]:
    (action,) = (a for a in plan.actions if isinstance(a, NoteMembers))
    return decode_places(action.config.labels[MEMBERS_LABEL])


def dead(state: str = "down") -> Observed:
    """The third member's node is gone."""
    observed = with_node(deployed(1, 2, 3), "node4", state=state)
    observed = with_member(observed, "member-3", Unknown("timed out"))
    return with_raft_nodes(observed, raft_nodes([1, 2, 3], down=[3]))


def steps_until(observed: Observed, text: str, kind: type) -> tuple[Observed, Plan]:
    """Follow the plans until one has such an action."""
    for _ in range(20):
        plan = plan_for(observed, text)
        assert refusal(plan, observed) is None, keys(plan)
        if any(isinstance(action, kind) for action in plan.actions):
            return observed, plan
        assert plan.actions, [hold.reason for hold in plan.holds]
        observed = after(observed, plan.actions[0])
    raise AssertionError("never")
