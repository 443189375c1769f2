"""Raft's voters once a Raft node has started, or its vote was removed.

Pure. Assumes that a Raft node that starts adds itself to the voters, and that those which answer
reach each other.
"""

from __future__ import annotations

from dataclasses import replace

from queenright.core.forecast.members import Members
from queenright.core.observed import RaftStatus, Unknown
from queenright.core.swarm.label_values import read_json
from queenright.core.swarm.objects import PARTNERS_VARIABLE

NO_VOTE = Unknown("its Raft node is no voter any more")


def joined(members: Members, service: str) -> Members:
    """Return the members after the Raft node of one has started, and has added itself."""
    own, known = members.address(service), members.rafts
    base = next((raft for raft in known if raft.has_quorum), None)
    raft = members.raft(service) or base or RaftStatus(has_quorum=False)
    listed = [one.voters for one in known if one.has_quorum or base is None]
    partners = () if base is not None else partners_of(members, service)
    voters = frozenset[str]().union(*listed, partners, {own})
    return connected(members.with_raft(service, replace(raft, address=own)), voters)


def partners_of(members: Members, service: str) -> frozenset[str]:
    """Return the Raft addresses in a member's list of partners."""
    found = (m.service for m in members.cluster.members if m.service.name == service)
    text = next((one.environment.get(PARTNERS_VARIABLE, "") for one in found), "")
    listed = read_json(text)
    return frozenset(map(str, listed)) if isinstance(listed, list) else frozenset()


def left(members: Members, voter: str) -> Members:
    """Return the members after a vote was removed: its own node is without a quorum."""
    for name in members.services:
        if members.address(name) == voter and members.raft(name) is not None:
            members = members.with_raft(name, NO_VOTE)
            status = members.status(name)
            if status is not None:
                members = members.with_status(name, replace(status, replication_state=""))
    listed = (raft.voters for raft in members.rafts)
    return connected(members, frozenset[str]().union(*listed) - {voter})


def connected(members: Members, voters: frozenset[str], leader: str = "") -> Members:
    """Return the members with these voters, of which those reach each other that answer."""
    nodes = {
        name: raft
        for name in members.services
        if (raft := members.raft(name)) is not None and raft.address in voters
    }
    answering = frozenset(raft.address for raft in nodes.values())
    known = (raft.leader for raft in nodes.values() if raft.leader in answering)
    leader = leader or next(known, "") or min(answering, default="")
    has_quorum = 2 * len(answering) > len(voters)
    index = max((raft.commit_index for raft in nodes.values()), default=1)
    for name, raft in nodes.items():
        others = answering - {raft.address}
        status = replace(
            raft,
            has_quorum=has_quorum,
            leader=leader if has_quorum else "",
            term=max(raft.term, 1),
            reachable=others,
            unreachable=voters - answering,
            state="leader" if has_quorum and raft.address == leader else "follower",
            commit_index=index,
            last_applied=index,
            match_index=dict.fromkeys(others, index) if raft.address == leader else {},
        )
        members = members.with_raft(name, status)
    return members
