"""A Raft node's list of voters, its log and its place in it, without messages and time limits.

A change of the members takes effect when it is appended, and once more when it is applied: that is
what real nodes do, and what makes two changes in flight dangerous. Invariant: the files are changed
with the memory, but for ``committed``, which the node writes once a second.
"""

from __future__ import annotations

from tests.fakes.raft_disk import NO_OP, Command, Dump, Entry, Files, Verb
from tests.fakes.raft_messages import Request


class RaftState:
    """The part of a node that its own entries decide.

    ``others`` are the voters that it lists beside itself, ``linked`` the nodes that it has a
    connection to, ``attempts`` the tick of the last attempt to connect to each of them; ``next``,
    ``matched`` and ``heard`` (the tick of the last answer) are the leader's knowledge of them.
    """

    def __init__(self, own: str, others: set[str], files: Files, now: int) -> None:
        self.own, self.others, self.files, self.now = own, others, files, now
        self.linked: set[str] = set()
        self.attempts: dict[str, int] = {}
        if not self.log:
            self.log.append(Entry(1, 0, NO_OP))
        self.committed, self.applied = files.committed, 1
        self.values: list[str] = []
        self.next: dict[str, int] = {}
        self.matched: dict[str, int] = {}
        self.heard: dict[str, int] = {}
        self.uncommitted: dict[int, list[tuple[int, Request]]] = {}
        self.set_term(max(files.term, self.end.term), files.voted_for)

    @property
    def log(self) -> list[Entry]:
        return self.files.journal

    @property
    def end(self) -> Entry:
        return self.log[-1]

    @property
    def term(self) -> int:
        return self.files.term

    @property
    def voters(self) -> frozenset[str]:
        return frozenset(self.others | {self.own})

    def is_majority(self, count: int) -> bool:
        """Return True if ``count`` nodes, this one among them, are one of the present list."""
        return count * 2 > len(self.others) + 1

    @property
    def has_quorum(self) -> bool:
        return self.is_majority(1 + len(self.others & self.linked))

    def entry(self, index: int) -> Entry | None:
        at = index - self.log[0].index
        return self.log[at] if 0 <= at < len(self.log) else None

    def set_term(self, term: int, voted_for: str) -> None:
        self.files.term, self.files.voted_for = term, voted_for
        self.files.committed = self.committed

    def commit(self) -> None:
        """Commit what a majority of the *present* list has, if it is of this term."""
        found = self.committed
        for index in range(self.committed + 1, self.end.index + 1):
            if not self.is_majority(1 + sum(self.matched[n] >= index for n in self.others)):
                break
            entry = self.entry(index)
            if entry is not None and entry.term == self.term:
                found = index
        self.committed = found

    def apply(self) -> None:
        while self.applied < self.committed and (entry := self.entry(self.applied + 1)):
            waiting = self.uncommitted.pop(entry.index, [])
            self.change(entry.command)
            if entry.command.verb is Verb.PUT:
                self.values.append(entry.command.subject)
            for term, request in waiting:
                request.answer(succeeded=term == entry.term)
            self.applied += 1

    def change(self, command: Command, *, reverse: bool = False) -> bool:
        """Change the own list; False if that changes nothing. A node never removes itself."""
        node = command.subject
        if not command.changes_members or node == self.own:
            return False
        if (command.verb is Verb.ADD) != reverse:
            if node in self.others:
                return False
            self.others.add(node)
            self.next[node], self.matched[node] = self.end.index + 1, 0
            self.heard[node] = self.now
        else:
            if node not in self.others:
                return False
            self.others.discard(node)
            self.attempts.pop(node, None)
        return True

    def compact(self) -> None:
        """Write a dump and empty the journal, as after 300 s or 5000 entries."""
        before, last = self.entry(self.applied - 1), self.entry(self.applied)
        if before is not None and last is not None:
            self.files.dump = Dump(before, last, self.voters, tuple(self.values))
            self.files.journal = [entry for entry in self.log if entry.index >= before.index]

    def load(self, dump: Dump | None, *, clear: bool) -> None:
        if dump is None:
            return
        self.values = list(dump.values)
        if clear or self.log[:2] != [dump.before, dump.last]:
            self.files.journal = [dump.before, dump.last]
        self.applied = dump.last.index
        self.committed = min(self.committed, self.end.index)
        for node in dump.voters - self.voters:
            self.next[node], self.matched[node] = self.end.index + 1, 0
        self.others = set(dump.voters - {self.own})
