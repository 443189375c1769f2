"""The ``ReadinessProbe`` port on the fake swarm: a replica is ready while its database is led."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from queenright.core.observed import Known, Unknown
from queenright.core.observed.readiness import Readiness, ReadinessTarget
from tests.fakes.swarm_store import SwarmStore

ASK_S = 0.01


@dataclass
class FakeReadiness:
    """Typed by ``ports.readiness.ReadinessProbe``."""

    store: SwarmStore
    has_leader: Callable[[], bool]
    silent: set[str] = field(default_factory=set)
    """Ids of tasks that nobody can ask."""
    kept: list[str] = field(default_factory=list)
    """Networks on which something asks."""

    async def ask(
        self, targets: Sequence[ReadinessTarget]
    ) -> Mapping[str, Known[Readiness] | Unknown]:
        await asyncio.sleep(ASK_S)
        return {target.task_id: self._said(target) for target in targets}

    def _said(self, target: ReadinessTarget) -> Known[Readiness] | Unknown:
        task = self.store.tasks.get(target.task_id)
        if target.task_id in self.silent or task is None or task.snapshot().state != "running":
            return Unknown(f"{target.address}:{target.port}: connection refused")
        if not self.has_leader():
            return Known(Readiness(503, "not ready: the database is unreachable"))
        return Known(Readiness(200))

    async def keep(self, targets: Sequence[ReadinessTarget]) -> None:
        self.kept = sorted({target.network for target in targets if target.network})

    async def aclose(self) -> None:
        pass
