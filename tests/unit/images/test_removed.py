"""The count of what a rewind removes, and its place in the answer of Patroni's REST API.

The real programs are tried in ``tests/contract/test_rewind.py``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from images.member.queenright_member.removed import (
    KEY,
    MOST,
    NOTE,
    Counting,
    Removed,
    counted,
    note,
    noted,
    show_removed,
)
from images.member.queenright_member.rewind import follow
from images.member.queenright_member.wal_files import UnknownEndError

ROOT = Path(__file__).resolve().parents[3]
APART = "pg_rewind: servers diverged at WAL location 0/3000000 on timeline 4\n"
CONTROL = """\
Database system identifier:           7711066407955226650
Latest checkpoint location:           0/3002038
Latest checkpoint's REDO location:    0/3002038
Latest checkpoint's TimeLineID:       {timeline}
Minimum recovery ending location:     0/0
Min recovery ending loc's timeline:   0
Bytes per WAL segment:                16777216
"""
STATISTICS = """\
WAL statistics between 0/3000028 and {end}:
Type                       N      (%)
Heap/INSERT               12 ( 50.00)
Transaction/COMMIT         3 ( 12.50)
Transaction/ABORT          2 (  8.33)
Transaction/COMMIT_PREPARED        1 (  4.17)
"""


def program(folder: Path, name: str, says: str) -> None:
    """A program of PostgreSQL's that prints this, and its arguments into a file."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.txt").write_text(says)
    path = folder / name
    path.write_text(f'#!/bin/sh\necho "$@" > {folder}/asked\ncat {folder}/{name}.txt\n')
    path.chmod(0o755)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with WAL of two timelines, and programs that read it."""
    wal = tmp_path / "data/pg_wal"
    wal.mkdir(parents=True)
    (tmp_path / "data/global").mkdir()
    (tmp_path / "data/global/pg_control").write_bytes(b"x" * 8192)
    for name in ("3" * 24, f"{4:08X}{0:08X}{3:08X}", f"{4:08X}{0:08X}{4:08X}"):
        (wal / name).touch()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    program(tmp_path / "bin", "pg_controldata", CONTROL.format(timeline=4))
    program(tmp_path / "bin", "pg_waldump", STATISTICS.format(end="0/30020B0"))
    return wal.parent


def test_commits_are_counted_to_the_end_of_the_timeline(data: Path) -> None:
    assert counted(data, data, 4, 0x3000000) == (0x30020B0, 4)
    asked = (data.parent / "bin/asked").read_text().split()
    assert asked[-2:] == ["000000040000000000000003", "000000040000000000000004"]
    assert asked[asked.index("-s") + 1] == "0/3000000"


@pytest.mark.parametrize(
    ("timeline", "end", "begin"),
    [
        (5, "0/30020B0", 0x3000000),
        (4, "0/3001000", 0x3000000),
        (4, "0/30020B0", 0x9000000),
    ],
    ids=["of another timeline", "cut off by the rewind", "removed before"],
)
def test_what_is_not_read_to_its_end_is_not_counted(
    data: Path, timeline: int, end: str, begin: int
) -> None:
    program(data.parent / "bin", "pg_controldata", CONTROL.format(timeline=timeline))
    program(data.parent / "bin", "pg_waldump", STATISTICS.format(end=end))
    with pytest.raises(UnknownEndError):
        counted(data, data, 4, begin)


def after(counting: Counting, line: str, until: str) -> Removed | None:
    """Take a line, wait until the count has come to this, and end it."""
    counting.hear("pg_rewind: connected to server\n")
    counting.hear(line)
    deadline = time.monotonic() + 20
    while until and not Path(until).exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.1)
    return counting.end()


@pytest.mark.parametrize(
    ("line", "commits", "found"),
    [
        (APART, 3, (4, 0x3000000, 0x3002060, 3)),
        (APART, 0, None),
        (APART, None, (4, 0x3000000, None, None)),
        ("pg_rewind: no rewind required\n", 3, None),
    ],
    ids=["commits", "none but a checkpoint", "not readable", "not apart"],
)
def test_what_a_rewind_removes_is_known_when_it_begins(
    data: Path, tmp_path: Path, line: str, commits: int | None, found: tuple[int | None, ...] | None
) -> None:
    def count(_: Path, kept: Path, timeline: int, begin: int) -> tuple[int, int]:
        assert (kept / "global/pg_control").read_bytes() == b"x" * 8192
        assert (timeline, begin) == (4, 0x3000000)
        (tmp_path / "counted").touch()
        if commits is None:
            raise UnknownEndError("no such program")
        return 0x3002060, commits

    until = str(tmp_path / "counted") if line == APART else ""
    removed = after(Counting(data, count), line, until)
    told = removed and (removed.timeline, removed.begin, removed.end, removed.commits)
    assert told == found


def test_a_count_that_takes_longer_does_not_delay_the_rewind(data: Path) -> None:
    over = threading.Event()

    def count(*_: object) -> tuple[int, int]:
        over.wait(60)
        return 0x3002060, 3

    began = time.monotonic()
    removed = after(Counting(data, count), APART, "")
    over.set()
    assert time.monotonic() - began < 20
    assert removed is not None
    assert (removed.end, removed.commits) == (None, None)


@pytest.mark.parametrize(
    ("end", "commits", "found"),
    [
        ("0/30020B0", 3, [(0x30020B0, 4)]),
        ("0/30020B0", 0, []),
        ("0/3001000", 3, [(None, None)]),
    ],
    ids=["commits", "none but a checkpoint", "cut off by the rewind"],
)
def test_a_count_that_ends_during_the_rewind_is_noted_at_its_end(
    data: Path,
    end: str,
    commits: int,
    found: list[tuple[int | None, int | None]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (data.parent / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(data.parent / "tmp"))
    raft, said = data.parent / "raft", STATISTICS.format(end=end)
    raft.mkdir()
    if not commits:
        said = "".join(line for line in said.splitlines(True) if "COMMIT" not in line)
    program(data.parent / "bin", "pg_waldump", said)
    waldump = data.parent / "bin/pg_waldump"
    waits = f"while [ ! -e {data.parent}/go ]; do sleep 0.05; done\n"
    waldump.write_text(waldump.read_text().replace("cat ", waits + "cat "))
    note(raft, Removed(2, 1, 2, 3, 4))

    def lines() -> Iterator[str]:
        yield APART
        yield "pg_rewind: need to copy 1 MB (total source directory size is 2 MB)\n"
        assert not (data / "global/pg_control").read_bytes().strip(b"\0")
        first, second = noted(raft)
        assert (first["commits"], second["commits"]) == (3, None)
        (data.parent / "go").touch()
        deadline = time.monotonic() + 20
        while any("_look" in one.name for one in threading.enumerate()):
            assert time.monotonic() < deadline
            time.sleep(0.01)

    assert follow(lines(), data) == (True, False)
    assert not [*(data.parent / "tmp").iterdir()]
    former, *later = noted(raft)
    assert former["timeline"] == 2
    assert [(one["end"], one["commits"]) for one in later] == found


def test_the_last_rewinds_are_noted_and_nothing_fails_for_a_note(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note(tmp_path, None)
    assert noted(tmp_path) == []
    for timeline in range(1, MOST + 3):
        note(tmp_path, Removed(timeline, 1, 2, 3, 4))
    assert [one["timeline"] for one in noted(tmp_path)] == [3, 4, 5, 6, 7]
    assert sorted(path.name for path in tmp_path.iterdir()) == [NOTE]
    for broken in (b"{", b"7", b"\xff"):
        (tmp_path / NOTE).write_bytes(broken)
        assert noted(tmp_path) == []
    note(tmp_path / "gone", Removed(1, 1, 2, 3, 4))
    assert "is not noted" in capsys.readouterr().err


class Handler:
    """Has what is used of Patroni's class."""

    answers: list[tuple[int, Mapping[str, Any]]]

    def _write_status_response(self, status_code: int, response: dict[str, Any]) -> None:
        self.answers.append((status_code, dict(response)))


def test_patroni_shows_the_note_with_the_status(tmp_path: Path) -> None:
    kind = type("Same", (Handler,), {"answers": []})
    show_removed(kind, tmp_path)
    kind()._write_status_response(200, {"state": "running"})
    note(tmp_path, Removed(4, 1, None, None, 9))
    kind()._write_status_response(503, {"state": "starting"})
    entry = {"timeline": 4, "begin": 1, "end": None, "commits": None, "at": 9}
    assert kind.answers == [
        (200, {"state": "running"}),
        (503, {"state": "starting", KEY: [entry]}),
    ]


REAL = """
import inspect
from patroni.api import RestApiHandler
from images.member.queenright_member.removed import make_shown
before = RestApiHandler._write_status_response
make_shown()
after = RestApiHandler._write_status_response
print([*inspect.signature(before).parameters] == [*inspect.signature(after).parameters])
print(before is after)
"""


def test_patroni_has_the_method() -> None:
    """Of the version that the image has; in a process of its own, whose umask Patroni sets."""
    done = subprocess.run(
        [sys.executable, "-c", REAL], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["True", "False"], done.stderr
