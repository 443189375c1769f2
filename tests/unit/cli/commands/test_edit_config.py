"""Settings that ``edit-config`` is given: assignments, files, and a text edited in an editor."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from queenright.cli.commands.edit_config import (
    assigned,
    edited,
    settings_in,
    written_patch,
)
from queenright.cli.exit_codes import CommandError


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("ttl", 64, "write FIELD=VALUE"),
        ("=3", 64, "is no field"),
        ("a..b=3", 64, "is no field"),
        ("ttl=[1", 64, "the value is not YAML"),
    ],
)
def test_assignments_that_are_none(text: str, code: int, said: str) -> None:
    with pytest.raises(CommandError, match=said.replace("[", r"\[")) as caught:
        assigned(text)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [(b"a: \xff", 65, "x.yaml:1: is not UTF-8"), (None, 64, "x.yaml: Is a directory")],
)
def test_files_that_can_not_be_read(
    tmp_path: Path, content: bytes | None, code: int, said: str
) -> None:
    file = tmp_path / "x.yaml"
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)
    with pytest.raises(CommandError, match=said) as caught:
        written_patch((), file)
    assert caught.value.code == code


def test_values_follow_the_manifests_yaml() -> None:
    """YAML 1.2's core schema: what YAML 1.1 takes for octal, sexagesimal, dates and switches is
    not; and no digits are too many."""
    for text in ("on", "12:30", "2026-13-01", "9" * 5000):
        assert assigned(f"x={text}") == {"x": text}
    assert assigned("x=010") == {"x": 10}
    assert assigned("x=") == {"x": None}


def test_an_editor_that_changes_nothing_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the text spells what was a word as YAML 1.2 spells a number."""
    found = {"ttl": 30, "postgresql": {"parameters": {"a": "1e3", "b": "0o17", "c": "on"}}}
    monkeypatch.setattr(click, "edit", lambda text, **_: text + "\n")
    assert edited("main", found) == {}
    monkeypatch.setattr(click, "edit", lambda text, **_: text.replace("ttl: 30", "ttl: 40"))
    assert edited("main", found) == {"ttl": 40}


def test_assignments() -> None:
    assert assigned("ttl=20") == {"ttl": 20}
    assert assigned("check_timeline=null") == {"check_timeline": None}
    assert assigned("postgresql.parameters.pg_stat_statements.max=5000") == {
        "postgresql": {"parameters": {"pg_stat_statements.max": 5000}}
    }
    assert assigned("postgresql.pg_hba=[a, b]") == {"postgresql": {"pg_hba": ["a", "b"]}}


@pytest.mark.parametrize(
    ("text", "said"),
    [("a: [", "x.yaml:1: yaml: a value is missing"), ("- a", "x.yaml:1: must be one mapping"),
     ("a: 1\n---\nb: 2", "x.yaml:3: must be one mapping"), ("a: \x00", r"U\+0000"),
     ("a: b: c", "x.yaml:1: yaml: a colon"), ("a: 1\na: 2", "x.yaml:2: a: is written twice"),
     ("[" * 3000, "nested far too deeply"), ("a: !!set {b}", "x.yaml:1: a: the tag")],
)  # fmt: skip
def test_files_that_are_no_settings(text: str, said: str) -> None:
    with pytest.raises(CommandError, match=said) as caught:
        settings_in(text, "x.yaml")
    assert caught.value.code == 65
