"""Prints the processor time of the tests, by folder and by file (pytest option `--processor-time`).

Counts user and system time of pytest's own process and of the processes that ended during a test.
A fixture counts for the test that made it first. On a shared machine this is steadier than the time
on the clock.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator

import pytest

OPTION, SPENT = "--processor-time", "processor_s"
MOST_FILES, DEAR_S = 40, 0.5
"""The number of files that are printed at most, and the least that one of them costs."""


def spent_s() -> float:
    """Return the seconds of processor time of this process and its ended children."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class ProcessorTime:
    """Notes the time that each test costs in its report, which a worker sends to its session."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.by_file: Counter[str] = Counter()
        self.others_s = 0.0
        """Seconds that workers spend outside of their tests: start, collection and end."""
        self._last_s = 0.0
        self._tests_s = 0.0

    def pytest_runtest_logstart(self) -> None:
        if hasattr(self.config, "workerinput") or not self.config.getoption("-n", None):
            self._last_s = spent_s()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Iterator[None]:
        report = yield
        now_s = spent_s()
        setattr(report, SPENT, now_s - self._last_s)
        self._tests_s += now_s - self._last_s
        self._last_s = now_s
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.by_file[report.nodeid.partition("::")[0]] += getattr(report, SPENT, 0.0)

    def pytest_sessionfinish(self) -> None:
        if hasattr(self.config, "workerinput"):
            self.config.workeroutput[SPENT] = spent_s() - self._tests_s  # type: ignore[attr-defined]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        """Count what a worker spent outside of its tests."""
        self.others_s += getattr(node, "workeroutput", {}).get(SPENT, 0.0)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if hasattr(self.config, "workerinput"):
            return
        folders: Counter[str] = Counter()
        for path, seconds in self.by_file.items():
            folders["/".join(path.split("/")[:2])] += seconds
        own_s = time.process_time() if self.others_s else spent_s() - self._tests_s
        start_s = self.others_s + own_s
        write = terminalreporter.write_line
        terminalreporter.section("processor time, in seconds")
        for name, seconds in (*folders.most_common(), ("start and collection", start_s)):
            write(f"{seconds:8.1f}  {name}")
        write(f"{sum(folders.values()) + start_s:8.1f}  in all")
        for path, seconds in self.by_file.most_common(MOST_FILES):
            if seconds >= DEAR_S:
                write(f"{seconds:8.1f}  {path}")
