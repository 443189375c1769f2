"""The member's ``pg_rewind`` around a program that stands for PostgreSQL's.

The real one is tried in ``tests/contract/test_rewind.py``.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from images.member.queenright_member import removed
from images.member.queenright_member.findings import look
from images.member.queenright_member.inputs import Paths
from images.member.queenright_member.rewind import (
    ARCHIVE,
    CONTROL,
    MANIFEST,
    NOTE,
    TORN,
    directory_in,
    own_program,
    rewind,
    take_note,
)
from images.member.queenright_member.start import say_finding, write_private
from tests.unit.images.member_case import lay_out

WHOLE = b"\7" * 8192
BEGINS = "echo 'pg_rewind: need to copy 3 MB (total source directory size is 9 MB)' >&2; "
WAITS = f"while cmp -s {CONTROL} whole; do sleep 0.01; done; "


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    found = lay_out(tmp_path)
    for directory in (found.data / "global", found.raft):
        directory.mkdir(parents=True)
    (found.data / "PG_VERSION").write_text("16\n")
    (found.data / CONTROL).write_bytes(WHOLE)
    (found.data / "whole").write_bytes(WHOLE)
    return found


def run(paths: Paths, script: str) -> int:
    program = paths.data.parent / "program"
    program.write_text(f"#!/bin/sh\ncd {paths.data}\n{script}\n")
    program.chmod(0o755)
    return rewind(str(program), ["-D", str(paths.data)], paths.data)


@pytest.mark.parametrize(("script", "status"), [("exit 0", 0), ("echo no >&2; exit 3", 3)])
def test_a_program_that_changes_nothing_leaves_no_trace(
    paths: Paths, script: str, status: int
) -> None:
    note = paths.raft / NOTE
    assert run(paths, f"test -e {note} || exit 9; {script}") == status
    assert (paths.data / CONTROL).read_bytes() == WHOLE
    assert not note.exists()
    assert not take_note(paths.data, paths.raft)


def test_the_note_names_the_process_while_the_program_runs(paths: Paths) -> None:
    """The health check asks for it."""
    seen = paths.data.parent / "seen"
    assert run(paths, f"cp {paths.raft / NOTE} {seen}") == 0
    assert seen.read_text() == str(os.getpid())


def test_the_program_writes_the_control_file_whole_at_its_end(paths: Paths) -> None:
    """It waits until the file is empty: the real one would go on at once."""
    assert run(paths, f"{BEGINS}{WAITS} cat whole > {CONTROL}") == 0
    assert not (paths.raft / NOTE).exists()
    assert (paths.data / CONTROL).read_bytes() == WHOLE


@pytest.mark.parametrize("begins", [True, False])
def test_what_it_removes_is_noted_where_no_rewind_and_no_copy_comes(
    paths: Paths, monkeypatch: pytest.MonkeyPatch, *, begins: bool
) -> None:
    """As unknown here, where no program reads the WAL."""
    apart = "echo 'pg_rewind: servers diverged at WAL location 0/3000000 on timeline 1' >&2; "
    assert run(paths, apart + (f"{BEGINS}{WAITS} exit 1" if begins else "exit 1")) == 1
    told = [(one["timeline"], one["begin"], one["commits"]) for one in removed.noted(paths.raft)]
    assert told == ([(1, 0x3000000, None)] if begins else [])


@pytest.mark.parametrize(("end", "status"), [("exit 1", 1), ("kill -9 $$", 137)])
def test_a_torn_directory_is_shown_as_an_interrupted_copy(
    paths: Paths, end: str, status: int
) -> None:
    assert run(paths, f"{BEGINS}{WAITS}{end}") == status
    assert (paths.data / CONTROL).read_bytes() == bytes(8192)
    assert run(paths, "exit 0") == 1, "not a second time on the same data"
    write_private(paths.config, "name: x\n")
    assert take_note(paths.data, paths.raft)
    say_finding(paths)
    assert yaml.safe_load(paths.config.read_text())["tags"] == {
        "queenright_finding": "interrupted-copy"
    }
    assert not (paths.raft / NOTE).exists()
    # Ended here and started again, it says the same.
    assert not take_note(paths.data, paths.raft)
    assert look(paths) == "interrupted-copy"


def test_a_kill_before_the_first_change_counts_as_torn(paths: Paths) -> None:
    (paths.raft / NOTE).touch()
    assert take_note(paths.data, paths.raft)
    assert look(paths) == "interrupted-copy"


def test_a_note_of_data_that_are_gone_marks_nothing(paths: Paths) -> None:
    for file in (CONTROL, "PG_VERSION", "whole"):
        (paths.data / file).unlink()
    (paths.data / "global").rmdir()
    (paths.raft / NOTE).touch()
    assert take_note(paths.data, paths.raft)
    assert not (paths.data / TORN).exists()
    assert look(paths) == ""


def copied(paths: Paths) -> None:
    """Put a whole copy in the place of the data, as `pg_basebackup` leaves it."""
    (paths.data / CONTROL).write_bytes(WHOLE)
    (paths.data / MANIFEST).write_text("{}")


def test_a_new_copy_in_the_same_container_is_not_taken_for_the_torn_data(paths: Paths) -> None:
    """A person has it copied before the container ends; later it may be the one that leads."""
    assert run(paths, f"{BEGINS}{WAITS}exit 1") == 1
    copied(paths)
    assert not take_note(paths.data, paths.raft)
    assert (paths.data / CONTROL).read_bytes() == WHOLE
    assert not (paths.raft / NOTE).exists()
    assert look(paths) == ""


def test_a_new_copy_can_be_rewound(paths: Paths) -> None:
    assert run(paths, f"{BEGINS}{WAITS}exit 1") == 1
    copied(paths)
    assert run(paths, f"{BEGINS}{WAITS} cat whole > {CONTROL}") == 0
    # The manifest of the copy is gone, so that the next one that is torn is known for it.
    assert run(paths, f"{BEGINS}{WAITS}exit 1") == 1
    assert take_note(paths.data, paths.raft)


def test_progress_is_left_out_and_errors_are_passed_on(
    paths: Paths, capfd: pytest.CaptureFixture[str]
) -> None:
    script = f"{BEGINS}echo '  10/3072 kB (0%) copied' >&2; echo 'pg_rewind: error: no' >&2; exit 1"
    assert run(paths, script) == 1
    told = capfd.readouterr().err
    assert "error: no" in told
    assert "copied" not in told


def test_the_programs_arguments_and_the_next_one_in_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert directory_in(["--help"]) is None
    assert directory_in(["-D"]) is None
    assert directory_in(["--progress", "-D", "/data"]) == Path("/data")
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "pg_rewind").touch(mode=0o755)
    path = os.pathsep.join(str(tmp_path / name) for name in ("first", "second"))
    monkeypatch.setenv("PATH", path)
    assert own_program(tmp_path / "first/pg_rewind") == str(tmp_path / "second/pg_rewind")
    monkeypatch.setenv("PATH", str(tmp_path / "first"))
    with pytest.raises(SystemExit):
        own_program(tmp_path / "first/pg_rewind")


LACKS = (
    'echo "pg_rewind: error: could not open file \\"/d/pg_wal/000000020000000000000009\\": No such '
    'file or directory" >&2'
)


@pytest.mark.parametrize(("url", "runs"), [("s3://some/where", 2), ("", 1)])
def test_a_program_that_lacks_wal_runs_again_where_there_is_an_archive(
    paths: Paths, monkeypatch: pytest.MonkeyPatch, url: str, runs: int
) -> None:
    """With the server's own configuration and a command for the archive; only once."""
    monkeypatch.setenv(ARCHIVE, url)
    seen = paths.data.parent / "seen"
    script = f'for word; do echo "$word"; done >> {seen}; {LACKS}; for f; do case $f in '
    script += f"--config-file=*) cat ${{f#*=}} >> {seen};; esac; done; exit 1"
    assert run(paths, script) == 1
    told = seen.read_text()
    assert told.count("--progress\n") == runs
    assert told.count("--restore-target-wal\n") == runs - 1
    if url:
        assert f"include '{paths.data}/postgresql.conf'\n" in told
        assert "restore_command = 'wal-restore %f %p'\n" in told
    assert not (paths.raft / NOTE).exists()
    assert (paths.data / CONTROL).read_bytes() == WHOLE
