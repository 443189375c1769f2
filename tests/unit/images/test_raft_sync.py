"""Raft's files are on the disk two seconds after they were written, whoever ends first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pysyncobj.journal import FileJournal

from images.member.queenright_member.raft_sync import files_in, sync_all
from tests.unit.images.cut_disk import cut_power, needs_disk, power_on

ROOT = Path(__file__).resolve().parents[3]
PERIOD_S = 0.2


def test_journal_meta_dump_and_their_directory_are_synced(tmp_path: Path) -> None:
    names = ["a:1.dump", "a:1.journal", "a:1.journal.meta"]
    for name in (*names, "a:1.journal.broken-1", "a:1.reset", "other"):
        (tmp_path / name).touch()
    synced: list[str] = []

    def fsync(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)

    assert sync_all(str(tmp_path), fsync) == ""
    assert synced == [*names, tmp_path.name]
    assert [*files_in(str(tmp_path))][-1] == str(tmp_path)


def test_a_failure_is_told_and_stops_no_other_file(tmp_path: Path) -> None:
    def failing(descriptor: int) -> None:
        tried.append(descriptor)
        raise OSError(5, "Input/output error")

    tried: list[int] = []
    (tmp_path / "a:1.journal").touch()
    assert "Input/output error" in sync_all(str(tmp_path), failing)
    assert len(tried) == 2
    assert "No such file" in sync_all(str(tmp_path / "gone"))


PATRONI = "import time; time.sleep(60)"


def start_beside(directory: Path) -> subprocess.Popen[str]:
    """A program in Patroni's place, with the process beside it."""
    program = (
        "import os, sys; from images.member.queenright_member.raft_sync import sync_beside; "
        f"sync_beside({str(directory)!r}, {PERIOD_S}); "
        f"os.execv(sys.executable, [sys.executable, '-c', {PATRONI!r}])"
    )
    return subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, text=True)


def beside(patroni: int) -> list[int]:
    """The processes that sync beside this one."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if any(word.endswith(b"raft_sync.py") for word in words) and str(patroni).encode() in words:
            found.append(int(path.parent.name))
    return found


def until_beside(patroni: int, count: int) -> list[int]:
    for _ in range(200):
        if len(found := beside(patroni)) == count:
            return found
        time.sleep(0.1)
    raise AssertionError(f"{len(found)} processes beside, not {count}")


@pytest.fixture
def patroni(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    made = start_beside(tmp_path)
    yield made
    made.kill()
    made.wait()


def test_it_ends_with_patroni(patroni: subprocess.Popen[str]) -> None:
    until_beside(patroni.pid, 1)
    patroni.kill()
    patroni.wait()
    until_beside(patroni.pid, 0)


def test_its_end_is_nothing_to_patroni(patroni: subprocess.Popen[str]) -> None:
    (own,) = until_beside(patroni.pid, 1)
    assert f"PPid:\t{patroni.pid}\n" not in Path(f"/proc/{own}/status").read_text()
    os.kill(own, signal.SIGKILL)
    until_beside(patroni.pid, 0)
    assert patroni.poll() is None


@needs_disk
@pytest.mark.parametrize("is_synced", [True, False], ids=["synced", "as Patroni alone"])
def test_after_a_power_cut_the_journal_has_what_was_committed(disk: Path, is_synced: bool) -> None:
    path = disk / "a:1.journal"
    journal = FileJournal(str(path))
    process = start_beside(disk) if is_synced else None
    try:
        if process is not None:
            until_beside(process.pid, 1)
        journal.setCurrentTerm(3, "a:1")
        for number in range(1, 31):
            journal.add(b"\1", number, 3)
        time.sleep(10 * PERIOD_S)
        cut_power(disk)
    finally:
        if process is not None:
            process.kill()
            process.wait()
            until_beside(process.pid, 0)
    del journal  # closes the map: an open one would keep the file system busy
    power_on(disk)
    kept = len(FileJournal(str(path))) if path.exists() and path.stat().st_size else 0
    assert kept == (30 if is_synced else 0)
