"""The port for asking the replicas of applications if they are ready."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from queenright.core.observed import Known, Unknown
from queenright.core.observed.readiness import Readiness, ReadinessTarget


class ReadinessProbe(Protocol):
    """Asks ``/readyz`` of replicas on any node. Never raises if one is silent."""

    async def ask(
        self, targets: Sequence[ReadinessTarget]
    ) -> Mapping[str, Known[Readiness] | Unknown]:
        """Return each replica's answer by task id, within a few seconds in all."""
        ...

    async def keep(self, targets: Sequence[ReadinessTarget]) -> None:
        """Remove what was set up to ask other replicas than these."""
        ...

    async def aclose(self) -> None: ...
