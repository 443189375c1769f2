"""Takes a third of the longer judges, another third for other commits.

`make test` names its commit's content in `QUEENRIGHT_SHARE`; without that variable, as in
`make notes-test`, every test runs. The third is chosen by that text alone: the same commit
has the same one on every machine. What judges the main things that people do is no part of this.
"""

from __future__ import annotations

import os
import zlib

import pytest

CHOICE = "QUEENRIGHT_SHARE"
THIRDS = 3

#: Names of `tests/judges/test_*.py` by the time they take: each third one has about a third of it.
LONG = (
    "every_look",
    "keyboard",
    "workspace_doubts",
    "workspace_gap",
    "workspace_transfer",
    "workspace_beside",
    "workspace_around",
    "workspace_gone",
    "workspace_manage",
    "workspace_history",
    "workspace_long",
    "workspace_large",
    "workspace_stored",
    "workspace_lost",
    "workspace_pictures",
    "workspace_foreign",
    "workspace_admin",
    "workspace_files",
    "workspace_drag",
    "workspace_caret",
    "workspace_contents",
    "workspace_find",
    "workspace_footnotes",
    "workspace_ime",
    "workspace_later",
    "workspace_limits",
    "workspace_refused",
    "workspace_release",
    "workspace_setup",
    "workspace_site",
    "workspace_steps",
    "workspace_told",
    "workspace_tree",
    "workspace_typing",
    "media",
    "ranges",
)


def file_of(name: str) -> str:
    return f"tests/judges/test_{name}.py"


def left_out(choice: str) -> frozenset[str]:
    """Return all files but each third one, which begin with the first, second or third; none
    without a choice."""
    if not choice:
        return frozenset()
    taken = LONG[zlib.crc32(choice.encode()) % THIRDS :: THIRDS]
    return frozenset(map(file_of, LONG)) - {*map(file_of, taken)}


class Shares:
    """The plugin of every process of a session: all of them collect the same tests."""

    def __init__(self) -> None:
        self._left_out = left_out(os.environ.get(CHOICE, ""))

    def _misses(self, item: pytest.Item) -> bool:
        return item.nodeid.partition("::")[0] in self._left_out

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        others = [item for item in items if self._misses(item)]
        items[:] = [item for item in items if not self._misses(item)]
        config.hook.pytest_deselected(items=others)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for name in sorted(self._left_out):
            terminalreporter.write_line(f"LEFT OUT {name} (another commit has it; make test-all)")
