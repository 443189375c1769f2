"""Guard of Raft logs that begin anew: from the observation alone, and on purpose a second check
beside ``raft_log``.

A log that is begun anew while somebody has the old one could be outvoted by it, or outvote it; and
the member that leads on decides which rows are lost.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field

from queenright.core.kinds.postgres_cluster.annotations import noted_labels
from queenright.core.kinds.postgres_cluster.places import decode_names, decode_places
from queenright.core.kinds.postgres_cluster.raft_reset import FENCE, JOIN, Anew
from queenright.core.kinds.postgres_cluster.topology.guard_readings import raft_self, why_occupied
from queenright.core.observed import Known, LiveService, Observed, RaftLoss, RaftStatus
from queenright.core.planning.disruption import peers, swarm_of
from queenright.core.planning.plan import Plan, Refusal
from queenright.core.swarm.objects import (
    MEMBERS_LABEL,
    RAFT_RESET_VARIABLE,
    VOTELESS_LABEL,
    Service,
)


def raft_logs_are_lost(plan: Plan, observed: Observed) -> Refusal | None:
    """Refuse to have a member begin its Raft log anew unless it says that this log is lost, too few
    have one, all members are known, and the one that leads on has the newest data."""
    for live in peers(plan, observed):
        service = service_after(plan, live)
        if service is None:
            continue
        if why := why_not(service, live, plan, observed):
            return Refusal("raft-logs-are-lost", f"{live.value.name}: {why}")
    return None


def service_after(plan: Plan, live: LiveService) -> Service | None:
    """The service with a new request to begin anew; None where the plan has none for it."""
    for action in plan.actions:
        service = getattr(action, "service", None)
        if not isinstance(service, Service) or service.name != live.value.name:
            continue
        asked = service.environment.get(RAFT_RESET_VARIABLE)
        if asked != live.value.environment.get(RAFT_RESET_VARIABLE) and Anew.read(service):
            return service
    return None


@dataclass
class Seen:
    """The member services, those that wait with a lost log, the Raft nodes of the others, the loss
    after which their logs began anew, those that may not lead, and the members that don't answer,
    by their services' names; ``leading`` holds the lock."""

    services: dict[str, Service] = field(default_factory=dict)
    lost: dict[str, RaftLoss] = field(default_factory=dict)
    nodes: dict[str, RaftStatus] = field(default_factory=dict)
    began: dict[str, str] = field(default_factory=dict)
    fenced: set[str] = field(default_factory=set)
    silent: list[str] = field(default_factory=list)
    leading: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, plan: Plan, observed: Observed) -> Seen:
        seen = cls()
        for peer in peers(plan, observed):
            name = peer.value.name
            seen.services[name] = peer.value
            match observed.members.get(name), observed.raft.get(name):
                case Known(status), _ if status.holds_lock:
                    seen.leading.append(name)
                case Known(status), _ if (loss := status.raft_loss) is not None:
                    seen.lost[name] = loss
                case answer, Known(raft):
                    seen.nodes[name] = raft
                    seen.began[name] = answer.value.began if isinstance(answer, Known) else ""
                    if isinstance(answer, Known) and answer.value.tags.get("nofailover") is True:
                        seen.fenced.add(name)
                case _:
                    seen.silent.append(name)
        return seen


def why_not(service: Service, live: LiveService, plan: Plan, observed: Observed) -> str:
    """Reason against a request to begin anew; empty if there is none."""
    request, seen, name = Anew.read(service), Seen.of(plan, observed), live.value.name
    own = seen.lost.get(name)
    if dataclasses.replace(service, environment=live.value.environment) != live.value:
        return "it would be changed otherwise too"
    if request is not None and request.word == FENCE:
        if name not in seen.nodes or name == f"{plan.cluster}_{request.leader}":
            return "it has no log, or is to lead on itself"
    elif request is None or own is None or own.number != request.number:
        return "it does not say that its log is lost, or of another loss"
    if seen.leading or any(node.has_quorum for node in seen.nodes.values()):
        return "a member leads, or a Raft node has a quorum"
    return (
        why_not_one_configuration(service, seen, plan, observed)
        or why_not_alone(request, seen)
        or why_not_named(f"{plan.cluster}_{request.leader}", name, request, seen)
    )


def why_not_one_configuration(service: Service, seen: Seen, plan: Plan, observed: Observed) -> str:
    """Reason why two sets of Raft nodes might elect; empty if this member and all whose Raft nodes
    run name the members' nodes, no other ones, and all noted places are among them, but for those
    without a vote and a service. A node with a log names those in it, any other those of its
    service. Those that wait start nothing before they are asked in turn."""
    own_nodes = {raft_self(each) for each in seen.services.values()}
    named = {name: nodes_in(seen.services[name]) for name in seen.nodes}
    named |= {name: {*node.voters} for name, node in seen.nodes.items() if node.has_log}
    if service.name not in seen.nodes:
        named[service.name] = nodes_in(service)
    if any(nodes != own_nodes for nodes in named.values()):
        return "a Raft node names others than the members'"
    swarm = swarm_of(observed)
    labels = noted_labels(plan.cluster, swarm) if swarm is not None else {}
    voteless = decode_names(labels.get(VOTELESS_LABEL, ""))
    for place in decode_places(labels.get(MEMBERS_LABEL, "")):
        name = f"{plan.cluster}_{place.name}"
        if name in seen.services:
            continue
        if place.name not in voteless:
            return f"{name} has no service"
        for why in why_occupied(place.node, swarm):
            return why
    return ""


def nodes_in(service: Service) -> set[str]:
    """The Raft nodes that a service names, its own among them; an empty name for any that can't be
    read."""
    try:
        found = json.loads(service.environment.get("RAFT_PARTNERS", "[]"))
    except ValueError:
        found = None
    partners = [str(one) for one in found] if isinstance(found, list) else [""]
    return {raft_self(service), *partners}


def why_not_alone(request: Anew, seen: Seen) -> str:
    """Reason why somebody may have the old log, or enough of them do; empty if nobody may."""
    many = len(seen.services)
    with_log = [name for name, node in seen.nodes.items() if node.has_log]
    if seen.silent:
        return f"{seen.silent[0]} is unknown, and may have a log"
    if bool(with_log) != (request.word in {JOIN, FENCE}):
        return "somebody has a log" if with_log else "nobody has a log to join"
    if 2 * len(with_log) > many:
        return "those that have a log are a majority"
    return ""


def why_not_named(leader: str, name: str, request: Anew, seen: Seen) -> str:
    """Reason why the member that is named may not lead on; empty if it may."""
    for other, node in seen.nodes.items():
        asked = Anew.read(seen.services[other])
        if node.has_log:
            if request.word == JOIN and other != leader and other not in seen.fenced:
                return f"{other} has a log, and may lead"
            continue
        if asked is None or (asked.leader, asked.number) != (request.leader, seen.began[other]):
            return f"{other} has an empty log, and has not begun it for {request.leader}"
    if leader in seen.nodes:
        return ""  # it was compared before it began, or has a log, and is judged by that
    if name != leader and request.word != FENCE:
        return f"{request.leader} has to begin first"
    return why_not_newest(seen.lost[leader], seen.lost)


def why_not_newest(named: RaftLoss, lost: dict[str, RaftLoss]) -> str:
    """Reason why the member that is named may not lead on; empty if none that waits has newer
    data."""
    told = [loss for loss in lost.values() if loss.timeline]
    if any(loss.why for loss in lost.values()) or len({loss.system for loss in told}) > 1:
        return "the members' data can't be compared"
    if not named.timeline or any(end(loss) > end(named) for loss in told):
        return "the one that is named has not the newest data"
    return ""


def end(loss: RaftLoss) -> tuple[int, int]:
    return loss.timeline, loss.location
