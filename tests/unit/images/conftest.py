"""Fixtures of the member image's programs: directories of secrets and of data, and a disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.images.cut_disk import disk_in


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system whose power can be cut."""
    with disk_in(tmp_path) as found:
        yield found


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
