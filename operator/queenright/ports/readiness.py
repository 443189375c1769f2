"""The replicas of applications, asked whether they can serve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from queenright.core.app.readiness import Readiness, Target
from queenright.core.observed import Known, Unknown


class ReadinessProbe(Protocol):
    """Asks ``/readyz``, wherever the replica is. Never raises for a silent one."""

    async def ask(self, targets: Sequence[Target]) -> Mapping[str, Known[Readiness] | Unknown]:
        """Each replica's answer by task id, within a few seconds in all."""
        ...

    async def keep(self, targets: Sequence[Target]) -> None:
        """These are all that there are: what was set up to ask others is taken down."""
        ...

    async def aclose(self) -> None: ...
