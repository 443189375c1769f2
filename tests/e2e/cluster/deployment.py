"""A lab on which an operator runs, for the fixtures and the tests that share one."""

from __future__ import annotations

from dataclasses import dataclass

from tests.e2e.running_operator import RunningOperator
from tests.lab.lab import Lab


@dataclass(frozen=True)
class Deployment:
    """A lab on which an operator runs, and how long the first convergence took."""

    lab: Lab
    operator: RunningOperator
    convergence_s: float
