"""Values of synchronous replication: Patroni's key in Raft, PostgreSQL's names, and commits."""

from __future__ import annotations

from dataclasses import dataclass

ANYBODY = frozenset({"*"})


@dataclass(frozen=True)
class SyncKey:
    """``members`` beside the ``leader`` may lead next; ``quorum`` is how many votes that takes."""

    leader: str = ""
    members: frozenset[str] = frozenset()
    quorum: int = 0

    def matches(self, name: str) -> bool:
        """Return True if Patroni lets this member race for the lock."""
        return bool(self.leader) and name in self.members | {self.leader}


@dataclass(frozen=True)
class Names:
    """PostgreSQL's ``synchronous_standby_names``: ``count`` of these replicas confirm a commit, and
    none at all where it is 0. ``since`` is the primary's WAL position when they were named."""

    count: int = 0
    names: frozenset[str] = frozenset()
    since: int = 0


@dataclass(frozen=True)
class Acknowledged:
    """The furthest commit that clients know of."""

    timeline: int
    location: int
    leader: str
    mode: str


NO_KEY, NO_NAMES = SyncKey(), Names()
