"""The log's lines `operator` and `state`: once a minute, for monitoring systems.

Invariants: nothing outside is asked; a line is about what the last pass saw, and says how old that
is; between two documents the event loop runs what else is due; no fault here reaches a pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import anyio
import structlog
from anyio.lowlevel import checkpoint

from queenright.core.kinds.registry import KINDS
from queenright.core.observed import Known
from queenright.core.planning.conditions import condition
from queenright.core.planning.plan import Refusal
from queenright.engine.lease import LeaseKeeper
from queenright.engine.planning import PlannedObject, PlannedPass, status_of
from queenright.ports.clock import Clock

log = structlog.get_logger()

PERIOD_S = 60.0


Measured = Mapping[str, Mapping[str, int | str | None]]


class StateLines:
    """Holds the last pass, and the last measurement of each cluster's canary."""

    def __init__(self, clock: Clock, lease: LeaseKeeper | None = None) -> None:
        self._clock = clock
        self._lease = lease
        self._survey: PlannedPass | None = None
        self._refused: Mapping[str, Refusal] = {}
        self._problems = 0
        self._noted_s = clock.monotonic_s()
        self._measured: Measured = {}
        self._first = anyio.Event()

    def note(
        self,
        survey: PlannedPass,
        refused: Mapping[str, Refusal],
        problems: Sequence[object],
        measured: Measured | None = None,
    ) -> None:
        """Take the end of a pass; ``measured`` are the canaries' measurements by cluster."""
        self._survey, self._refused, self._problems = survey, dict(refused), len(problems)
        self._measured = measured or {}
        self._noted_s = self._clock.monotonic_s()
        self._first.set()

    async def run(self) -> None:
        """Write the lines after the first pass, and once a minute from then on."""
        await self._first.wait()
        while True:
            due = anyio.current_time() + PERIOD_S
            await self.write()
            await anyio.sleep(max(0.0, due - anyio.current_time()))

    async def write(self) -> None:
        """Write one line about the operator, and one about each document, unless another operator
        acts, which writes them."""
        survey = self._survey
        if survey is None:
            return
        age_s = round(self._clock.monotonic_s() - self._noted_s, 1)
        log.info(
            "operator",
            swarm_readable=isinstance(survey.observed.swarm, Known),
            problems=self._problems,
            documents=len(survey.views),
            pass_s_ago=age_s,
            **(self._lease.as_line() if self._lease else {"acting": True, "lease_holder": ""}),
        )
        if self._lease is not None and not self._lease.tenure.holds():
            return
        for view in survey.views:
            try:
                log.info("state", **self._line(view, survey), pass_s_ago=age_s)
            except Exception:
                log.exception("state", doing=f"writing {view.key}")
            await checkpoint()

    def _line(self, view: PlannedObject[Any], survey: PlannedPass) -> dict[str, object]:
        """Return the line's fields: those of every kind, then the kind's own."""
        kind, now = KINDS[view.key.kind], self._clock.now()
        refusal = self._refused.get(view.name)
        holds = view.plan.held
        line = {
            "kind": kind.noun,
            "name": view.name,
            "condition": condition(status_of(view, survey.observed, now), refusal),
            "converged": view.plan.is_converged,
            "actions": len(view.plan.actions),
            "holds": [hold.key for hold in holds],
            "holds_for_you": sum(hold.wants_attention for hold in holds),
            "refused_by": refusal.guard if refusal else "",
        }
        if view.desired is not None and isinstance(survey.observed.swarm, Known):
            swarm = survey.observed.swarm.value
            line |= kind.figures(view.desired, survey.observed, swarm, now)
        if kind.has_members and (found := self._measured.get(view.name)):
            line |= {key: found.get(key) for key in ("write_gap_ms", "lost_rows")}
        return line
