"""Takes a third of the long groups of end-to-end tests, another third for other commits.

``make test`` names its commit's content in ``QUEENRIGHT_SHARE``; without that variable, as in
``make e2e``, every test runs. The third is chosen by that text alone: the same commit has the
same one, whoever runs it. What judges the main job is no part of this: it runs for every commit.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Sequence

import pytest

CHOICE = "QUEENRIGHT_SHARE"

THIRDS = 3

LONG = (
    "e2e/cluster/test_topology.py",
    "e2e/cluster/test_backup_faults.py",
    "e2e/cluster/test_backup.py",
    "e2e/cluster/test_damaged_data.py",
    "e2e/cluster/test_access_edits.py",
    "e2e/cluster/test_standby.py",
    "e2e/cluster/test_day_two.py",
    "e2e/cluster/test_topology_small.py",
    "e2e/cluster/test_notes_upgrade.py",
    "e2e/cluster/test_edge_rollout.py",
    "e2e/cluster/test_vip.py",
    "e2e/cluster/test_backup_volume.py",
    "e2e/cluster/test_documents.py",
    "e2e/cluster/test_majority_lost.py",
    "e2e/cluster/test_in_place.py",
    "e2e/cluster/test_full_disk.py",
    "e2e/cluster/test_replication.py",
    "e2e/cluster/test_repairs.py",
    "e2e/test_lab.py",
    "contract/test_replica.py",
    "e2e/cluster/test_notes_restored.py",
    "contract/test_volume_repository.py",
    "contract/test_drill.py",
    "contract/test_backup.py",
    "contract/test_archive_of_replicas.py",
)
"""The groups that take turns, in an order in which each third one has about a third of the time."""


def left_out(groups: Sequence[str], choice: str) -> frozenset[str]:
    """Return all groups but each third one, which begin with the first, second or third; none
    without a choice."""
    if not choice:
        return frozenset()
    return frozenset(groups) - {*groups[zlib.crc32(choice.encode()) % THIRDS :: THIRDS]}


class Shares:
    """The plugin of every process of a session: all of them collect the same tests."""

    def __init__(self, group_of: Callable[[str], str], groups: Sequence[str] = LONG) -> None:
        self._group_of = group_of
        self._left_out = left_out(groups, os.environ.get(CHOICE, ""))

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        others = [item for item in items if self._group_of(item.nodeid) in self._left_out]
        items[:] = [item for item in items if self._group_of(item.nodeid) not in self._left_out]
        config.hook.pytest_deselected(items=others)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for group in sorted(self._left_out):
            terminalreporter.write_line(f"LEFT OUT {group} (another commit has it; make test-all)")
