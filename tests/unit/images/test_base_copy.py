"""The member's ``pg_basebackup`` around a program that stands for PostgreSQL's.

The real one is tried in ``tests/contract/test_base_copy.py``.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from images.member.queenright_member.base_copy import (
    INTERRUPTED,
    NOTE,
    OPTIONS,
    copy,
    directory_in,
    is_members,
    mark_interrupted,
)
from images.member.queenright_member.data_end import DataEnd, end_of
from images.member.queenright_member.findings import look
from images.member.queenright_member.inputs import Paths
from images.member.queenright_member.rewind import CONTROL, MANIFEST
from images.member.queenright_member.start import say_finding, write_private
from tests.unit.images.member_case import with_volumes

WRITES = "mkdir global; printf '%08192d' 7 > global/pg_control; echo 16 > PG_VERSION; "


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return with_volumes(tmp_path)


def run(paths: Paths, script: str) -> int:
    program = paths.data.parent / "program"
    program.write_text(
        f"#!/bin/sh\ncd {paths.data}\ntest -e {paths.raft / NOTE} || exit 9\n{script}\n"
    )
    program.chmod(0o755)
    return copy(str(program), [f"--pgdata={paths.data}"], paths.data)


def test_a_copy_that_ends_well_leaves_no_note(paths: Paths) -> None:
    assert run(paths, f"{WRITES} touch {MANIFEST}") == 0
    assert not (paths.raft / NOTE).exists()
    assert not mark_interrupted(paths.data, paths.raft)
    assert (paths.data / CONTROL).exists()


def test_a_copy_that_left_nothing_leaves_no_note(paths: Paths) -> None:
    assert run(paths, "exit 3") == 3
    assert not (paths.raft / NOTE).exists()


@pytest.mark.parametrize(("end", "status"), [("exit 1", 1), ("kill -9 $$", 137)])
@pytest.mark.parametrize("label", ["touch backup_label; ", ""])
def test_what_a_copy_has_left_is_shown_as_interrupted(
    paths: Paths, end: str, status: int, label: str
) -> None:
    """Also where the cut has taken the label."""
    assert run(paths, f"{WRITES}{label}{end}") == status
    write_private(paths.config, "name: x\n")
    assert mark_interrupted(paths.data, paths.raft)
    say_finding(paths)
    tags = {"queenright_finding": "interrupted-copy"}
    assert yaml.safe_load(paths.config.read_text())["tags"] == tags
    assert end_of(paths.data) == DataEnd()
    assert not (paths.raft / NOTE).exists()
    # Ended here and started again, it says the same.
    assert not mark_interrupted(paths.data, paths.raft)
    assert look(paths) == "interrupted-copy"


@pytest.mark.parametrize("file", [MANIFEST, OPTIONS])
def test_a_note_that_was_left_marks_no_whole_copy_and_no_data_in_use(
    paths: Paths, file: str
) -> None:
    """A cut takes the note's removal back; or other data are in the place of an ended copy's."""
    assert run(paths, f"{WRITES} touch {file}; exit 1") == 1
    assert (paths.raft / NOTE).exists()
    assert not mark_interrupted(paths.data, paths.raft)
    assert not (paths.raft / NOTE).exists()
    assert not (paths.data / INTERRUPTED).exists()
    assert (paths.data / CONTROL).exists()


def test_a_note_of_a_copy_that_patroni_has_removed_marks_nothing(paths: Paths) -> None:
    (paths.raft / NOTE).touch()
    assert not mark_interrupted(paths.data, paths.raft)
    assert [*paths.data.iterdir(), *paths.raft.iterdir()] == []


def test_a_copy_without_a_note_is_judged_by_its_files(paths: Paths) -> None:
    """One of an earlier image, or a base backup out of an archive."""
    assert run(paths, f"{WRITES} touch backup_label") == 0
    assert not mark_interrupted(paths.data, paths.raft)
    assert look(paths) == ""


def test_a_note_that_cant_be_written_begins_no_copy(paths: Paths) -> None:
    paths.raft.rmdir()
    with pytest.raises(OSError, match="No such file"):
        run(paths, WRITES)
    assert [*paths.data.iterdir()] == []


def test_the_programs_directory_and_a_members(paths: Paths) -> None:
    for words in (["--pgdata=/d", "-X", "stream"], ["-D", "/d"], ["-P", "--pgdata", "/d"]):
        assert directory_in(words) == Path("/d")
    for words in (["--help"], ["-D"], []):
        assert directory_in(words) is None
    assert is_members(paths.data)
    (paths.data / "x").touch()
    assert not is_members(paths.data), "PostgreSQL's refuses it, and what is in it is no copy"
    assert not is_members(paths.data / "elsewhere")
