"""The programs for WAL: the repository, the line of a failure, the exit status.

Barman is a script here that prints what the real one was seen to print; the real one is in
`tests/contract/test_backup.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from images.member.queenright_member.backup import wal
from images.member.queenright_member.backup.barman import cause_of
from images.member.queenright_member.backup.repository import (
    RepositoryError,
    read_repository,
    system_identifier,
)
from tests.support.barman import URL, barman

WAL = "000000010000000000000007"
ERROR = "2026-11-22 18:39:13,508 [22617] ERROR: "


def test_archive_names_the_systems_own_folder_and_hides_the_credentials(
    tmp_path: Path, secrets: Path, data: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (secrets / "backup_ca").write_text("CA")
    programs = barman(tmp_path, "wal-archive", "exit 0")
    environ = {**URL, "BACKUP_ENDPOINT": "https://s3.example:9000", "BACKUP_REGION": "eu-1"}
    assert wal.archive([f"pg_wal/{WAL}"], environ, secrets, programs) == 0
    assert (tmp_path / "arguments").read_text().splitlines() == [
        "--cloud-provider=aws-s3",
        "--endpoint-url=https://s3.example:9000",
        "--gzip",
        "s3://backups/some/main",
        "7000000000000000001",
        str(data / "pg_wal" / WAL),
    ]
    environment = (tmp_path / "environment").read_text()
    for line in (
        f"AWS_SHARED_CREDENTIALS_FILE={secrets}/backup_credentials",
        f"AWS_CA_BUNDLE={secrets}/backup_ca",
        "AWS_DEFAULT_REGION=eu-1",
        "AWS_REQUEST_CHECKSUM_CALCULATION=when_required",
    ):
        assert line in environment.splitlines()
    assert "hidden" not in environment
    assert capfd.readouterr() == ("", "")


def test_wal_that_patroni_names_in_full_is_archived_from_any_directory(
    tmp_path: Path, secrets: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    programs = barman(tmp_path, "wal-archive", "exit 0")
    assert wal.archive([str(data / "pg_wal" / WAL)], URL, secrets, programs) == 0
    assert (tmp_path / "arguments").read_text().splitlines()[-2:] == [
        "7000000000000000001",
        str(data / "pg_wal" / WAL),
    ]
    programs = barman(tmp_path, "wal-restore", "exit 0")
    assert wal.restore([WAL, str(data / "pg_wal/back")], URL, secrets, programs) == 0
    assert "7000000000000000001" in (tmp_path / "arguments").read_text().splitlines()


@pytest.mark.parametrize("status", [1, 3, 126, 137])
def test_archive_ends_with_1_whatever_barman_ended_with(
    tmp_path: Path, secrets: Path, data: Path, capfd: pytest.CaptureFixture[str], status: int
) -> None:
    script = f"echo '{ERROR}Something new' >&2; echo Traceback >&2; exit {status}"
    programs = barman(tmp_path, "wal-archive", script)
    assert wal.archive([f"pg_wal/{WAL}"], URL, secrets, programs) == 1
    assert capfd.readouterr().err == f"WAL {WAL}: is not archived: Something new\n"


def test_a_leader_that_ends_tries_once(tmp_path: Path, secrets: Path, data: Path) -> None:
    """PostgreSQL's archiver tries thrice where it gets 1, and a switchover waits for that."""
    programs = barman(tmp_path, "wal-archive", "exit 4")
    pid = data / "postmaster.pid"
    for status, wanted in (("ready   ", 1), ("stopping", wal.STOP_ARCHIVER)):
        pid.write_text(f"1\n{data}\n1\n5432\n/run\n*\n  1 2\n{status}\n")
        assert wal.archive([f"pg_wal/{WAL}"], URL, secrets, programs) == wanted


def test_archive_without_barman_is_a_failure_too(
    tmp_path: Path, secrets: Path, data: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert wal.archive([f"pg_wal/{WAL}"], URL, secrets, tmp_path / "none") == 1
    assert capfd.readouterr().err.startswith(f"WAL {WAL}: is not archived: ")


def test_archive_gives_a_silent_repository_up(
    tmp_path: Path,
    secrets: Path,
    data: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(wal, "TIMEOUT_S", 0.2)
    programs = barman(tmp_path, "wal-archive", "sleep 600 & wait")
    assert wal.archive([f"pg_wal/{WAL}"], URL, secrets, programs) == 1
    assert "did not take or give it within 0 s" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("exit 0", 0),
        (f"echo '{ERROR}WAL file {WAL} for server 7 does not exist' >&2; exit 1", 1),
        (f"echo '{ERROR}Could not connect to the endpoint URL' >&2; exit 1", 255),
        (f"echo '{ERROR}An error occurred (AccessDenied)' >&2; exit 4", 255),
        ("exit 1", 255),
    ],
)
def test_recovery_ends_only_where_the_repository_says_so(
    tmp_path: Path, secrets: Path, data: Path, script: str, status: int
) -> None:
    programs = barman(tmp_path, "wal-restore", script)
    assert wal.restore([WAL, "pg_wal/RECOVERYXLOG"], URL, secrets, programs) == status


def test_a_missing_bucket_is_no_end_of_the_wal(
    tmp_path: Path, secrets: Path, data: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = f"echo '{ERROR}Bucket backups does not exist' >&2; exit 1"
    programs = barman(tmp_path, "wal-restore", script)
    assert wal.restore([WAL, "pg_wal/RECOVERYXLOG"], URL, secrets, programs) == 255
    assert "there is no bucket backups at Amazon S3" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({}, "environment variable BACKUP_URL is empty or unset"),
        (
            {"BACKUP_URL": "s3://bucket/folder\n"},
            "environment variable BACKUP_URL is not s3://bucket/folder",
        ),
        ({"BACKUP_URL": "s3://b"}, "environment variable BACKUP_URL is not s3://bucket/folder"),
        (
            {"BACKUP_URL": "s3://bucket/../x"},
            "environment variable BACKUP_URL is not s3://bucket/folder",
        ),
        (
            {**URL, "BACKUP_ENDPOINT": "ftp://s3"},
            "environment variable BACKUP_ENDPOINT is not an http or https address",
        ),
        (
            {**URL, "BACKUP_ENDPOINT": "https://key:secret@s3"},
            "environment variable BACKUP_ENDPOINT is not an http or https address",
        ),
        (
            {**URL, "BACKUP_COMPRESSION": "xz --x"},
            "environment variable BACKUP_COMPRESSION is not gzip or none",
        ),
    ],
)
def test_a_repository_that_is_not_described_is_refused(
    environ: Mapping[str, str], message: str, secrets: Path
) -> None:
    with pytest.raises(RepositoryError) as caught:
        read_repository(environ, secrets)
    assert str(caught.value) == message


def test_credentials_are_needed(tmp_path: Path) -> None:
    with pytest.raises(RepositoryError, match="secret backup_credentials is missing"):
        read_repository(URL, tmp_path)


def test_a_directory_without_a_database_has_no_identifier(tmp_path: Path) -> None:
    with pytest.raises(RepositoryError, match="pg_control cannot be read"):
        system_identifier(tmp_path)


@pytest.mark.parametrize(
    ("errors", "cause"),
    [
        ("(QuotaExceeded) when calling", "{place} has no room left; make room or raise its quota"),
        (
            "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: Hostname mismatch",
            "the certificate of https://s3 is for another name; give the server one for this one",
        ),
        ("(RequestTimeTooSkewed)", "the clocks of this node and https://s3 differ; set them"),
        (
            "(AccessDenied) when calling the PutObject operation",
            "the credentials give no right to {place}; grant it",
        ),
        (
            "ERROR: the standby was promoted during online backup",
            "the replica became the leader meanwhile; begin the backup again",
        ),
        (
            "Cannot connect to postgres: connection refused",
            "PostgreSQL takes no connection; see that it runs at BACKUP_HOST and BACKUP_PORT",
        ),
        (
            "Cannot connect to postgres: FATAL: password authentication failed for user",
            "PostgreSQL does not accept the superuser's password; correct the secret",
        ),
        ("", "Barman ended with status 4"),
    ],
)
def test_causes_in_one_line(errors: str, cause: str, secrets: Path) -> None:
    repository = read_repository({**URL, "BACKUP_ENDPOINT": "https://s3"}, secrets)
    told = cause_of(f"{ERROR}{errors}" if errors else "", repository, 4)
    assert told == cause.format(place="bucket backups at https://s3")


def test_the_cause_of_a_failed_try_is_kept_until_one_succeeds(
    tmp_path: Path, secrets: Path, data: Path
) -> None:
    noted, names = tmp_path / "failed", [f"pg_wal/{WAL}"]
    full = f"echo '{ERROR}An error occurred (InsufficientStorage)' >&2; exit 1"
    programs = barman(tmp_path, "wal-archive", full)
    assert wal.archive(names, URL, secrets, programs, failed=noted) == 1
    place = "bucket backups at Amazon S3"
    assert noted.read_text() == f"{place} has no room left; make room or raise its quota"
    barman(tmp_path, "wal-archive", "exit 0")
    assert wal.archive(names, URL, secrets, programs, failed=noted) == 0
    assert not noted.exists()
