"""What stands between a mistaken rule and a cluster's roles and databases.

Decides from the observation alone whether the server that a plan would change over SQL is the
leader, for certain.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

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
    has the quorum, and not while the lead moves: of the cluster that each action names, which in an
    application's plan is another than the plan's own."""
    asked: dict[str, set[str]] = {}
    for action in plan.actions:
        if isinstance(action, OVER_SQL):
            asked.setdefault(action.cluster, set()).add(action.host)
    for cluster, hosts in sorted(asked.items()):
        why = why_not_there(dataclasses.replace(plan, cluster=cluster), hosts, observed)
        if why is not None:
            return Refusal("sql-goes-to-the-leader", why)
    return None


def why_not_there(plan: Plan, hosts: Collection[str], observed: Observed) -> str | None:
    """Why nothing is changed at these addresses of the plan's cluster; None where that is safe."""
    swarm = swarm_of(observed)
    anchor = swarm.config(f"{plan.cluster}_cluster") if swarm else None
    if anchor is not None and MOVE_LABEL in anchor.value.labels:
        return "the lead is moving"
    leading = {}
    for peer in peers(plan, observed):
        match observed.members.get(peer.value.name):
            case Known(status) if status.is_leader:
                leading[peer.value.labels.get(ADDRESS_LABEL, "")] = peer.value.name
            case _:
                pass
    if len(leading) != 1:
        return f"{len(leading)} members prove the leader lock"
    if set(hosts) != leading.keys():
        return f"{', '.join(sorted(hosts))} does not lead"
    for service in leading.values():
        match observed.raft.get(service):
            case Known(raft) if raft.has_quorum:
                pass
            case _:
                return f"the Raft node of {service} does not affirm its quorum"
    return None
