"""One member's answers as the guards of the topology read them.

On purpose not shared with the rules. Invariant: what is not known is None, or False.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from queenright.core.observed import Known, LiveService, Observed, RaftStatus, SwarmState
from queenright.core.swarm.label_values import read_json
from queenright.core.swarm.objects import PARTNERS_VARIABLE, Service


def raft_self(service: Service) -> str:
    """Return the address by which Raft knows a member."""
    return service.environment.get("RAFT_SELF", "")


def partners_of(service: Service) -> tuple[str, ...]:
    found = read_json(service.environment.get(PARTNERS_VARIABLE, ""))
    return tuple(str(item) for item in found) if isinstance(found, list) else ()


def raft_of(live: LiveService, observed: Observed) -> RaftStatus | None:
    match observed.raft.get(live.value.name):
        case Known(status):
            return status
        case _:
            return None


def certain_voters(known: Sequence[RaftStatus]) -> frozenset[str]:
    """Return the voters that each Raft node lists which has a quorum and a leader."""
    sure = [status.voters for status in known if status.has_quorum and status.leader]
    return frozenset.intersection(*sure) if sure else frozenset()


def seatless(known: Sequence[RaftStatus]) -> frozenset[str]:
    """Return the addresses of Raft nodes without a quorum that none with a quorum lists."""
    listed = frozenset[str]().union(*(status.voters for status in known if status.has_quorum))
    lone = (status.address for status in known if not status.has_quorum)
    return frozenset(own for own in lone if own not in listed) if listed else frozenset()


def is_silent(live: LiveService, observed: Observed) -> bool:
    """Return True for a member of which neither Patroni nor Raft answers."""
    is_known = isinstance(observed.members.get(live.value.name), Known)
    return not is_known and raft_of(live, observed) is None


def holds_lock(live: LiveService, observed: Observed) -> bool:
    match observed.members.get(live.value.name):
        case Known(status):
            return status.holds_lock
        case _:
            return False


def why_occupied(name: str, swarm: SwarmState | None) -> Iterator[str]:
    """Reasons why the container of a removed service may still run on a node that the swarm does
    not call down: under its name another may be made elsewhere."""
    node = swarm.node(name) if swarm is not None else None
    if swarm is None or node is None or node.state == "down":
        return
    deployed = {live.id for live in swarm.services}
    for task in swarm.tasks:
        if task.node_id == node.id and task.service_id not in deployed and swarm.may_run(task):
            yield f"a task of a removed service may still run on {name}"
