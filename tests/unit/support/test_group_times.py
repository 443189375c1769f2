"""The times of the groups that each worker had."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.support.group_times import GroupTimes


def report(worker: str, test: str, duration: float) -> pytest.TestReport:
    node = SimpleNamespace(gateway=SimpleNamespace(id=worker))
    found = SimpleNamespace(node=node, nodeid=test, duration=duration)
    return cast("pytest.TestReport", found)


class Written:
    """Keeps the lines of a summary."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def section(self, title: str) -> None:
        self.lines.append(title)

    def write_line(self, line: str) -> None:
        self.lines.append(line)


def test_each_worker_has_its_groups_in_their_order_with_their_times() -> None:
    now = [100.0]
    times = GroupTimes(lambda test: test.partition("::")[0], clock=lambda: now[0])
    for at_s, worker, test, duration in (
        (20.0, "gw1", "b::one", 20.0),
        (80.0, "gw0", "a::one", 80.0),
        (140.0, "gw0", "a::two", 30.0),
        (200.0, "gw0", "c::one", 50.0),
    ):
        now[0] = 100.0 + at_s
        times.pytest_runtest_logreport(report(worker, test, duration))
    shares = times.shares
    assert shares["gw0", "a"].in_tests_s == 110.0
    assert (shares["gw0", "a"].began_s, shares["gw0", "a"].ended_s) == (0.0, 140.0)
    assert len(shares["gw0", "a"].tests) == 2

    written = Written()
    times.pytest_terminal_summary(cast("Any", written))
    assert [line.split()[0] for line in written.lines[1:]] == ["gw0", "gw0", "gw1"]
    assert [line.split()[-1] for line in written.lines[1:]] == ["a", "c", "b"]


def test_a_run_without_tests_prints_nothing() -> None:
    written = Written()
    GroupTimes(str).pytest_terminal_summary(cast("Any", written))
    assert written.lines == []
