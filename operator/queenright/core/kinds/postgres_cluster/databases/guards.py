"""Guard of a cluster's roles and databases.

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
from queenright.core.kinds.postgres_cluster.annotations import MOVE_LABEL, state_config_name
from queenright.core.observed import Known, Observed
from queenright.core.planning.disruption import peers, swarm_of
from queenright.core.planning.plan import Plan, Refusal
from queenright.core.swarm.objects import ADDRESS_LABEL

OVER_SQL = (CreateRole, AlterRole, CreateDatabase, AlterDatabase, CreateExtension)


def sql_goes_to_the_leader(plan: Plan, observed: Observed) -> Refusal | None:
    """Refuse SQL on any server but the proven leader with a Raft quorum, and in a switchover.

    The leader is that of the cluster which each action names; in an application's plan that is not
    the plan's own name.
    """
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
    """Reason why nothing may be changed at these addresses; None if it may."""
    swarm = swarm_of(observed)
    state_config = swarm.config(state_config_name(plan.cluster)) if swarm else None
    if state_config is not None and MOVE_LABEL in state_config.value.labels:
        return "a switchover is in progress"
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
        return f"{', '.join(sorted(hosts))} is not the leader"
    for service in leading.values():
        match observed.raft.get(service):
            case Known(raft) if raft.has_quorum:
                pass
            case _:
                return f"the Raft node of {service} does not report a quorum"
    return None
