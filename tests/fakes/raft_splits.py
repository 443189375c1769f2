"""Finds two quorums among Raft nodes: two sets without a common node that can each elect a leader.

``two_quorums`` looks at the nodes' lists and logs alone; ``both_commit`` then cuts the network
between the two sets and sees if each of them commits a write of its own. The first is the danger,
the second its proof.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import permutations

from tests.fakes.raft_node import RaftNode
from tests.fakes.raft_nodes import RaftNodes

LIMIT = 900
"""Ticks until both sides have a leader and have committed: retries of links take 50 each."""


@dataclass(frozen=True)
class Quorum:
    """``candidate`` can be elected by ``voters``, itself among them."""

    candidate: str
    voters: frozenset[str]


def electors(nodes: RaftNodes, candidate: RaftNode) -> frozenset[str]:
    """Return the running nodes that would vote for this one: they and it list each other, and their
    log does not end later than its own."""
    return frozenset(
        own
        for own, node in nodes.running.items()
        if own == candidate.own
        or (
            own in candidate.others
            and candidate.own in node.others
            and node.end.position <= candidate.end.position
        )
    )


def two_quorums(nodes: RaftNodes) -> tuple[Quorum, Quorum] | None:
    """Return two quorums without a common node, or None if any two that can elect share one."""
    can = {own: electors(nodes, node) for own, node in nodes.running.items()}
    needs = {own: len(node.voters) // 2 + 1 for own, node in nodes.running.items()}
    for one, other in permutations(sorted(can), 2):
        mine, theirs = can[one] - {other}, can[other] - {one}
        if (
            one < other
            and len(mine) >= needs[one]
            and len(theirs) >= needs[other]
            and len(mine | theirs) >= needs[one] + needs[other]
        ):
            first = chosen(one, mine - theirs, mine & theirs, needs[one])
            return Quorum(one, first), Quorum(other, theirs - first)
    return None


def chosen(
    candidate: str, alone: Iterable[str], shared: Iterable[str], needed: int
) -> frozenset[str]:
    """Return as many voters as needed, those first that the other candidate can't have."""
    order = [candidate, *sorted(set(alone) - {candidate}), *sorted(shared)]
    return frozenset(order[:needed])


def both_commit(nodes: RaftNodes, found: tuple[Quorum, Quorum]) -> bool:
    """Cut the network between the two, and return True if each elects a leader and commits."""
    nodes.split(*(quorum.voters for quorum in found))
    return all(commits(nodes, quorum) for quorum in found)


def commits(nodes: RaftNodes, quorum: Quorum) -> bool:
    """Return True if one of these nodes leads, and a write is committed there in time."""
    for _ in range(LIMIT):
        leader = nodes.leader(*quorum.voters)
        if leader:
            asked = nodes.running[leader].asked_to_put(f"by {leader}")
            for _ in range(20):
                nodes.tick()
                if asked.succeeded:
                    return True
        else:
            nodes.tick()
    return False
