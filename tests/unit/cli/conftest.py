"""Fixtures of every test of the program: its own environment, and a valid manifest."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_line import ADDRESSED
from tests.support.plain_log import log_plainly


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("QUEENRIGHT_", "DOCKER_")):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _restore_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield
    log_plainly()
    root.handlers = handlers
    root.setLevel(level)


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    directory = tmp_path / "manifests"
    directory.mkdir()
    file = directory / "cluster.yaml"
    file.write_text(ADDRESSED)
    return file
