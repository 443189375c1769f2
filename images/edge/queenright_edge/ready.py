"""Decides which replicas get requests, from what DNS lists and what each says of itself.

Invariants: nobody gets requests before it has said that it is ready; what is not known changes
nothing. A replica that leaves DNS is dropped at once: swarm takes it out about two seconds before
it is told to stop, so that no request has to meet a closed door.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum

SILENT_MOST = 2
"""Unanswered questions in a row after which a replica counts as down."""


class Answer(Enum):
    """The result of asking a replica's readiness."""

    READY = "ready"
    NOT_READY = "not ready"
    REFUSED = "refused"
    SILENT = "silent"


class State(Enum):
    """The state in which a replica is known to be."""

    UNASKED = "unasked"
    READY = "ready"
    ALIVE = "alive, not ready"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class Replica:
    """A replica's state, and for how many questions it has been silent."""

    state: State = State.UNASKED
    silent: int = 0


def listed_now(known: Mapping[str, Replica], listed: Collection[str] | None) -> frozenset[str]:
    """The addresses that count: those that DNS lists. An empty or missing list is no news, as
    overlay DNS can lose a name for a while: then those that were known."""
    return frozenset(listed) if listed else frozenset(known)


def judged(
    known: Mapping[str, Replica], addresses: Collection[str], answers: Mapping[str, Answer]
) -> dict[str, Replica]:
    """Return each address's replica as it is known after these answers."""
    return {
        address: _after(known.get(address, Replica()), answers.get(address))
        for address in sorted(addresses)
    }


def _after(replica: Replica, answer: Answer | None) -> Replica:
    match answer:
        case Answer.READY:
            return Replica(State.READY)
        case Answer.NOT_READY:
            return Replica(State.ALIVE)
        case Answer.REFUSED:
            return Replica(State.DOWN)
        case Answer.SILENT if replica.silent + 1 >= SILENT_MOST:
            return Replica(State.DOWN, replica.silent + 1)
        case Answer.SILENT:
            return Replica(replica.state, replica.silent + 1)
        case None:
            return replica


def serving(replicas: Mapping[str, Replica]) -> tuple[str, ...]:
    """Return those that get requests: the ready ones. Where nobody is ready, those that are alive,
    as they can still say what is wrong; where nobody is, one that is down, so that requests wait
    for it a while instead of failing at once. Never one that has not been asked."""
    for state in (State.READY, State.ALIVE):
        if found := [a for a, replica in sorted(replicas.items()) if replica.state is state]:
            return tuple(found)
    return tuple(a for a, replica in sorted(replicas.items()) if replica.state is State.DOWN)[:1]
