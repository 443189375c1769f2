"""The programs for base backups: what is made, listed, removed and restored.

Barman is a script here that prints what the real one was seen to print; the real one is in
`tests/contract/test_backup.py`.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from images.member.queenright_member.backup import base_backup
from tests.support.barman import ARCHIVED_AT, URL, archive, barman
from tests.unit.images.listed_backup import BACKUP, BEGIN, END, NEXT, listing

WAL = "000000010000000000000007"
ERROR = "2026-11-22 18:39:13,508 [22617] ERROR: "


def places(data: Path, secrets: Path, programs: Path, tmp_path: Path) -> base_backup.Places:
    return base_backup.Places(data, secrets, programs, tmp_path, 0.0, 0.0)


@pytest.fixture(autouse=True)
def _archived(tmp_path: Path) -> None:
    """The archive has the WAL of the backup that the tests know."""
    archive(tmp_path, f"{BEGIN}.gz", f"{END}.gz")


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


def test_a_backup_is_made_once_the_leader_has_archived_its_end(
    tmp_path: Path, secrets: Path, data: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    programs = listing(tmp_path, BACKUP)
    (tmp_path / f"archived/{END}.gz").unlink()
    found = dataclasses.replace(places(data, secrets, programs, tmp_path), archived_s=30.0)
    archive(tmp_path, later={f"{END}.gz": ARCHIVED_AT})
    environ = {**URL, "BACKUP_DUE": "2025-11-22T18:00:00Z", "BACKUP_HOST": "10.0.0.2"}
    assert base_backup.run("base-backup", [], environ, found) == 0
    assert capfd.readouterr().out.startswith("backed up id=20251122T180000 ")
    assert (tmp_path / "switched").read_text() == "10.0.0.2 5432 postgres 0/5000000\n"
    assert not (tmp_path / "made").exists()


def test_a_backup_whose_end_is_not_archived_in_time_is_none_and_nothing_is_removed_for_it(
    tmp_path: Path, secrets: Path, data: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    programs = listing(tmp_path, BACKUP)
    (tmp_path / f"archived/{END}.gz").unlink()
    environ = {**URL, "BACKUP_DUE": "2025-11-22T18:00:00Z", "BACKUP_KEEP_COUNT": "1"}
    found = places(data, secrets, programs, tmp_path)
    assert base_backup.run("base-backup", [], environ, found) == 1
    told = capfd.readouterr()
    assert told.out == ""
    assert told.err == (
        f"base-backup: failed: base backup 20251122T180000 can't be restored (WAL file {END}, "
        "which it needs, is not in bucket backups at Amazon S3 after 0 s); see that the leader "
        "archives\n"
    )
    assert not (tmp_path / "deleted").exists()
    assert not (tmp_path / "made").exists(), "the next job waits for that one"


def test_another_backup_is_made_where_wal_of_the_last_one_is_lost(
    tmp_path: Path, secrets: Path, data: Path
) -> None:
    programs = listing(tmp_path, BACKUP)
    (tmp_path / f"archived/{END}.gz").unlink()
    archive(tmp_path, f"{NEXT}.gz")
    environ = {**URL, "BACKUP_DUE": "2025-11-22T18:00:00Z"}
    assert (
        base_backup.run("base-backup", [], environ, places(data, secrets, programs, tmp_path)) == 1
    )
    assert (tmp_path / "made").exists()
