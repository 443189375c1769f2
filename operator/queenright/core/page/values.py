"""All that a page shows, as values: what the last pass knows, and the newest records of the trail.

Pure. Invariant: no value holds a secret: they are made of plans, statuses and records, which have
none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from queenright.core.planning.picture import Place
from queenright.core.planning.plan import Hold, Plan
from queenright.core.planning.status import Line


@dataclass(frozen=True, slots=True)
class Entry:
    """One document in the overview. ``plural`` and ``name`` are its address on the page;
    ``refusal`` is a guard's, empty where none refused its plan."""

    noun: str
    plural: str
    name: str
    condition: str
    summary: str
    holds: tuple[Hold, ...] = ()
    remarks: tuple[str, ...] = ()
    refusal: str = ""

    @property
    def word(self) -> str:
        """Return the first thing to know of it, the worst first; empty where there is none."""
        urgent = [hold.reason for hold in self.holds if hold.wants_attention]
        others = [hold.reason for hold in self.holds]
        return next(filter(None, (self.refusal, *urgent, *others, *self.remarks)), "")


@dataclass(frozen=True, slots=True)
class Basis:
    """The pass that a page rests on.

    ``at`` is None before the first pass; ``age_s`` are seconds since its end. ``waits`` says why
    there is nothing to see, ``problems`` are the faults of the files, ``blind`` is the reason why
    the swarm could not be read.
    """

    at: datetime | None = None
    age_s: float = 0.0
    waits: str = ""
    problems: tuple[str, ...] = ()
    blind: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """One line of the trail: its cells and its causes (see ``core.audit.lines``), and the
    document's name."""

    name: str
    cells: tuple[str, ...]
    causes: str = ""


@dataclass(frozen=True, slots=True)
class LeaderMove:
    """One change of leader that the trail has. ``before`` and ``leader`` are members.

    ``is_measured`` is True if the canary was asked; ``gap_ms`` is the time without a write in
    milliseconds, ``lost_rows`` the number of acknowledged rows that are gone: None where the canary
    could not tell.
    """

    at: str
    before: str
    leader: str
    timeline: int
    cause: str
    is_measured: bool
    gap_ms: int | None = None
    lost_rows: int | None = None


@dataclass(frozen=True, slots=True)
class Running:
    """An action that was begun and has no outcome yet."""

    key: str
    reason: str
    since: str


@dataclass(frozen=True, slots=True)
class Detail:
    """One document with all that belongs to it.

    ``lags`` has the lag in MB of each part's service, one value a minute, the newest last; None
    where it was not known. ``rests_on`` and ``carries`` are other documents: a database's cluster,
    and the applications on it. ``leaders`` are its changes of leader, the newest first.
    """

    entry: Entry
    plan: Plan
    lines: tuple[Line, ...] = ()
    notes: tuple[Hold, ...] = ()
    places: tuple[Place, ...] = ()
    running: tuple[Running, ...] = ()
    rests_on: Entry | None = None
    carries: tuple[Entry, ...] = ()
    lags: Mapping[str, tuple[int | None, ...]] | None = None
    records: tuple[Record, ...] = ()
    leaders: tuple[LeaderMove, ...] = ()
