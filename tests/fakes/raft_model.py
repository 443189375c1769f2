"""The members' embedded Raft: who has quorum, who leads it, and in which term.

As pysyncobj has it, a node has quorum when it is connected to a majority; what it wants written is
written only when it hears a Raft leader that has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.fakes.reachability import Reachability

ELECTION_S = 1.5


@dataclass(frozen=True)
class RaftNode:
    """One node as it is asked: its name, where it runs, and how many others it knows of."""

    name: str
    node_id: str
    partners: int


@dataclass
class RaftModel:
    """One cluster's Raft, brought up to date by ``look``."""

    leader: str = ""
    term: int = 1
    leaderless_since_s: float | None = 0.0
    peers: dict[str, frozenset[str]] = field(default_factory=dict)
    """Whom each running node hears, itself included."""
    quorate: frozenset[str] = frozenset()
    """Who is connected to a majority."""
    able: frozenset[str] = frozenset()
    """Whose writes are committed."""

    def look(self, nodes: Sequence[RaftNode], reach: Reachability, now_s: float) -> None:
        running = [node for node in nodes if reach.runs(node.node_id)]
        self.peers = {
            node.name: frozenset(
                other.name for other in running if reach.linked(node.node_id, other.node_id)
            )
            for node in running
        }
        self.quorate = frozenset(
            node.name for node in running if len(self.peers[node.name]) * 2 > node.partners + 1
        )
        self._keep_or_elect(now_s)
        self.able = (
            frozenset(name for name in self.quorate if self.leader in self.peers[name])
            if self.leader
            else frozenset()
        )

    def _keep_or_elect(self, now_s: float) -> None:
        leads_all = self.leader in self.quorate and self.quorate <= self.peers[self.leader]
        if leads_all:
            self.leaderless_since_s = None
            return
        if self.leaderless_since_s is None:
            self.leaderless_since_s = now_s
        self.leader = ""
        if self.quorate and now_s - self.leaderless_since_s >= ELECTION_S:
            self.term += 1
            self.leader = max(self.quorate, key=lambda name: (len(self.peers[name]), name))
            self.leaderless_since_s = None
