"""What stands between a mistaken rule and a cluster's roles and databases.

Decides from the observation alone whether the server that a plan would change over SQL is the
leader, for certain.
"""

from __future__ import annotations

from queenright.core.actions import (
    AlterDatabase,
    AlterRole,
    CreateDatabase,
    CreateExtension,
    CreateRole,
)
from queenright.core.consequences import peers, swarm_of
from queenright.core.notes import MOVE_LABEL
from queenright.core.observed import Known, Observed
from queenright.core.plan import Plan, Refusal
from queenright.core.resources import ADDRESS_LABEL

OVER_SQL = (CreateRole, AlterRole, CreateDatabase, AlterDatabase, CreateExtension)


def sql_goes_to_the_leader(plan: Plan, observed: Observed) -> Refusal | None:
    """Roles and databases are only changed on the one member that proves the lock, whose Raft node
    has the quorum, and not while the lead moves."""
    asked = {action.host for action in plan.actions if isinstance(action, OVER_SQL)}
    if not asked:
        return None
    name, swarm = "sql-goes-to-the-leader", swarm_of(observed)
    anchor = swarm.config(f"{plan.cluster}_cluster") if swarm else None
    if anchor is not None and MOVE_LABEL in anchor.value.labels:
        return Refusal(name, "the lead is moving")
    leading = {}
    for peer in peers(plan, observed):
        match observed.members.get(peer.value.name):
            case Known(status) if status.is_leader:
                leading[peer.value.labels.get(ADDRESS_LABEL, "")] = peer.value.name
            case _:
                pass
    if len(leading) != 1:
        return Refusal(name, f"{len(leading)} members prove the leader lock")
    if asked != leading.keys():
        return Refusal(name, f"{', '.join(sorted(asked))} does not lead")
    for service in leading.values():
        match observed.raft.get(service):
            case Known(raft) if raft.has_quorum:
                pass
            case _:
                return Refusal(name, f"the Raft node of {service} does not affirm its quorum")
    return None
