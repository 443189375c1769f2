"""Lists the tests that passed only when they were run again, and fails when they are too many.

``make test`` runs a failed test once more (``--reruns 1``): a shared machine that stands still for
seconds breaks a wait that is long enough otherwise. A fault of the product that happens now and
then must not hide behind that, so each such test is named at the end, and more than MOST of them
fail the run.
"""

from __future__ import annotations

import pytest

MOST = 4
MOST_PRINTED = 3000
"""The characters of a failure that are printed: its end has what was wrong."""


class SecondTry:
    """The plugin of the process that prints the results."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def _failures(self) -> dict[str, str]:
        """Return the names of the tests that were run again, with the end of what failed first."""
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        reports = reporter.stats.get("rerun", []) if reporter else []
        return {report.nodeid: report.longreprtext[-MOST_PRINTED:] for report in reversed(reports)}

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if len(self._failures()) > MOST and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        failures = self._failures()
        if failures:
            terminalreporter.section(f"run a second time (at most {MOST} may be)")
            for name, failure in sorted(failures.items()):
                terminalreporter.write_line(f"SECOND TRY {name}")
                for line in failure.splitlines():
                    terminalreporter.write_line(f"    {line}")
