"""Raft nodes that start as Patroni's do, on a network that can be cut; time is counted in ticks.

At start a node asks its partners for the members, in random order, and takes the first answer; it
has itself added if it is not among them, once, and nothing ever removes it. Where nobody answers it
takes the partners, or what its files say. One tick is 0.1 s, and every message takes one tick.
Invariant: all that happens is decided by the calls and the seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import combinations

from queenright.core.observed import RaftStatus
from tests.fakes.raft_disk import Disk
from tests.fakes.raft_messages import Message, Request
from tests.fakes.raft_node import RaftNode

RETRY_TICKS = 50
"""A node tries again every 5 s to connect to one with a smaller address."""
IDLE_TICKS = 35
"""A node that sends on a connection on which it has read nothing for 3.5 s drops it instead."""
KEEPALIVE_TICKS = 310
"""The kernel gives up a connection without answers after about 31 s."""

Pair = frozenset[str]


@dataclass
class RaftNodes:
    """``sync_ticks`` is the time between two syncs of every disk; 0 for never. With ``is_durable``
    all that a node writes is on its disk before it answers, as with the member image since decision
    35; with ``is_apart`` the disks are synced one after the other, as processes of their own do."""

    seed: int = 0
    sync_ticks: int = 0
    is_durable: bool = False
    is_apart: bool = False
    now: int = 0
    running: dict[str, RaftNode] = field(default_factory=dict)
    disks: dict[str, Disk] = field(default_factory=dict)
    links: dict[Pair, dict[str, int]] = field(default_factory=dict)
    """For each connection, the tick at which each side read from it last."""
    cut: dict[Pair, int] = field(default_factory=dict)
    sent: list[tuple[str, str, Message]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)

    # -- processes and disks

    def disk(self, own: str) -> Disk:
        return self.disks.setdefault(own, Disk())

    def start(self, own: str, partners: Collection[str]) -> Request | None:
        """Start a node as Patroni does; return its request to be added, if it made one."""
        assert own not in self.running, f"{own} runs already"
        order = sorted(set(partners) - {own})
        self.rng.shuffle(order)
        answering = [node for node in order if node in self.running and self.reaches(own, node)]
        listed = self.running[answering[0]].voters if answering else frozenset(partners)
        self.running[own] = RaftNode(
            own,
            set(listed - {own}),
            files=self.disk(own).files,
            send=self.sender(own),
            rng=self.rng,
            now=self.now,
        )
        if answering and own not in listed:
            return self.running[answering[0]].asked_to_add(own)
        return None

    def sender(self, own: str) -> Callable[[str, Message], None]:
        def send(node: str, message: Message) -> None:
            pair = frozenset({own, node})
            if pair not in self.links:
                return
            if self.now - self.links[pair][own] > IDLE_TICKS:
                self.unlink(pair)
            else:
                self.sent.append((own, node, message))

        return send

    def kill(self, *nodes: str) -> None:
        """End processes; their files stay, since the kernel has them."""
        for own in nodes:
            del self.running[own]
            for pair in [pair for pair in self.links if own in pair]:
                self.unlink(pair)

    def cut_power(self, *nodes: str) -> None:
        """End processes and lose what was not synced."""
        for own in nodes:
            if own in self.running:
                self.kill(own)
            self.disk(own).lose_unsynced()

    def sync(self, *nodes: str) -> None:
        for own in nodes or tuple(self.disks):
            self.disk(own).sync()

    # -- the network

    def split(self, *groups: Collection[str]) -> None:
        """Cut all between the groups; a node in none of them is cut off from all."""
        group = {node: number for number, nodes in enumerate(groups) for node in nodes}
        for one, other in combinations(sorted(self.disks | self.running | group), 2):
            if one not in group or group[one] != group.get(other):
                self.cut.setdefault(frozenset({one, other}), self.now)

    def heal(self) -> None:
        self.cut.clear()

    def reaches(self, one: str, other: str) -> bool:
        return frozenset({one, other}) not in self.cut

    def unlink(self, pair: Pair) -> None:
        self.links.pop(pair, None)
        for own in pair & self.running.keys():
            self.running[own].linked -= pair

    def update_links(self) -> None:
        for pair in list(self.links):
            one, other = pair
            if (
                other not in self.running[one].others
                or one not in self.running[other].others
                or self.now - self.cut.get(pair, self.now) > KEEPALIVE_TICKS
            ):
                self.unlink(pair)
        for own in sorted(self.running):
            for node in sorted(self.running[own].others):
                if node < own and frozenset({own, node}) not in self.links:
                    self.connect(own, node)

    def connect(self, own: str, node: str) -> None:
        """Connect from the greater address to the smaller one, if that lists it too."""
        attempts = self.running[own].attempts
        if self.now - attempts.get(node, -RETRY_TICKS) < RETRY_TICKS:
            return
        attempts[node] = self.now
        if self.reaches(own, node) and node in self.running and own in self.running[node].others:
            self.links[frozenset({own, node})] = {own: self.now, node: self.now}
            self.running[own].linked.add(node)
            self.running[node].linked.add(own)

    # -- time

    def tick(self, count: int = 1) -> None:
        for _ in range(count):
            self.now += 1
            self.update_links()
            self.deliver()
            for own in sorted(self.running):
                self.running[own].tick(self.now)
            self.sync_those_due()

    def sync_those_due(self) -> None:
        """Sync what is to be synced in this tick; what was sent in it arrives in the next one."""
        if self.is_durable:
            self.sync()
        for number, own in enumerate(sorted(self.disks) if self.sync_ticks else ()):
            apart = number * self.sync_ticks // len(self.disks) if self.is_apart else 0
            if (self.now - apart) % self.sync_ticks == 0:
                self.sync(own)

    def deliver(self) -> None:
        arriving, self.sent = self.sent, []
        for sender, receiver, message in arriving:
            pair = frozenset({sender, receiver})
            if pair in self.links and pair not in self.cut:
                self.links[pair][receiver] = self.now
                self.running[receiver].now = self.now
                self.running[receiver].on_message(sender, message)

    def tick_until(self, condition: Callable[[], bool], what: str, limit: int = 600) -> None:
        for _ in range(limit):
            if condition():
                return
            self.tick()
        raise AssertionError(f"seed {self.seed}: waited {limit} ticks for {what}")

    # -- what an observer reads

    def status(self, own: str) -> RaftStatus:
        node = self.running[own]
        return RaftStatus(
            has_quorum=node.has_quorum,
            leader=node.leader,
            term=node.term,
            reachable=frozenset(node.others & node.linked),
            unreachable=frozenset(node.others - node.linked),
        )

    def is_settled(self, *nodes: str) -> bool:
        """Return True if these nodes, and no other, list each other, have one leader and term, are
        all linked, and have applied everything."""
        found = [self.running[own] for own in nodes if own in self.running]
        ends = {(n.leader, n.term, n.end.index, n.committed, n.applied) for n in found}
        return (
            len(found) == len(nodes)
            and all(node.voters == set(nodes) and node.linked == node.others for node in found)
            and len(ends) == 1
            and all(leader and end == done == applied for leader, _, end, done, applied in ends)
        )

    def leader(self, *nodes: str) -> str:
        """Return the node of these that leads in the highest term, empty if none does."""
        leading = [n for own in nodes if (n := self.running.get(own)) and n.leader == own]
        return max(leading, key=lambda node: node.term).own if leading else ""
