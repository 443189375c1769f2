"""The members' embedded Raft: who has quorum, who leads it, in which term, and who votes.

As pysyncobj has it, a node has quorum when it is connected to a majority of the nodes that *it*
lists; what it wants written is written only when it hears a Raft leader that has one. A node that
can't apply its log connects, votes and leads like any other; where it leads, no key expires.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from tests.fakes.raft_lists import Change, RaftNode
from tests.fakes.reachability import Reachability

ELECTION_S = 1.5

KEPT_S = 30.0
"""Longer than an observation may take that is acted on."""


@dataclass
class RaftModel:
    """One cluster's Raft, brought up to date by ``look``."""

    leader: str = ""
    term: int = 1
    leaderless_since_s: float | None = 0.0
    peers: dict[str, frozenset[str]] = field(default_factory=dict)
    """The nodes that each running node reaches, itself included."""
    quorate: frozenset[str] = frozenset()
    """The nodes with a connection to a majority."""
    able: frozenset[str] = frozenset()
    """The nodes whose writes are committed, and which see what is committed."""
    former: list[tuple[float, frozenset[str]]] = field(default_factory=list)
    """Such nodes of before, until when, of the last ``KEPT_S``."""
    stuck: frozenset[str] = frozenset()
    """The nodes that can't apply their log."""
    commit_index: int = 1
    running: dict[str, RaftNode] = field(default_factory=dict)
    rng: random.Random = field(default_factory=lambda: random.Random("first answers"))
    now_s: float = 0.0
    changed_s: list[float] = field(default_factory=list)
    """The times at which a leader has taken a change of the voters."""

    def look(self, nodes: Sequence[RaftNode], reach: Reachability, now_s: float) -> None:
        self.now_s = now_s
        before, known = self.peers, self.running
        running = [node for node in nodes if reach.runs(node.node_id)]
        self.running = {node.name: node for node in running}
        asked = [
            (name, node)
            for node in running
            if node.voters is None and (name := node.start(running, reach, self.rng))
        ]
        self.stuck = frozenset(node.name for node in running if not node.can_apply)
        self.see_links(running, reach)
        for name, node in asked:
            self.request(name, "add", node.address)
        if asked:
            self.see_links(running, reach)
        self._keep_or_elect(now_s)
        self._keep_half_open(before, known, reach)
        self.replicate()
        able = (
            frozenset(name for name in self.quorate if self.leader in self.peers[name]) - self.stuck
            if self.leader
            else frozenset()
        )
        if able != self.able:
            self.former = [one for one in self.former if one[0] > now_s - KEPT_S]
            self.former.append((now_s, self.able))
        self.able = able
        self.commit_index += 3 if self.able else 0
        for node in running:
            node.write(now_s)

    def able_since(self, at_s: float) -> frozenset[str]:
        """Return the nodes that were able at this moment, or have been since."""
        return self.able.union(*(able for until_s, able in self.former if until_s > at_s))

    def see_links(self, running: Sequence[RaftNode], reach: Reachability) -> None:
        """See who is connected with whom; the running nodes are few, and looked at in each tick."""
        self.peers = {
            node.name: frozenset(
                [
                    other.name
                    for other in running
                    if node.knows(other) and reach.linked(node.node_id, other.node_id)
                ]
            )
            for node in running
        }
        self.quorate = frozenset(
            [node.name for node in running if len(self.peers[node.name]) * 2 > len(node.listed)]
        )

    def _keep_half_open(
        self, before: dict[str, frozenset[str]], known: dict[str, RaftNode], reach: Reachability
    ) -> None:
        """Have followers keep connections that nobody closed. pysyncobj looks at a connection's age
        only when it sends, as a leader or a candidate does, and sets no keepalive on those that it
        was called on: by nodes with a greater address (pysyncobj 0.3.17, `tcp_server.py`). The
        kernel of a frozen node answers a keepalive."""
        for name, node in self.running.items():
            near = self.peers[name]
            if name == self.leader or not self.leader:
                node.half_open.clear()
                continue
            for other in before.get(name, near) - near:
                lost = known.get(other)
                is_silent = lost is not None and not (
                    reach.runs(lost.node_id) and reach.linked(node.node_id, lost.node_id)
                )
                if lost is None or not is_silent:
                    continue
                if lost.address > node.address or lost.node_id in reach.frozen:
                    node.half_open.add(lost.address)
            if node.half_open:
                node.half_open -= {self.running[other].address for other in near}

    @property
    def expires(self) -> bool:
        """True if keys expire: Raft's leader does that, from what it has applied."""
        return self.leader not in self.stuck

    # Elections

    def _keep_or_elect(self, now_s: float) -> None:
        # Who is connected to anyone and hears no leader asks for votes, and ends a leader's term.
        linked = {name for name, peers in self.peers.items() if len(peers) > 1}
        leads_all = self.leader in self.quorate and (
            self.quorate | linked <= self.peers[self.leader]
        )
        if leads_all:
            self.leaderless_since_s = None
            return
        if self.leaderless_since_s is None:
            self.leaderless_since_s = now_s
        self.leader = ""
        electable = [name for name in self.quorate if self.can_be_elected(name)]
        if electable and now_s - self.leaderless_since_s >= ELECTION_S:
            self.elect(max(electable, key=lambda name: (len(self.peers[name]), name)))

    def can_be_elected(self, name: str) -> bool:
        """Return True if a majority of its list hears it, and has no later log."""
        node = self.running[name]
        votes = [p for p in self.peers[name] if self.running[p].files.end <= node.files.end]
        return len(votes) * 2 > len(node.listed)

    def elect(self, name: str) -> None:
        self.term += 1
        self.leader, self.leaderless_since_s = name, None
        self.running[name].files.last_term = self.term

    # Changes of the voters

    def replicate(self) -> None:
        """Give the leader's log to all that it reaches, and commit what a majority has."""
        leader = self.running.get(self.leader)
        if leader is None:
            return
        near = [self.running[name] for name in self.peers[leader.name] if name != leader.name]
        for node in near:
            node.follow(leader)
        if (len(near) + 1) * 2 > len(leader.listed):
            for node in (leader, *near):
                node.files.committed = len(leader.files.log)

    def request(self, asked: str, verb: Literal["add", "rem"], voter: str) -> bool | None:
        """Ask a node for a change. True for done, False for refused, None for no answer: the leader
        has taken it, and no majority has it yet."""
        leader = self.running.get(self.leader)
        if leader is None or leader.name not in self.peers.get(asked, frozenset()):
            return False
        is_own = voter in {leader.address, self.running[asked].address} and verb == "rem"
        if is_own or (voter in leader.listed) == (verb == "add"):
            return False
        change = Change(verb, voter, self.term)
        leader.files.log.append(change)
        leader.change(change)
        self.changed_s.append(self.now_s)
        self.replicate()
        return True if leader.files.committed == len(leader.files.log) else None

    def transfer(self, asked: str, voter: str) -> bool:
        """Ask the leader to let another lead; False if it refuses. One that is not linked to a
        majority of its own list loses its election."""
        chosen = next((n for n in self.running.values() if n.address == voter), None)
        is_refused = asked != self.leader or chosen is None or chosen.name == self.leader
        if chosen is None or is_refused or chosen.name not in self.peers[asked]:
            return False
        if chosen.name in self.quorate and self.can_be_elected(chosen.name):
            self.elect(chosen.name)
        else:
            self.term, self.leader = self.term + 1, ""
        return True

    def is_listed(self, voter: str) -> bool:
        """Return True if a Raft node lists this one; a node counts that another one lists. The
        managers may not hear the node of a removed member, which then runs on with an old list."""
        nodes = [node for node in self.running.values() if node.address != voter]
        listed = {address for node in nodes for address in node.listed - {node.address}}
        return any(voter in node.listed for node in nodes if node.address in listed)

    def two_quorums(self) -> tuple[str, str] | None:
        """Return two nodes, each of which can be elected without any voter of the other, if the
        network is cut between them; None if any two majorities share a voter."""
        nodes = list(self.running.values())
        lists = {frozenset(node.listed) for node in nodes}
        if len(lists) < 2:
            return None
        votes = {
            node.name: {
                other.address
                for other in nodes
                if node.knows(other) and other.files.end <= node.files.end
            }
            for node in nodes
        }
        for one in nodes:
            for other in nodes:
                mine, theirs = votes[one.name] - {other.address}, votes[other.name] - {one.address}
                least, most = len(one.listed) // 2 + 1, len(other.listed) // 2 + 1
                if (
                    one.address < other.address
                    and len(mine) >= least
                    and len(theirs) >= most
                    and len(mine | theirs) >= least + most
                ):
                    return one.name, other.name
        return None
