"""The last good state as a file that anything may have happened to."""

from __future__ import annotations

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from queenright.adapters.files.last_known_good import FILE_NAME, LastGoodFiles


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    LastGoodFiles(tmp_path / "new").save({"a.yml": "x: 1\n"})
    assert LastGoodFiles(tmp_path / "new").load() == {"a.yml": "x: 1\n"}


def test_none_yet_is_no_trouble(tmp_path: Path) -> None:
    with capture_logs() as told:
        assert LastGoodFiles(tmp_path).load() == {}
        assert LastGoodFiles(None).load() == {}
    assert told == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"x"',
        b"7",
        b'{"a.yml": 1}',
        b'{"a.yml": {"x": 1}}',
        b'{"a.yml": null}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_anything_else_counts_as_none_and_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    with capture_logs() as told:
        assert LastGoodFiles(tmp_path).load() == {}
    assert [line["log_level"] for line in told] == ["warning"]
