"""Decides which tests share a process: those of a file, and all of the lab, which has one user."""

from __future__ import annotations

from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

#: Mostly waits; so it begins with the first, beside tests that work.
LAB = "tests/image/"


class Groups(LoadScopeScheduling):
    """Hands out whole groups of tests, in the order of the folder."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


def group_of(nodeid: str) -> str:
    """The group of a test: its file, or the lab."""
    file = nodeid.partition("::")[0]
    return LAB if file.startswith(LAB) else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Groups | None:
    """The distribution for `--dist loadfile`."""
    return Groups(config, log) if config.getvalue("dist") == "loadfile" else None
