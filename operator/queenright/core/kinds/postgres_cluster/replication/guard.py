"""Guard of synchronous replication: from the observation alone, beside what the rules ask.

A replica that confirms commits is restarted only while another one can take its part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from queenright.core.actions import PatchSettings, RaftRemove
from queenright.core.kinds.postgres_cluster.in_place.guard import unasked_disruptions
from queenright.core.kinds.postgres_cluster.patroni.config_keys import PAUSE_KEY
from queenright.core.kinds.postgres_cluster.raft_guards import reset_of
from queenright.core.kinds.postgres_cluster.replication.settings import read_replication
from queenright.core.observed import Known, MemberStatus, Observed
from queenright.core.planning.disruption import peers
from queenright.core.planning.plan import Plan, Refusal
from queenright.core.swarm.label_values import read_whole

NAME = "commits-are-confirmed"


def commits_are_confirmed(plan: Plan, observed: Observed) -> Refusal | None:
    """Refuse to disrupt a replica, or to pause for a maintenance, if no other replica could confirm
    commits then, where Patroni's settings have commits wait for one.

    A paused cluster without a quorum can't take a lost replica out of the /sync key, so that its
    leader would wait for ever.
    """
    match observed.settings.get(plan.cluster):
        case Known(settings) if read_replication(settings).is_synchronous:
            pass
        case _:
            return None
    for live in unasked_disruptions(plan, observed):
        name = live.value.name
        own = observed.members.get(name)
        is_leader = isinstance(own, Known) and own.value.holds_lock
        if is_leader or reset_of(plan, live) is not None:
            continue
        if not any(is_fit(status, settings) for status in others(name, plan, observed)):
            return Refusal(NAME, f"no replica but {name} can confirm commits")
    for action in plan.actions:
        if isinstance(action, RaftRemove) and (name := needed(action, plan, observed, settings)):
            return Refusal(NAME, f"no replica but {name} can confirm commits")
        pauses = isinstance(action, PatchSettings) and action.patch.get(PAUSE_KEY) == "maintenance"
        if pauses:
            return Refusal(NAME, "a pinned leader without a quorum would wait for its replicas")
    return None


def needed(action: RaftRemove, plan: Plan, observed: Observed, settings: Mapping[str, Any]) -> str:
    """Return the service whose vote goes, if it alone can confirm commits; empty if it is not."""
    for peer in peers(plan, observed):
        name, own = peer.value.name, observed.members.get(peer.value.name)
        if peer.value.environment.get("RAFT_SELF", "") != action.voter:
            continue
        confirms = isinstance(own, Known) and bool(own.value.synchronous)
        if confirms and not any(is_fit(s, settings) for s in others(name, plan, observed)):
            return name
    return ""


def others(name: str, plan: Plan, observed: Observed) -> Iterator[MemberStatus]:
    """Yield the answers of the replicas beside one."""
    for peer in peers(plan, observed):
        match observed.members.get(peer.value.name):
            case Known(status) if peer.value.name != name and not status.holds_lock:
                yield status
            case _:
                pass


def is_fit(status: MemberStatus, settings: Mapping[str, Any]) -> bool:
    """Return True if Patroni would take the replica for one that confirms."""
    most = settings.get("maximum_lag_on_syncnode")
    near = not isinstance(most, int) or most <= 0 or (status.lag_bytes or 0) <= most
    known = status.lag_bytes is not None or not isinstance(most, int) or most <= 0
    return status.replication_state == "streaming" and near and known and not is_barred(status.tags)


def is_barred(tags: Mapping[str, Any]) -> bool:
    """Return True if a replica's tags keep it from confirming, as Patroni reads them: ``nosync``
    is stronger than ``sync_priority``."""
    if tags.get("nosync") is not None:
        return bool(tags["nosync"])
    priority = str(tags.get("sync_priority", 1)).strip()
    return priority.startswith("-") or read_whole(priority) == 0
