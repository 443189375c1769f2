"""Messages between the Raft nodes of the model, and a person's or an operator's requests to one."""

from __future__ import annotations

from dataclasses import dataclass

from tests.fakes.raft_disk import Command, Dump, Entry


@dataclass(frozen=True)
class VoteRequest:
    """A candidate asks for a vote; ``end`` is the term and index of its last entry."""

    term: int
    end: tuple[int, int]


@dataclass(frozen=True)
class Vote:
    """A vote that is granted; a refusal is silence."""

    term: int


@dataclass(frozen=True)
class Append:
    """The leader's entries behind ``previous`` (index and term), or its dump; its heartbeat too."""

    term: int
    committed: int
    previous: tuple[int, int] = (0, 0)
    entries: tuple[Entry, ...] = ()
    dump: Dump | None = None


@dataclass(frozen=True)
class NextIndex:
    """A follower's answer: the entry that it wants next."""

    index: int
    reset: bool = False
    success: bool = False


@dataclass(frozen=True)
class TimeoutNow:
    """The leader asks this follower to stand for election at once."""

    term: int


@dataclass(frozen=True)
class Forwarded:
    """A command for the leader, from the follower that was asked."""

    command: Command
    number: int


@dataclass(frozen=True)
class ForwardedAnswer:
    """The leader's answer: the entry that it appended (index and term), or None if refused."""

    number: int
    appended: tuple[int, int] | None


Message = VoteRequest | Vote | Append | NextIndex | TimeoutNow | Forwarded | ForwardedAnswer


@dataclass(eq=False)
class Request:
    """A request on a node's socket. ``succeeded`` is None while there is no answer, and for ever if
    the node ends before it answers."""

    succeeded: bool | None = None

    def answer(self, succeeded: bool) -> None:
        if self.succeeded is None:
            self.succeeded = succeeded


@dataclass(frozen=True)
class Remote:
    """A forwarded request, as the leader keeps it: answered by a message."""

    follower: str
    number: int
