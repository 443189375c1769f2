"""Answers of the members: Patroni's status, its history of leaders, and its Raft node."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

DOWN_STATES = frozenset({"stopped", "start failed", "restart failed", "crashed", "unknown"})
"""Patroni's words for a PostgreSQL that does not run, or that nobody can connect to."""
FINDING_TAG, RESTORE_TAG = "queenright_finding", "queenright_restore"
NUMBER = re.compile("[0-9a-f]{12}")
BEGAN_TAG = "queenright_began"
"""The number of the loss after which a member's Raft log began anew, while it has nothing else."""
END_TAG, RAFT_LOG_LOST = "queenright_end", "raft-log-lost"
"""The end of the data of a member whose entry point waits, because its Raft log is lost."""


@dataclass(frozen=True, slots=True)
class RaftLoss:
    """A member's answer about its lost Raft log: the loss by its ``number``, the newest Raft
    ``term`` that it still knows (0 for none), and the end of its data. ``why`` says why that end is
    not known, and is empty where it is; without data all else is empty or 0."""

    number: str
    term: int = 0
    system: str = ""
    timeline: int = 0
    location: int = 0
    history: str = ""
    """A digest of the timeline's history file."""
    why: str = ""


@dataclass(frozen=True, slots=True)
class RemovedWal:
    """The WAL that a member's rewind removed, because the leader never had it: of ``timeline``,
    from ``begin`` to ``end`` in bytes, with so many ``commits``. The last two are None where the
    member did not read them in time. ``at`` is by the member's clock."""

    timeline: int
    begin: int
    end: int | None
    commits: int | None
    at: datetime


@dataclass(frozen=True, slots=True)
class MemberStatus:
    """A member's status from ``GET /patroni``, which answers 200 while Patroni runs.

    ``holds_lock`` is True if its ``/primary`` answered 200 in the same round: lock held *and*
    read-write (spec: §4.1). ``location`` is its WAL position in bytes, ``lag_bytes`` its distance
    from the leader's; None when either is not known.
    """

    state: str
    role: str
    timeline: int | None = None
    replication_state: str = ""
    holds_lock: bool = False
    location: int | None = None
    lag_bytes: int | None = None
    paused: bool = False
    pending_restart: bool = False
    pending_changes: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Patroni's ``pending_restart_reason``: present and future value by parameter."""
    cluster_unlocked: bool = False
    synchronous: Literal["", "sync", "quorum"] = ""
    """The replica's part in a commit, as Patroni's /sync key lists it; empty where it has none."""
    version: str = ""
    server_version: int = 0
    tags: Mapping[str, object] = field(default_factory=dict)
    scope: str = ""
    name: str = ""
    """The names of the cluster and of the member, as the one that answers has them."""
    removed: tuple[RemovedWal, ...] = ()
    """The last rewinds that removed commits, oldest first, as the member counted them."""

    @property
    def is_running(self) -> bool:
        return self.state in {"running", "streaming", "in archive recovery"}

    @property
    def is_empty(self) -> bool:
        """Return True for a member that has no data, and is not copying any at this moment."""
        return self.state == "stopped" and self.role == "uninitialized"

    @property
    def is_copying(self) -> bool:
        """Return True for a member that copies its data from another at this moment."""
        return self.state == "creating replica"

    @property
    def is_down(self) -> bool:
        """Return True for a member that has data, and whose PostgreSQL does not run."""
        return self.state in DOWN_STATES and not self.is_empty

    @property
    def is_unserving(self) -> bool:
        """Return True for a member that has data, or is to have it, and neither leads nor
        streams."""
        return not (self.is_well or self.is_empty or self.is_copying or self.paused)

    @property
    def finding(self) -> str:
        """The cause that the member's entry point found, as one word; empty where it found none."""
        found = self.tags.get(FINDING_TAG)
        return found if isinstance(found, str) else ""

    @property
    def raft_loss(self) -> RaftLoss | None:
        """The loss of its Raft log with which the member waits for the operator; None where it
        does not wait, or does not say with which."""
        found = self.tags.get(END_TAG)
        if self.finding != RAFT_LOG_LOST or not isinstance(found, Mapping):
            return None
        number, term = found.get("number"), found.get("term")
        if not isinstance(number, str) or not NUMBER.fullmatch(number) or type(term) is not int:
            return None
        system, history = found.get("system"), found.get("history")
        timeline, location = found.get("timeline"), found.get("location")
        is_whole = isinstance(system, str) and isinstance(history, str)
        if not is_whole or type(timeline) is not int or type(location) is not int:
            return RaftLoss(number, term, why=str(found.get("why") or "it does not say where"))
        return RaftLoss(number, term, str(system), timeline, location, str(history))

    @property
    def began(self) -> str:
        """The loss after which its Raft log began anew, by its number; empty where it has more than
        that beginning, or does not say so."""
        found = self.tags.get(BEGAN_TAG)
        return found if isinstance(found, str) else ""

    @property
    def failed_restore(self) -> str:
        """The reason why the member's last try to restore the cluster came to nothing; empty where
        it had none."""
        found = self.tags.get(RESTORE_TAG)
        return found if isinstance(found, str) else ""

    @property
    def is_leader(self) -> bool:
        """Return True for a working leader: its role and its lock both show it."""
        return self.holds_lock and self.role in {"primary", "master", "leader"}

    @property
    def is_streaming(self) -> bool:
        return self.is_running and not self.holds_lock and self.replication_state == "streaming"

    @property
    def is_well(self) -> bool:
        return self.is_leader or self.is_streaming


@dataclass(frozen=True, slots=True)
class TimelineEnd:
    """The end of a timeline in Patroni's history. ``location`` is the WAL position in bytes,
    ``reason`` is PostgreSQL's text, ``leader`` is the leader of the next timeline (empty, and
    ``at`` None, where Patroni did not record them)."""

    timeline: int
    location: int
    reason: str
    at: datetime | None = None
    leader: str = ""


@dataclass(frozen=True, slots=True)
class RaftStatus:
    """A Raft node's status: its quorum, and the nodes that it can reach (addresses with port).
    The Raft leader need not be the database's.

    ``has_quorum`` says only that it is connected to more than half of the nodes that it lists: a
    node that can't apply its log says so too, votes, and can lead; its Patroni then knows nothing.
    """

    has_quorum: bool
    leader: str = ""
    term: int = 0
    reachable: frozenset[str] = frozenset()
    unreachable: frozenset[str] = frozenset()
    address: str = ""
    """Its own, as the others list it."""
    state: Literal["follower", "candidate", "leader", ""] = ""
    commit_index: int = 0
    last_applied: int = 0
    log_length: int = 0
    """Entries in its journal; those before them are in its dump only."""
    uptime_s: int = 0
    match_index: Mapping[str, int] = field(default_factory=dict)
    """On the Raft leader, the last entry that each other node is known to have; empty elsewhere."""

    @property
    def has_log(self) -> bool:
        """Return True if it knows of anything that was committed: a node that begins with an empty
        journal counts one entry, which it has made itself."""
        return self.commit_index > 1

    @property
    def is_behind(self) -> bool:
        """Return True if it has not applied all that it knows to be committed."""
        return self.last_applied < self.commit_index

    @property
    def voters(self) -> frozenset[str]:
        """The nodes that it lists, itself among them."""
        return self.reachable | self.unreachable | {self.address}


def raft_hears(status: RaftStatus, voter: str) -> bool:
    """Return True if a Raft node hears this voter at present: it is led by it, or leads it. What a
    follower says of another one counts for nothing: they send each other nothing, and pysyncobj
    still calls itself connected with a node that has lost its power."""
    if not status.has_quorum:
        return False
    return status.leader == voter or (status.state == "leader" and voter in status.reachable)
