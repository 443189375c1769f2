"""Prints at the end of a run which groups each worker had, in their order, and for how long.

The order in `side_by_side.LONGEST_FIRST` and `WITHOUT_LAB` follows these times. They leave out how
long a worker waited for its turn (`quiet`, deploying); the times on the clock beside them show it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest


@dataclass
class Share:
    """A worker's part of one group: seconds from the run's start, and seconds inside its tests."""

    worker: str
    group: str
    began_s: float
    ended_s: float = 0.0
    in_tests_s: float = 0.0
    tests: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        return (
            f"{self.worker:>4}  {self.began_s / 60:5.1f} to {self.ended_s / 60:5.1f} min  "
            f"{self.in_tests_s:6.0f} s in {len(self.tests):3} tests  {self.group}"
        )


class GroupTimes:
    """The plugin of the process that prints the results."""

    def __init__(
        self, group_of: Callable[[str], str], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._group_of, self._clock = group_of, clock
        self._began = clock()
        self.shares: dict[tuple[str, str], Share] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        node = getattr(report, "node", None)
        worker = str(node.gateway.id) if node is not None else "gw0"
        group, now_s = self._group_of(report.nodeid), self._clock() - self._began
        share = self.shares.setdefault(
            (worker, group), Share(worker, group, now_s - report.duration)
        )
        share.ended_s = now_s
        share.in_tests_s += report.duration
        share.tests.add(report.nodeid)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.shares:
            return
        terminalreporter.section("groups of each worker")
        for share in sorted(self.shares.values(), key=lambda one: (one.worker, one.began_s)):
            terminalreporter.write_line(str(share))
