"""Fixtures of the member image's programs: a directory of secrets, and one of data."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    found = tmp_path / "secrets"
    found.mkdir()
    (found / "backup_credentials").write_text("[default]\naws_secret_access_key = hidden\n")
    (found / "pg_superuser_pw").write_text("a:b\\c\n")
    return found


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = tmp_path / "data"
    (found / "global").mkdir(parents=True)
    (found / "global/pg_control").write_bytes((7_000_000_000_000_000_001).to_bytes(8, "little"))
    monkeypatch.chdir(found)
    return found
