"""Lists of voters in the simulated world: each node's own, with the log of their changes.

A coarser model than ``raft_nodes``, for worlds of many members and hours: what nodes that reach
each other exchange is exchanged at once. Its rules are the same ones: a change counts from the
moment at which the leader takes it, nothing guards against two of them, a node that starts takes
the first partner's answer for its list and adds itself if it is not in it. Invariant: a node acts
on its own files, its own list and what others sent it.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tests.fakes.reachability import Reachability

SYNC_S = 2.0
"""The member image syncs Raft's files this often; what is younger is lost with the power."""
DUMP_S = 300.0


@dataclass(frozen=True)
class Change:
    """An entry of the log that changes the voters."""

    verb: Literal["add", "rem"]
    voter: str
    term: int


@dataclass
class Files:
    """A node's files. ``dump`` has the list at that length of the log; ``last_term`` is the term of
    the log's last entry, which need not be a change."""

    log: list[Change] = field(default_factory=list)
    committed: int = 0
    last_term: int = 0
    dump: frozenset[str] | None = None
    dump_at: int = 0
    synced: list[Change] = field(default_factory=list)
    synced_s: float = 0.0

    @property
    def end(self) -> tuple[int, int]:
        return self.last_term, len(self.log)

    def lose_unsynced(self) -> None:
        """A power cut: entries that were not on the disk are gone, committed or not."""
        if len(self.synced) < len(self.log):
            self.log = list(self.synced)
            self.committed = min(self.committed, len(self.log))
            self.last_term = self.log[-1].term if self.log else 0


@dataclass(eq=False)
class RaftNode:
    """One running node: its name, its place, its address, the partners that it was given, its files
    and its list (None until it has started)."""

    name: str
    node_id: str
    address: str
    partner_addresses: frozenset[str]
    files: Files = field(default_factory=Files)
    can_apply: bool = True
    syncs_s: float = SYNC_S
    voters: set[str] | None = None
    half_open: set[str] = field(default_factory=set)
    """The addresses of nodes that went silent, and with which it calls itself connected still."""

    @property
    def listed(self) -> set[str]:
        return self.voters or set()

    def knows(self, other: RaftNode) -> bool:
        """Return True if the two connect: each has to list the other."""
        if self is other:
            return True
        mine, theirs = self.voters, other.voters
        if not mine or not theirs:
            return False
        return other.address in mine and self.address in theirs

    def start(self, running: Iterable[RaftNode], reach: Reachability, rng: random.Random) -> str:
        """Take a list, as Patroni does; return the name of the node to ask for being added, if it
        is not in the list of the partner that answered."""
        answering = sorted(
            (
                other
                for other in running
                if other.voters is not None
                and other.address in self.partner_addresses
                and reach.linked(self.node_id, other.node_id)
            ),
            key=lambda other: other.address,
        )
        first = rng.choice(answering) if len(answering) > 1 else next(iter(answering), None)
        listed = first.listed if first is not None else self.partner_addresses
        files = self.files
        self.voters = set(listed if files.dump is None else files.dump) | {self.address}
        for change in files.log[files.dump_at : files.committed]:
            self.change(change)
        return first.name if first is not None and self.address not in first.listed else ""

    def change(self, change: Change, *, reverse: bool = False) -> None:
        """Change its own list; a node never removes itself."""
        if change.voter == self.address:
            return
        if (change.verb == "add") != reverse:
            self.listed.add(change.voter)
        else:
            self.listed.discard(change.voter)

    def follow(self, leader: RaftNode) -> None:
        """Have the leader's log instead of its own."""
        mine, theirs = self.files, leader.files
        if mine.log != theirs.log:
            same = common(mine.log, theirs.log)
            for change in reversed(mine.log[same:]):
                self.change(change, reverse=True)
            if theirs.dump is not None and same < theirs.dump_at:
                self.voters = set(theirs.dump) | {self.address}
                mine.dump, mine.dump_at, same = theirs.dump, theirs.dump_at, theirs.dump_at
            for change in theirs.log[same:]:
                self.change(change)
            mine.log = list(theirs.log)
            mine.dump_at = min(mine.dump_at, len(mine.log))
        mine.last_term = theirs.last_term
        mine.committed = theirs.committed

    def write(self, now_s: float) -> None:
        """Sync the files, and write a dump, when it is time to."""
        files = self.files
        if now_s - files.synced_s >= self.syncs_s:
            if len(files.synced) != len(files.log):
                files.synced = list(files.log)
            files.synced_s = now_s
        if files.committed > files.dump_at and now_s % DUMP_S < 1.0:
            files.dump, files.dump_at = frozenset(self.listed), files.committed


def common(one: Sequence[Change], other: Sequence[Change]) -> int:
    """Return the length of the beginning that two logs share."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))
