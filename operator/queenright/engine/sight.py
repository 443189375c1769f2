"""The state of all documents for the page: what the last pass saw, on demand.

Invariants: nothing outside is asked, and nothing can be changed from here; a pass leaves only a
reference here, and each lag once a minute; statuses are made at most once a second, while somebody
looks, and between two documents the event loop runs what else is due.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import anyio
import structlog
from anyio.lowlevel import checkpoint

from queenright.core.audit.reading import Record
from queenright.core.kinds.registry import KINDS, needed_by
from queenright.core.observed import Observed, Unknown
from queenright.core.page.values import Basis, Detail, Entry
from queenright.core.planning.conditions import condition
from queenright.core.planning.faults import DocumentKey
from queenright.core.planning.picture import Place, places
from queenright.core.planning.plan import Refusal
from queenright.core.planning.status import Lines, Status
from queenright.engine.lag_memory import LagMemory
from queenright.engine.planning import PlannedObject, PlannedPass, status_of
from queenright.engine.trail_memory import TrailMemory
from queenright.ports.clock import Clock

log = structlog.get_logger()

FRESH_S = 1.0
"""Entries this young serve for the next pass too: passes may follow each other within a second."""
NO_FILE = "The operator waits for a first valid file; queenright validate names the mistakes"


@dataclass(frozen=True, slots=True)
class Passed:
    """The last pass. ``refused`` are guards' refusals by the document's name."""

    survey: PlannedPass
    refused: Mapping[str, Refusal]
    at: datetime
    at_s: float


@dataclass(slots=True)
class Seen:
    """The entries of one pass, by the document, and when they were made."""

    passed: Passed
    at_s: float
    entries: dict[DocumentKey, Entry] = field(default_factory=dict)


class Sight:
    """Holds the last pass for whoever looks."""

    def __init__(self, clock: Clock, trail: TrailMemory | None = None) -> None:
        self.trail = trail or TrailMemory()
        self.version = 0
        self._clock = clock
        self._lags = LagMemory()
        self._passed: Passed | None = None
        self._problems: tuple[str, ...] = ()
        self._waits = ""
        self._seen: Seen | None = None
        self._making = anyio.Lock()
        self._news = anyio.Event()

    def note(
        self, survey: PlannedPass, refused: Mapping[str, Refusal], problems: Sequence[object]
    ) -> None:
        """Take the end of a pass. A fault here is logged and never reaches the pass."""
        try:
            now_s = self._clock.monotonic_s()
            self._passed = Passed(survey, dict(refused), self._clock.now(), now_s)
            self._problems, self._waits = tuple(map(str, problems)), ""
            self._lags.note(survey.observed, now_s)
        except Exception:
            log.exception("page", doing="noting a pass")
        self.tell()

    def wait_for_file(self, problems: Sequence[object]) -> None:
        """Take that there is no valid file yet."""
        self._problems, self._waits = tuple(map(str, problems)), NO_FILE
        self.tell()

    def take(self, record: Record) -> None:
        """Take a record of the trail. A fault here never reaches who writes the trail."""
        try:
            self.trail.note(record)
        except Exception:
            log.exception("page", doing="noting a record")
        self.tell()

    def tell(self) -> None:
        """Wake whoever waits for news."""
        self.version += 1
        news, self._news = self._news, anyio.Event()
        news.set()

    async def changed(self, version: int) -> int:
        """Wait until there is news after ``version``."""
        while self.version == version:
            await self._news.wait()
        return self.version

    def basis(self) -> Basis:
        passed = self._passed
        if passed is None:
            return Basis(waits=self._waits, problems=self._problems)
        swarm = passed.survey.observed.swarm
        return Basis(
            at=passed.at,
            age_s=self._clock.monotonic_s() - passed.at_s,
            waits=self._waits,
            problems=self._problems,
            blind=swarm.why if isinstance(swarm, Unknown) else "",
        )

    async def entries(self) -> Mapping[DocumentKey, Entry]:
        """Return the entries of all documents as the last pass saw them."""
        passed = self._passed
        if passed is None:
            return {}
        async with self._making:
            if self._seen is None or self._is_old(self._seen, passed):
                made = Seen(passed, self._clock.monotonic_s())
                for view in passed.survey.views:
                    status = status_of(view, passed.survey.observed, passed.at)
                    made.entries[view.key] = entry_of(view, status, passed.refused.get(view.name))
                    await checkpoint()
                self._seen = made
            return self._seen.entries

    def _is_old(self, seen: Seen, passed: Passed) -> bool:
        now_s = self._clock.monotonic_s()
        return seen.passed is not passed and now_s - seen.at_s >= FRESH_S

    async def detail(self, plural: str, name: str) -> Detail | None:
        """Return one document; None if the last pass knows no such one."""
        entries, passed = await self.entries(), self._passed
        if passed is None:
            return None
        for view in passed.survey.views:
            kind = KINDS[view.key.kind]
            if (kind.plural, view.name) == (plural, name) and view.key in entries:
                return self._detail(view, passed, entries)
        return None

    def _detail(
        self, view: PlannedObject[Any], passed: Passed, entries: Mapping[DocumentKey, Entry]
    ) -> Detail:
        observed = passed.survey.observed
        status = status_of(view, observed, passed.at)
        needed = needed_by(view.document) if view.document else None
        carried = [
            entries[other.key]
            for other in passed.survey.views
            if other.document is not None
            and needed_by(other.document) == view.key
            and other.key in entries
        ]
        shown = places_of(view, observed)
        services = [part.service for place in shown for part in place.parts if part.service]
        return Detail(
            entry_of(view, status, passed.refused.get(view.name)),
            view.plan,
            tuple(
                line for block in status.blocks if isinstance(block, Lines) for line in block.lines
            ),
            view.plan.notes,
            shown,
            self.trail.running(view.name),
            entries.get(needed) if needed else None,
            tuple(carried),
            {service: self._lags.of(service) for service in services},
            self.trail.records(view.name),
            self.trail.leaders(view.name),
        )


def entry_of(view: PlannedObject[Any], status: Status, refusal: Refusal | None) -> Entry:
    kind = KINDS[view.key.kind]
    return Entry(
        kind.noun,
        kind.plural,
        view.name,
        condition(status, refusal),
        status.summary,
        status.plan.held,
        status.remarks,
        refusal.reason if refusal else "",
    )


def places_of(view: PlannedObject[Any], observed: Observed) -> tuple[Place, ...]:
    """Return the parts on their nodes; nothing if the operator itself fails at them, which the
    status then says."""
    if view.desired is None or isinstance(observed.swarm, Unknown):
        return ()
    swarm = observed.swarm.value
    try:
        parts = tuple(KINDS[view.key.kind].parts(view.desired, observed, swarm))
    except Exception as error:  # noqa: BLE001  # the rest of the document is shown
        log.warning("page", doing=f"drawing {view.key}", error=type(error).__name__)
        return ()
    names = {part.node for part in parts}
    return places(parts, {name: node for name in names if (node := swarm.node(name))})
