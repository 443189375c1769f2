"""The role's verdict on a file of the WAL: leader, replica, restore, and what interrupts a wait.

The real parts are in `tests/contract/test_archive_of_replicas.py`.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from images.member.queenright_member.backup import kept_wal, wal
from tests.support.barman import URL, archive, barman

WAL = "000000010000000000000007"
LATER = "000000010000000000000008"
SOON = (0.0, 0.3)


@pytest.fixture
def replica(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory of a replica that runs."""
    (data / "pg_wal").mkdir()
    (data / "standby.signal").touch()
    running(data)
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(kept_wal.Call, "scratch", tmp_path / "scratch", raising=True)
    return data


def running(data: Path, status: str = "standby ") -> None:
    lines = ["42", str(data), "1", "5432", "/tmp", "*", " 1 2", status, ""]
    (data / "postmaster.pid").write_text("\n".join(lines))


def asked(
    tmp_path: Path, secrets: Path, name: str = WAL, looks_s: tuple[float, ...] = SOON
) -> tuple[int, bool]:
    """Return the exit status for a file, and if it was uploaded."""
    programs = barman(tmp_path, "wal-archive", f"touch {tmp_path}/uploaded")
    status = wal.archive([f"pg_wal/{name}"], URL, secrets, programs, looks_s)
    return status, (tmp_path / "uploaded").exists()


def test_a_replica_keeps_a_file_until_the_archive_has_it(
    tmp_path: Path, secrets: Path, replica: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    archive(tmp_path, "000000010000000000000006.gz", f"{WAL}.partial.gz")
    assert asked(tmp_path, secrets) == (1, False)
    told = f"WAL {WAL}: is kept until the leader has archived it\n"
    assert capfd.readouterr().err == told
    archive(tmp_path, f"{WAL}.gz")
    assert asked(tmp_path, secrets) == (0, False)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("name", [WAL, "00000002.history"])
def test_what_the_last_list_had_needs_no_request(
    tmp_path: Path, secrets: Path, replica: Path, name: str
) -> None:
    programs = archive(tmp_path, f"{name}.gz", f"{LATER}.gz")
    assert asked(tmp_path, secrets, name) == (0, False)
    (programs / "python").unlink()
    assert asked(tmp_path, secrets, name) == (0, False)
    if name == WAL:
        assert asked(tmp_path, secrets, LATER) == (0, False)
    assert asked(tmp_path, secrets, "000000010000000000000009") == (1, False)


@pytest.mark.parametrize(
    ("name", "later"),
    [
        (WAL, f"{LATER}.gz"),
        (WAL, "000000010000000100000000"),
        (WAL, "000000020000000000000007.gz"),
        ("00000002.history", "000000020000000000000007.gz"),
        (f"{WAL}.partial", f"{LATER}.gz"),
    ],
)
def test_a_replica_uploads_what_the_leader_has_passed_over(
    tmp_path: Path, secrets: Path, replica: Path, name: str, later: str
) -> None:
    archive(tmp_path, later)
    assert asked(tmp_path, secrets, name) == (0, True)


@pytest.mark.parametrize("role", ["standby.signal", "recovery.signal", "none"])
def test_what_a_restore_fetched_is_never_uploaded(
    tmp_path: Path, secrets: Path, replica: Path, role: str
) -> None:
    (replica / "standby.signal").unlink()
    if role != "none":
        (replica / role).touch()
    archive(tmp_path, f"{LATER}.gz")
    programs = barman(tmp_path, "wal-restore", "exit 0")
    (secrets / "restore_credentials").write_text("[default]\n")
    parent = {**URL, "RESTORE_URL": "s3://parent/main"}
    assert wal.patiently_restore([WAL, "pg_wal/RECOVERYXLOG"], parent, secrets, programs) == 0
    assert asked(tmp_path, secrets) == (0, False)


def test_a_file_that_the_parent_has_not_got_is_not_noted(
    tmp_path: Path, secrets: Path, replica: Path
) -> None:
    """PostgreSQL asks for the history of the timeline that it is about to begin."""
    line = "ERROR: WAL file 00000003.history for server 7 does not exist"
    programs = barman(tmp_path, "wal-restore", f"echo '{line}' >&2; exit 1")
    (secrets / "restore_credentials").write_text("[default]\n")
    parent = {**URL, "RESTORE_URL": "s3://parent/main"}
    words = ["00000003.history", "pg_wal/RECOVERYHISTORY"]
    assert wal.patiently_restore(words, parent, secrets, programs) == 1
    assert kept_wal.fetched(replica) == set()


def test_a_restore_uploads_its_own_history_once_its_timeline_has_begun(
    tmp_path: Path, secrets: Path, replica: Path
) -> None:
    (replica / "standby.signal").rename(replica / "recovery.signal")
    archive(tmp_path, f"{LATER}.gz")
    assert asked(tmp_path, secrets, "00000003.history") == (1, False)
    threading.Timer(0.5, (replica / "recovery.signal").unlink).start()
    assert asked(tmp_path, secrets, "00000003.history", (30.0,)) == (0, True)


@pytest.mark.parametrize("role", ["standby.signal", "none"])
@pytest.mark.parametrize(
    ("name", "is_left"),
    [
        ("000000010000000000000006", False),
        (WAL, True),
        (LATER, True),
        ("000000020000000000000007", False),
        (f"{WAL}.partial", False),
    ],
)
def test_a_segment_in_which_its_timeline_was_left_is_nobodys(
    tmp_path: Path, secrets: Path, replica: Path, role: str, name: str, *, is_left: bool
) -> None:
    (replica / "pg_wal/00000002.history").write_text("1\t0/7000100\tno recovery target\n")
    (replica / "standby.signal").rename(replica / role)
    archive(tmp_path, "000000010000000000000001.gz")
    status, is_uploaded = asked(tmp_path, secrets, name)
    assert is_uploaded == (role == "none" and not is_left)
    assert (status == 0) == (is_left or role == "none")


def test_a_promotion_ends_the_wait_also_that_for_a_silent_repository(
    tmp_path: Path, secrets: Path, replica: Path
) -> None:
    programs = archive(tmp_path)
    (programs / "python").write_text("#!/bin/sh\nexec sleep 600\n")
    threading.Timer(0.5, (replica / "standby.signal").unlink).start()
    begun = time.monotonic()
    assert asked(tmp_path, secrets, looks_s=(0.0, 60.0)) == (0, True)
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize("looks_s", [(0.0, 60.0), (60.0,)], ids=["asking", "waiting"])
def test_a_stop_ends_the_wait_and_the_archiver(
    tmp_path: Path, secrets: Path, replica: Path, looks_s: tuple[float, ...]
) -> None:
    programs = archive(tmp_path)
    (programs / "python").write_text("#!/bin/sh\nexec sleep 600\n")
    threading.Timer(0.5, running, (replica, "stopping")).start()
    begun = time.monotonic()
    assert asked(tmp_path, secrets, looks_s=looks_s) == (wal.STOP_ARCHIVER, False)
    assert time.monotonic() - begun < 20


def test_a_replica_tells_why_the_archive_does_not_answer(
    tmp_path: Path, secrets: Path, replica: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    programs = archive(tmp_path)
    (programs / "python").write_text("#!/bin/sh\necho 'Could not connect' >&2; exit 1\n")
    assert asked(tmp_path, secrets) == (1, False)
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith(f"WAL {WAL}: is not archived: Amazon S3 does not answer; ")


def test_patroni_waits_for_no_replicas_file(tmp_path: Path, secrets: Path, replica: Path) -> None:
    (replica / "postmaster.pid").unlink()
    programs = barman(tmp_path, "wal-archive", f"touch {tmp_path}/uploaded")
    assert wal.archive([str(replica / "pg_wal" / WAL)], URL, secrets, programs) == 1
    (replica / "standby.signal").unlink()
    assert wal.archive([str(replica / "pg_wal" / WAL)], URL, secrets, programs) == 0
    assert (tmp_path / "uploaded").exists()


def test_a_replica_without_a_repository_waits_before_it_says_so(
    tmp_path: Path, secrets: Path, replica: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Its container may be one from before `backup` was put in."""
    begun = time.monotonic()
    assert wal.archive([f"pg_wal/{WAL}"], {}, secrets, tmp_path, SOON) == 1
    assert time.monotonic() - begun >= SOON[-1]
    assert "BACKUP_URL is empty or unset" in capfd.readouterr().err
