"""One running Raft node as pysyncobj 0.3.17 has it: elections, messages, requests, time limits.

The order within a tick and the conditions are those of ``SyncObj._onTick`` and its callbacks, with
their faults: nothing guards against two changes of the members, and a leader without a quorum goes
on for 30 s. Invariant: a node acts on its own files, its own list and what it was sent, never on
the truth.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from enum import Enum

from tests.fakes.raft_disk import NO_OP, Command, Entry, Files, Verb
from tests.fakes.raft_messages import (
    Append,
    Forwarded,
    ForwardedAnswer,
    Message,
    NextIndex,
    Remote,
    Request,
    TimeoutNow,
    Vote,
    VoteRequest,
)
from tests.fakes.raft_state import RaftState

TICKS_A_SECOND = 10
ELECTION_TICKS = (4, 14)
FALLBACK_TICKS = 300
"""A leader without answers of a majority stays one for 30 s."""


class Role(Enum):
    FOLLOWER = "follower"
    CANDIDATE = "candidate"
    LEADER = "leader"


class RaftNode(RaftState):
    """A process. ``send`` drops a message to a node that it has no connection to."""

    def __init__(
        self,
        own: str,
        others: set[str],
        *,
        files: Files,
        send: Callable[[str, Message], None],
        rng: random.Random,
        now: int,
    ) -> None:
        super().__init__(own, others, files, now)
        self.send, self.rng, self.started_at = send, rng, now
        self.role, self.leader, self.votes, self.first_of_term = Role.FOLLOWER, "", 0, 0
        self.is_transferring = self.has_loaded = False
        self.queue: list[tuple[Command, Request | Remote]] = []
        self.forwarded: dict[int, Request] = {}
        self.numbers = 0
        self.wait_for_election()

    # -- its tick

    def tick(self, now: int) -> None:
        self.now = now
        if not self.has_loaded:
            self.has_loaded = True
            self.load(self.files.dump, clear=False)
        if (now - self.started_at) % TICKS_A_SECOND == 0:
            self.files.committed = self.committed
        if (
            self.role is not Role.LEADER
            and now > self.deadline
            and (self.linked or not self.others)
        ):
            self.stand()
        if self.role is Role.LEADER:
            self.commit()
            answering = sum(self.heard[node] > now - FALLBACK_TICKS for node in self.others)
            if not self.is_majority(1 + answering):
                self.role, self.leader = Role.FOLLOWER, ""
        self.apply()
        if self.role is Role.LEADER:
            self.append_everywhere()
        self.take_commands()

    def wait_for_election(self) -> None:
        self.deadline = self.now + self.rng.randint(*ELECTION_TICKS)

    def stand(self) -> None:
        self.wait_for_election()
        self.is_transferring = False
        self.role, self.leader, self.votes = Role.CANDIDATE, "", 1
        self.set_term(self.term + 1, self.own)
        for node in sorted(self.others):
            self.send(node, VoteRequest(self.term, self.end.position))
        self.lose_leader()
        if self.is_majority(self.votes):
            self.lead()

    def lead(self) -> None:
        self.role, self.leader = Role.LEADER, self.own
        self.heard = dict.fromkeys(self.others, self.now)
        self.next |= dict.fromkeys(self.others, self.end.index + 1)
        self.matched |= dict.fromkeys(self.others, 0)
        self.log.append(Entry(self.end.index + 1, self.term, NO_OP))
        self.first_of_term = self.end.index
        self.append_everywhere()

    def lose_leader(self) -> None:
        for request in self.forwarded.values():
            request.answer(succeeded=False)
        self.forwarded.clear()

    def append_everywhere(self) -> None:
        for node in sorted(self.others & self.linked):
            behind = self.entry(self.next[node] - 1)
            if self.next[node] > self.log[0].index and behind is not None:
                entries = tuple(e for e in self.log if e.index > behind.index)
                previous = (behind.index, behind.term)
                self.next[node] = self.end.index + 1
                self.send(node, Append(self.term, self.committed, previous, entries))
            else:
                self.send(node, Append(self.term, self.committed, dump=self.files.dump))
                if self.files.dump is not None:
                    self.next[node] = self.log[1].index + 1

    # -- commands

    def take_commands(self) -> None:
        taken, self.queue = self.queue, []
        for command, asked in taken:
            if self.role is Role.LEADER:
                self.take(command, asked)
            elif not self.leader or isinstance(asked, Remote):
                self.refuse(asked)
            else:
                self.numbers += 1
                self.forwarded[self.numbers] = asked
                self.send(self.leader, Forwarded(command, self.numbers))

    def take(self, command: Command, asked: Request | Remote) -> None:
        """Append a command as the leader. Only the no-op of its term must be applied before; the
        library's guard against a second change of the members is never armed."""
        if command.changes_members and (
            self.applied < self.first_of_term or not self.change(command)
        ):
            self.refuse(asked)
            return
        self.log.append(Entry(self.end.index + 1, self.term, command))
        if isinstance(asked, Remote):
            appended = (self.end.index, self.term)
            self.send(asked.follower, ForwardedAnswer(asked.number, appended))
        else:
            self.uncommitted.setdefault(self.end.index, []).append((self.term, asked))
        self.append_everywhere()

    def refuse(self, asked: Request | Remote) -> None:
        if isinstance(asked, Remote):
            self.send(asked.follower, ForwardedAnswer(asked.number, None))
        else:
            asked.answer(succeeded=False)

    # -- requests on its socket

    def asked_to_put(self, value: str) -> Request:
        return self.enqueue(Command(Verb.PUT, value))

    def asked_to_add(self, voter: str) -> Request:
        return self.enqueue(Command(Verb.ADD, voter))

    def asked_to_remove(self, voter: str) -> Request:
        return Request(False) if voter == self.own else self.enqueue(Command(Verb.REMOVE, voter))

    def asked_to_transfer(self, voter: str) -> Request:
        is_possible = voter in self.others and self.matched.get(voter) == self.end.index
        if self.role is not Role.LEADER or not is_possible:
            return Request(False)
        self.send(voter, TimeoutNow(self.term))
        return Request(True)

    def enqueue(self, command: Command) -> Request:
        asked = Request()
        self.queue.append((command, asked))
        return asked

    # -- messages

    def on_message(self, sender: str, message: Message) -> None:
        match message:
            case VoteRequest():
                self.on_vote_request(sender, message)
            case Vote(term) if self.role is Role.CANDIDATE and term == self.term:
                self.votes += 1
                if self.is_majority(self.votes):
                    self.lead()
            case Append(term) if term >= self.term:
                self.on_append(sender, message)
            case NextIndex() if self.role is Role.LEADER and sender in self.others:
                self.on_next_index(sender, message)
            case TimeoutNow(term) if term >= self.term and sender == self.leader:
                self.deadline, self.is_transferring = 0, True
            case Forwarded(command, number):
                self.queue.append((command, Remote(sender, number)))
            case ForwardedAnswer(number, appended) if number in self.forwarded:
                asked = self.forwarded.pop(number)
                if appended is None or appended[0] <= self.applied:
                    asked.answer(succeeded=False)
                else:
                    self.uncommitted.setdefault(appended[0], []).append((appended[1], asked))

    def on_vote_request(self, sender: str, message: VoteRequest) -> None:
        if message.term > self.term:
            self.set_term(message.term, "")
            self.role, self.leader = Role.FOLLOWER, ""
        if (
            self.role is not Role.LEADER
            and message.term >= self.term
            and message.end >= self.end.position
            and not self.files.voted_for
        ):
            self.set_term(self.term, sender)
            self.wait_for_election()
            self.send(sender, Vote(message.term))

    def on_append(self, sender: str, message: Append) -> None:
        if message.term > self.term:
            self.is_transferring = False
        if not self.is_transferring:
            self.wait_for_election()
        if self.leader != sender:
            self.lose_leader()
        self.leader, self.role = sender, Role.FOLLOWER
        if message.term > self.term:
            self.set_term(message.term, "")
        if message.previous != (0, 0):
            if not self.replace_entries(sender, message):
                return
        elif message.dump is not None:
            self.files.dump = message.dump
            self.load(message.dump, clear=True)
            self.send(sender, NextIndex(self.end.index + 1, success=True))
        known = min(message.committed, self.end.index)
        self.committed = max(min(self.committed, self.end.index), known)

    def replace_entries(self, sender: str, message: Append) -> bool:
        index, term = message.previous
        behind = self.entry(index)
        if behind is None:
            self.send(sender, NextIndex(self.end.index + 1, reset=True))
            return False
        if behind.term != term:
            self.send(sender, NextIndex(index, reset=True))
            return False
        for entry in [e for e in reversed(self.log) if e.index > index]:
            self.change(entry.command, reverse=True)
        self.log[:] = [e for e in self.log if e.index <= index] + list(message.entries)
        for entry in message.entries:
            self.change(entry.command)
        self.send(sender, NextIndex(self.end.index + 1, success=True))
        return True

    def on_next_index(self, sender: str, message: NextIndex) -> None:
        if message.reset:
            self.next[sender] = message.index
        if message.success and self.matched[sender] < message.index - 1:
            self.matched[sender], self.next[sender] = message.index - 1, message.index
        self.heard[sender] = self.now
