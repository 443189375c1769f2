"""The backup programs' own decisions: the repository, the line of a failure, the exit status.

Barman is a script here that prints what the real one was seen to print; the real one is in
`tests/contract/test_backup.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from images.member.queenright_member.backup import base_backup, wal
from images.member.queenright_member.backup.barman import cause_of
from images.member.queenright_member.backup.repository import (
    RepositoryError,
    read_repository,
    system_identifier,
)

URL = {"BACKUP_URL": "s3://backups/some/main"}
WAL = "000000010000000000000007"
ERROR = "2026-11-22 18:39:13,508 [22617] ERROR: "


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


def barman(tmp_path: Path, command: str, script: str) -> Path:
    """Write a stand-in for one of Barman's commands, which notes its arguments and variables."""
    programs = tmp_path / "programs"
    programs.mkdir(exist_ok=True)
    file = programs / f"barman-cloud-{command}"
    noted = f'printf "%s\\n" "$@" > {tmp_path}/arguments; env > {tmp_path}/environment'
    file.write_text(f"#!/bin/sh\n{noted}\n{script}\n")
    file.chmod(0o755)
    return programs


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


BACKUP = {
    "backup_id": "20251122T180000",
    "status": "DONE",
    "begin_time": "Sat Nov 22 18:00:00 2025",
    "begin_time_iso": "2025-11-22T19:00:00.250000+01:00",
    "end_time": "Sat Nov 22 18:01:00 2025",
    "end_time_iso": "2025-11-22T18:01:00+00:00",
    "timeline": 2,
    "begin_wal": "000000020000000000000003",
    "end_wal": "000000020000000000000004",
    "size": 42,
    "error": None,
    "other": "left out",
}


def places(data: Path, secrets: Path, programs: Path, tmp_path: Path) -> base_backup.Places:
    return base_backup.Places(data, secrets, programs, tmp_path)


def test_a_base_backup_gives_the_password_in_a_file_and_tells_what_it_made(
    tmp_path: Path, secrets: Path, data: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    made = json.dumps({"backups_list": [BACKUP]})
    script = f"cp $PGPASSFILE {tmp_path}/pgpass; stat -c %a $PGPASSFILE > {tmp_path}/mode"
    barman(tmp_path, "backup", f"{script}; touch {tmp_path}/made")
    listing = f"if test -e {tmp_path}/made; then echo '{made}'; else echo '{{}}'; fi"
    programs = barman(tmp_path, "backup-list", listing)
    found = places(data, secrets, programs, tmp_path)
    assert base_backup.run("base-backup", [], URL, found) == 0
    told = capfd.readouterr()
    assert told.out == (
        "backed up id=20251122T180000 begin=2025-11-22T18:00:00Z end=2025-11-22T18:01:00Z "
        "begin_wal=000000020000000000000003 end_wal=000000020000000000000004 bytes=42\n"
    )
    assert (tmp_path / "pgpass").read_text() == "*:*:*:*:a\\:b\\\\c\n"
    assert (tmp_path / "mode").read_text() == "600\n"
    assert "a:b" not in (tmp_path / "environment").read_text() + told.err


def listing(tmp_path: Path, *backups: Mapping[str, object]) -> Path:
    """Barman with these backups before and after, whose commands note that they were run."""
    barman(tmp_path, "backup", f"touch {tmp_path}/made")
    delete = f'printf "%s\n" "$@" > {tmp_path}/deleted'
    barman(tmp_path, "backup-delete", delete)
    return barman(tmp_path, "backup-list", f"echo '{json.dumps({'backups_list': [*backups]})}'")


@pytest.mark.parametrize(
    ("due", "status", "is_made"),
    [
        ("2025-11-22T18:00:00Z", "DONE", False),
        ("2025-11-22T18:00:01Z", "DONE", True),
        ("2025-11-22T18:00:00+00:00", "FAILED", True),
        ("", "DONE", True),
    ],
)
def test_none_is_made_where_one_was_begun_since_it_was_due(
    tmp_path: Path, secrets: Path, data: Path, *, due: str, status: str, is_made: bool
) -> None:
    found = places(data, secrets, listing(tmp_path, BACKUP | {"status": status}), tmp_path)
    base_backup.run("base-backup", [], {**URL, "BACKUP_DUE": due}, found)
    assert (tmp_path / "made").exists() is is_made


def test_a_backup_of_the_future_keeps_none_from_being_made(
    tmp_path: Path, secrets: Path, data: Path
) -> None:
    ahead = BACKUP | {"begin_time_iso": "2990-01-01T00:00:00+00:00"}
    found = places(data, secrets, listing(tmp_path, ahead), tmp_path)
    base_backup.run("base-backup", [], {**URL, "BACKUP_DUE": "2025-11-22T18:00:00Z"}, found)
    assert (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("variables", "options"),
    [
        ({"BACKUP_KEEP_COUNT": "7"}, ["--minimum-redundancy=7", "--retention-policy=REDUNDANCY 7"]),
        (
            {"BACKUP_KEEP_DAYS": "30"},
            ["--minimum-redundancy=1", "--retention-policy=RECOVERY WINDOW OF 30 DAYS"],
        ),
        (
            {"BACKUP_KEEP_DAYS": "30", "BACKUP_KEEP_COUNT": "7"},
            ["--minimum-redundancy=7", "--retention-policy=RECOVERY WINDOW OF 30 DAYS"],
        ),
        ({}, []),
    ],
)
def test_barman_removes_by_its_own_policy_and_keeps_one_at_least(
    tmp_path: Path, secrets: Path, data: Path, variables: Mapping[str, str], options: list[str]
) -> None:
    found = places(data, secrets, listing(tmp_path, BACKUP), tmp_path)
    environ = {**URL, "BACKUP_DUE": "2025-11-22T18:00:00Z", **variables}
    assert base_backup.run("base-backup", [], environ, found) == 0
    deleted = tmp_path / "deleted"
    assert (deleted.read_text().splitlines()[1:-2] if deleted.exists() else []) == options


@pytest.mark.parametrize(
    ("variables", "script", "obsolete"),
    [
        ({"BACKUP_KEEP_COUNT": "1"}, "ok", [True, False]),
        ({"BACKUP_KEEP_COUNT": "1"}, "exit 1", [None, None]),
        ({}, "exit 1", [False, False]),
    ],
)
def test_the_list_has_what_barman_would_remove_and_its_own_length(
    tmp_path: Path, secrets: Path, data: Path, *, capfd: pytest.CaptureFixture[str],
    variables: Mapping[str, str], script: str, obsolete: list[bool | None],
) -> None:  # fmt: skip
    newer = BACKUP | {"backup_id": "20251123T180000"}
    programs = listing(tmp_path, newer, BACKUP)
    objects = "['a/7/base/20251122T180000/data.tar', 'a/7/base/20251122T180000/backup.info']"
    said = f"Skipping deletion of objects {objects} due to --dry-run option"
    ran = f'echo "$@" > {tmp_path}/ran; '
    barman(tmp_path, "backup-delete", ran + (f'echo "{said}"' if script == "ok" else script))
    found = places(data, secrets, programs, tmp_path)
    assert base_backup.run("backup-list", [], {**URL, **variables}, found) == 0
    told = capfd.readouterr()
    assert told.err == "listed 2 base backups\n"
    rows = [json.loads(line) for line in told.out.splitlines()]
    assert [row["obsolete"] for row in rows] == obsolete
    assert [row["id"] for row in rows] == ["20251122T180000", "20251123T180000"]
    if variables:
        assert " --dry-run " in (tmp_path / "ran").read_text(), "nothing is removed"
    else:
        assert not (tmp_path / "ran").exists()


def test_what_can_not_be_removed_is_told_and_the_backup_is_good(
    tmp_path: Path, secrets: Path, data: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    programs = listing(tmp_path, BACKUP)
    barman(tmp_path, "backup-delete", f"echo '{ERROR}(AccessDenied)' >&2; exit 1")
    environ = {**URL, "BACKUP_DUE": "2025-11-22T18:00:00Z", "BACKUP_KEEP_COUNT": "1"}
    assert (
        base_backup.run("base-backup", [], environ, places(data, secrets, programs, tmp_path)) == 0
    )
    assert capfd.readouterr().out.splitlines()[1] == (
        "removed nothing: the credentials give no right to bucket backups at Amazon S3; grant it"
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [("BACKUP_DUE", "soon"), ("BACKUP_DUE", "2025-11-22T18:00:00"), ("BACKUP_KEEP_COUNT", "0"),
     ("BACKUP_KEEP_DAYS", "1 DAYS; x"), ("BACKUP_KEEP_DAYS", "-1")],
)  # fmt: skip
def test_nothing_is_begun_with_a_variable_that_can_not_be_read(
    tmp_path: Path, secrets: Path, data: Path, *, name: str, text: str,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    found = places(data, secrets, listing(tmp_path, BACKUP), tmp_path)
    assert base_backup.run("base-backup", [], {**URL, name: text}, found) == 1
    assert f"environment variable {name} is not " in capfd.readouterr().err
    assert not (tmp_path / "made").exists()


def test_a_base_backup_that_barman_does_not_list_has_failed(
    tmp_path: Path, secrets: Path, data: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    barman(tmp_path, "backup", "exit 0")
    programs = barman(tmp_path, "backup-list", "echo '{\"backups_list\": []}'")
    assert base_backup.run("base-backup", [], URL, places(data, secrets, programs, tmp_path)) == 1
    assert capfd.readouterr().err.startswith("base-backup: failed: Barman made none")


def test_only_a_whole_backup_is_restored_and_only_into_an_empty_directory(
    tmp_path: Path, secrets: Path, data: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    failed = BACKUP | {"backup_id": "20251122T190000", "status": "FAILED"}
    listed = json.dumps({"backups_list": [failed, BACKUP]})
    barman(tmp_path, "restore", 'eval "mkdir -p \\${$#}"')
    programs = barman(tmp_path, "backup-list", f"echo '{listed}'")
    found, new = places(data, secrets, programs, tmp_path), tmp_path / "new"
    assert base_backup.run("base-restore", ["20251122T190000", str(new)], URL, found) == 1
    assert capfd.readouterr().err == (
        "base-restore: restored nothing: there is no whole backup 20251122T190000; those that "
        "there are: 20251122T180000\n"
    )
    assert base_backup.run("base-restore", ["latest", str(data)], URL, found) == 1
    assert "is not empty" in capfd.readouterr().err
    assert base_backup.run("base-restore", ["latest", str(new)], URL, found) == 0
    assert capfd.readouterr().out == f"restored 20251122T180000 to {new}\n"
    assert new.stat().st_mode & 0o777 == 0o700
