"""The lease: which of several operators acts, and when another one may begin.

Pure: decides from the lease as the managers have it, and from ages by the operator's own monotonic
clock. An operator whose node leads the managers' Raft offers the lease: if that node is lost, the
managers write nothing until they have elected another leader, which takes them 10 s and more.
Invariant: an operator stops ``LEASE_S`` after it sent its last successful renewal; another
one begins ``WAIT_S`` after it first saw that renewal, or when the former one has provably ended. No
times of two machines are compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum

LEASE_CONFIG = "queenright_lease"
"""The swarm config whose labels are the lease."""
LEASE_TEXT = b"The labels of this config name the operator that acts: docs/guide.md.\n"
LABEL = "queenright.lease."

RENEW_S = 2.0
LEASE_S = 5.5
MARGIN_S = 1.5
WAIT_S = LEASE_S + MARGIN_S
LOOK_S = 0.25
"""The time between two looks of an operator that stands by."""
PLACE_LOOK_S = 10.0
"""The time between two looks of an operator at who leads the managers' Raft."""
OFFER_AFTER_S = 30.0
"""The time for which an operator acts, and its node leads Raft, before it offers the lease: whoever
begins to act begins its waits anew."""
KEPT_S = 2.0
"""The time for which a lease that was given up is kept for the operator that asked for it."""
OFFERED = "yes"


@dataclass(frozen=True, slots=True)
class Lease:
    """The operator that acts, as the labels say. All fields are text; "" where it is unknown.

    ``process`` is different for each start of an operator, and empty where the lease was given up.
    ``kernel`` is a digest of the machine's boot; in it ``birth`` is the process (PID namespace,
    PID, start time), and ``lock`` the file that it keeps locked. ``chain`` is the end of its audit
    trail when it renewed the lease: name, number and hash of the last record."""

    process: str = ""
    host: str = ""
    kernel: str = ""
    birth: str = ""
    lock: str = ""
    chain: str = ""
    term: str = "0"
    """The number of times that the lease has been taken."""
    offered: str = ""
    """``OFFERED`` while the holder would rather have another operator act."""
    wanted: str = ""
    """The process that asks for the offered lease, and then has it kept."""

    @property
    def next_term(self) -> str:
        return str(int(self.term) + 1 if self.term.isascii() and self.term.isdecimal() else 1)


@dataclass(frozen=True, slots=True)
class StoredLease:
    """The lease in the swarm: ``config_id`` and ``version`` are different after every write.
    ``written_at`` is the manager's time, for people alone."""

    config_id: str
    version: int
    lease: Lease
    written_at: str = ""

    @property
    def write(self) -> tuple[str, int]:
        return self.config_id, self.version


class Step(Enum):
    """The next thing that an operator does about the lease."""

    ACT = "act"
    RENEW = "renew"
    TAKE = "take"
    STAND_BY = "stand by"
    ASK = "ask"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class Ages:
    """Seconds by the operator's own monotonic clock.

    ``renewed_s``: since before it sent its last successful renewal; None if it has no lease.
    ``unchanged_s``: since it first had this very version (or the lease's absence) before it."""

    renewed_s: float | None
    unchanged_s: float


def decide(
    seen: StoredLease | None,
    own: Lease,
    ages: Ages,
    *,
    is_first_look: bool = False,
    has_ended: bool = False,
    renew_s: float = RENEW_S,
    may_ask: bool = False,
) -> Step:
    """Return the next step, after the lease has been read; None if the swarm has none.

    ``is_first_look``: this process has never seen a lease, nor its absence, before.
    ``has_ended``: the holder is provably no running process any more.
    ``may_ask``: this operator may have a lease that is offered."""
    if seen is None:
        may_create = is_first_look or may_act(ages.renewed_s) or ages.unchanged_s >= WAIT_S
        return Step.TAKE if may_create else Step.STAND_BY
    if seen.lease.process == own.process:
        is_due = ages.renewed_s is None or ages.renewed_s >= renew_s
        return Step.RENEW if is_due else Step.ACT
    if ages.renewed_s is not None:
        return Step.STOP
    is_kept = seen.lease.wanted not in ("", own.process) and ages.unchanged_s < KEPT_S
    is_free = has_ended or (not seen.lease.process and not is_kept)
    if is_free or ages.unchanged_s >= WAIT_S:
        return Step.TAKE
    is_open = seen.lease.offered == OFFERED and not seen.lease.wanted
    # a silent holder may be gone: the others count from the version, which a request changes
    is_renewed = ages.unchanged_s < RENEW_S
    return Step.ASK if may_ask and is_open and is_renewed else Step.STAND_BY


def offers(leads_s: float | None, acts_s: float | None) -> bool:
    """Return True if an operator offers its lease, by how long its node has led the managers' Raft,
    and how long it has acted; None where it does not."""
    return min(leads_s or 0.0, acts_s or 0.0) >= OFFER_AFTER_S


def may_act(renewed_s: float | None) -> bool:
    """Return True while an operator acts, by the age of its last successful renewal."""
    return renewed_s is not None and 0 <= renewed_s < LEASE_S


def shares_lock(own: Lease, other: Lease) -> bool:
    """Return True if the holder kept the file locked that this operator has locked now: it has
    ended, because one running kernel gives a file's lock to one process."""
    has_both = bool(own.lock and own.kernel)
    return has_both and (own.lock, own.kernel) == (other.lock, other.kernel)


def labels_of(lease: Lease) -> dict[str, str]:
    return {LABEL + field.name: getattr(lease, field.name) for field in fields(lease)}


def lease_of(labels: Mapping[str, str]) -> Lease:
    """Return the lease in a config's labels; a missing one is empty."""
    found = {field.name: labels.get(LABEL + field.name, "") for field in fields(Lease)}
    return Lease(**found)
