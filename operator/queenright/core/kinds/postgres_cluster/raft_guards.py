"""Guards of the members' Raft nodes.

As ``guards``: from the observation alone, and on purpose a second check beside the rules.
"""

from __future__ import annotations

import dataclasses

from queenright.core.actions import Switchover, UpdateService
from queenright.core.kinds.postgres_cluster.in_place.guard import unasked_disruptions
from queenright.core.kinds.postgres_cluster.raft_reset import Anew
from queenright.core.observed import (
    Known,
    LiveService,
    Observed,
    RaftStatus,
    raft_key,
    voters_key,
)
from queenright.core.planning.disruption import peers
from queenright.core.planning.plan import Plan, Refusal
from queenright.core.swarm.objects import RAFT_RESET_VARIABLE

LEAST_S = 15.0
"""Seconds for which a node must have applied nothing before it counts as stuck."""
SETTLED_S = 5.0
"""Seconds after a change of a service in which swarm may yet stop its container."""


def raft_is_applied(plan: Plan, observed: Observed) -> Refusal | None:
    """Refuse a disruption or a switchover while another member's Raft node can't apply its log.

    Such a node counts for the quorum and can't serve as a member.
    """
    spared = {live.value.name for live in unasked_disruptions(plan, observed)}
    moves = any(isinstance(action, Switchover) for action in plan.actions)
    for peer in peers(plan, observed) if spared or moves else ():
        name = peer.value.name
        if (moves or name not in spared) and applies_nothing(name, observed):
            return Refusal("raft-is-applied", f"the Raft node of {name} can't apply its log")
    return None


def raft_log_is_spared(plan: Plan, observed: Observed) -> Refusal | None:
    """Refuse to have a member set its Raft log aside unless that node is of no use, its Patroni
    silent (or its voters former ones), and the others are a quorum that agrees and has applied
    everything."""
    for live in peers(plan, observed):
        action = reset_of(plan, live)
        if action is None or Anew.read(action.service) is not None:
            continue  # a log that begins anew is judged by ``raft_logs_are_lost``
        name = live.value.name
        is_apart = is_estranged(name, plan, observed)
        kept = dataclasses.replace(action.service, environment=live.value.environment)
        if kept != live.value:
            why = f"{name} would be changed otherwise too"
        elif not (is_apart or applies_nothing(name, observed)):
            why = f"the Raft node of {name} is not known to be stuck"
        elif not is_apart and isinstance(observed.members.get(name), Known):
            why = f"{name} answers"
        else:
            why = why_not_without(name, plan, observed)
        if why:
            return Refusal("raft-log-is-spared", why)
    return None


def reset_of(plan: Plan, live: LiveService) -> UpdateService | None:
    """Return the action that asks this member to set its Raft log aside."""
    for action in plan.actions:
        if isinstance(action, UpdateService) and action.service.name == live.value.name:
            asked = action.service.environment.get(RAFT_RESET_VARIABLE)
            if asked and asked != live.value.environment.get(RAFT_RESET_VARIABLE):
                return action
    return None


def applies_nothing(name: str, observed: Observed) -> bool:
    """Return True for a node that has run and been behind at one entry for long."""
    match observed.raft.get(name):
        case Known(status) if status.is_behind:
            seen_s = observed.seen_s_ago.get(raft_key(name), 0.0)
            return min(seen_s, status.uptime_s) >= LEAST_S
        case _:
            return False


def is_estranged(name: str, plan: Plan, observed: Observed) -> bool:
    """Return True for a node that all others list, and that lists others than they do: it has run
    without a quorum or a leader for long, and misses none of them by the network."""
    match observed.raft.get(name):
        case Known(own) if not own.has_quorum and not own.leader:
            seen_s = observed.seen_s_ago.get(voters_key(name), 0.0)
        case _:
            return False
    for peer in peers(plan, observed):
        status = observed.raft.get(peer.value.name)
        if peer.value.name != name and not (
            isinstance(status, Known)
            and own.address in status.value.voters != own.voters
            and status.value.address not in own.unreachable
        ):
            return False
    return min(seen_s, own.uptime_s) >= LEAST_S


def why_not_without(name: str, plan: Plan, observed: Observed) -> str:
    """Reason why the other nodes are no certain quorum without this one; empty if they are."""
    others: list[RaftStatus] = []
    for peer in peers(plan, observed):
        if peer.value.name != name and observed.seen_s_ago.get(peer.id, 0.0) < SETTLED_S:
            return f"{peer.value.name} was changed a moment ago"
        match observed.raft.get(peer.value.name):
            case _ if peer.value.name == name:
                pass
            case Known(status) if status.has_quorum and not status.is_behind:
                others.append(status)
            case _:
                return f"the Raft node of {peer.value.name} is not known to be well"
    views = {(status.leader, status.term, status.voters) for status in others}
    if len(views) != 1 or not others[0].leader or 2 * len(others) <= len(others[0].voters):
        return f"the Raft nodes without {name} are no quorum that agrees"
    return ""
