"""The newest records of the trail in memory, for the page: overall, and a few of each document.

Invariants: no disk is read while the operator runs; what is kept is bounded, whatever is recorded.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable

from queenright.core.audit.lines import causes, cells, records_to_show
from queenright.core.audit.reading import Record as Raw
from queenright.core.audit.reading import part, text
from queenright.core.audit.record import shorten
from queenright.core.page.values import LeaderMove, Record, Running
from queenright.engine.leader_memory import LeaderMemory

MOST_RECORDS = 200
MOST_EACH = 25
MOST_NAMES = 4_000
LONGEST_CELL = 500
MOST_RUNNING = 1_000


class TrailMemory:
    """Takes each record as it is written."""

    def __init__(self) -> None:
        self._newest: deque[Record] = deque(maxlen=MOST_RECORDS)
        self._by_name: OrderedDict[str, deque[Record]] = OrderedDict()
        self._running: OrderedDict[tuple[str, str], Running] = OrderedDict()
        self._leaders = LeaderMemory()

    def preload(self, newest_first: Iterable[Raw]) -> None:
        """Take the records of earlier processes."""
        for record in reversed([*records_to_show(newest_first)]):
            self._keep(record)

    def note(self, record: Raw) -> None:
        """Take a record that was just written; one that the log only repeats is left out."""
        if record.get("repeated"):
            return
        phase, key = text(record, "phase"), text(part(record, "action"), "key")
        action = (text(record, "cluster"), key)
        if phase == "intent":
            begun = Running(key, text(record, "reason"), text(record, "at"))
            self._running[action] = begun
            if len(self._running) > MOST_RUNNING:
                self._running.popitem(last=False)
            return
        if phase == "outcome":
            self._running.pop(action, None)
        self._keep(record)

    def running(self, name: str) -> tuple[Running, ...]:
        """Return the actions on a document that were begun and have no outcome yet."""
        return tuple(begun for (owner, _), begun in self._running.items() if owner == name)

    def records(self, name: str = "") -> tuple[Record, ...]:
        """Return the newest records first, of one document if there is a name."""
        found = self._by_name.get(name, ()) if name else self._newest
        return tuple(reversed(found))

    def leaders(self, name: str) -> tuple[LeaderMove, ...]:
        """Return the newest changes of leader of a cluster, newest first."""
        return self._leaders.of(name)

    def _keep(self, record: Raw) -> None:
        self._leaders.note(record)
        line = tuple(shorten(cell, LONGEST_CELL) for cell in cells(record))
        behind = shorten(causes(record), LONGEST_CELL)
        kept = Record(text(record, "cluster"), line, behind)
        self._newest.append(kept)
        if not kept.name:
            return
        self._by_name.setdefault(kept.name, deque(maxlen=MOST_EACH)).append(kept)
        self._by_name.move_to_end(kept.name)
        if len(self._by_name) > MOST_NAMES:
            self._by_name.popitem(last=False)
