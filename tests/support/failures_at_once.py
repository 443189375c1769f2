"""Prints each failure of the labs' tests when it happens, with the time of day.

A run that is cut off prints no summary. What failed until then, and what each test waited for,
stands in its output all the same.
"""

from __future__ import annotations

import time

import pytest

LONGEST = 4_000
"""Characters of one failure that are printed: the end, where the error stands."""


class FailuresAtOnce:
    """The plugin of the process that prints the results."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome in ("passed", "skipped"):
            return
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None:  # a worker, which prints nothing
            return
        now = time.strftime("%H:%M:%S")
        outcome = str(report.outcome).upper()
        reporter.ensure_newline()
        reporter.write_line(f"{now} {outcome} {report.nodeid} ({report.when})")
        reporter.write_line(report.longreprtext[-LONGEST:])
