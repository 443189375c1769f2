"""The programs with which a cluster begins from a backup: choice, refusals, removal.

Barman is a script here, as is the Python that lists folders; the real ones are in
`tests/contract/test_restore.py` and `tests/e2e/cluster/test_backup.py`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from images.member.queenright_member import health
from images.member.queenright_member.backup import cluster_restore, wal
from images.member.queenright_member.findings import RESTORE_TAG, with_tag
from images.member.queenright_member.inputs import Paths
from images.member.queenright_member.start import start_again, write_private
from tests.support.barman import NO_HISTORY, barman

SYSTEM = "7000000000000000001"
ARCHIVED_AT = "2025-11-22T10:00:00+00:00"
LAST_FILE = f"some/main/{SYSTEM}/wals/0000000200000000/00000002000000000000000B.gz {ARCHIVED_AT}"
RESTORE = {"RESTORE_URL": "s3://backups/some/main", "RESTORE_ENDPOINT": "https://s3.example"}


def stored(number: int, status: str = "DONE") -> dict[str, object]:
    """A backup of one hour of the day, which took a minute and two segments."""
    return {
        "backup_id": f"20251122T{number:02}0000",
        "status": status,
        "begin_time_iso": f"2025-11-22T{number:02}:00:00+00:00",
        "end_time_iso": f"2025-11-22T{number:02}:01:00.600000+00:00",
        "timeline": 2,
        "begin_wal": f"0000000200000000000000{number:02X}",
        "end_wal": f"0000000200000000000000{number + 1:02X}",
        "size": 42,
        "error": None,
    }


@pytest.fixture
def places(tmp_path: Path) -> cluster_restore.Places:
    """An empty data directory, the parent's credentials, and a parent with three backups."""
    for name in ("empty", "secrets", "raft"):
        (tmp_path / name).mkdir()
    (tmp_path / "secrets/restore_credentials").write_text("[default]\n")
    (tmp_path / "secrets/backup_credentials").write_text("[default]\n")
    found = {"backups_list": [stored(2), stored(4), stored(6, "FAILED"), stored(8)]}
    barman(tmp_path, "backup-list", f"echo '{json.dumps(found)}'")
    laid_out = (
        "for word; do last=$word; done; echo $2 > $last/PG_VERSION; touch $last/standby.signal"
    )
    barman(tmp_path, "wal-restore", NO_HISTORY)
    programs = barman(tmp_path, "restore", laid_out)
    listing(tmp_path, f"some/main/{SYSTEM}/")
    return cluster_restore.Places(
        tmp_path / "empty", tmp_path / "secrets", tmp_path / "raft/restore", programs, 0.0
    )


def listing(tmp_path: Path, *folders: str, script: str = "") -> None:
    """Write a stand-in for the Python that lists folders, with those of the parent's place alone;
    of any other it knows none."""
    found = "\n".join(f"echo {folder}" for folder in folders)
    of_system = f"some/main/{SYSTEM}/wals/"
    wals = f"{of_system}) echo {of_system}0000000200000000/;; {of_system}*) echo {LAST_FILE};;"
    file = tmp_path / "programs/python"
    file.write_text(f'#!/bin/sh\n{script}\ncase "$6" in some/main/) {found or ":"};; {wals} esac\n')
    file.chmod(0o755)


@pytest.mark.parametrize(
    ("target", "base", "chosen"),
    [
        ("", "", "20251122T080000"),
        ("time 2025-11-22 08:01:02+00:00", "", "20251122T080000"),
        ("time 2025-11-22 08:01:00.700000+00:00", "", "20251122T040000"),
        ("time 2025-11-22 05:01:00+01:00", "", "20251122T020000"),
        ("lsn 0/A000000", "", "20251122T080000"),
        ("lsn 0/9FFFFFF", "", "20251122T040000"),
        ("name before", "", "20251122T020000"),
        ("name before", "20251122T040000", "20251122T040000"),
        ("", "20251122T020000", "20251122T020000"),
    ],
)
def test_the_newest_backup_that_ended_before_the_target_is_laid_out(
    places: cluster_restore.Places,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    *,
    target: str,
    base: str,
    chosen: str,
) -> None:
    environ = {**RESTORE, "RESTORE_TARGET": target, "RESTORE_BACKUP": base}
    assert cluster_restore.run(environ, places) == 0
    assert (tmp_path / "arguments").read_text().splitlines() == [
        "--cloud-provider=aws-s3",
        "--endpoint-url=https://s3.example",
        "s3://backups/some/main",
        SYSTEM,
        chosen,
        str(places.data),
    ]
    assert [path.name for path in places.data.iterdir()] == ["PG_VERSION"]
    assert places.note.exists()
    said = capfd.readouterr()
    assert f"restores base backup {chosen}, which ended at " in said.out
    assert said.err == ""


def refusal(
    places: cluster_restore.Places, capfd: pytest.CaptureFixture[str], **variables: str
) -> str:
    """Return the one line with which it restores nothing; the next start has the same reason."""
    assert cluster_restore.run({**RESTORE, **variables}, places) == 1
    said = capfd.readouterr()
    (line,) = said.err.splitlines()
    assert said.out == ""
    assert not any(places.data.iterdir())
    why = line.removeprefix("cluster-restore: restored nothing: ")
    assert cluster_restore.unfinished(places.data, places.note) == why
    return why


def test_a_target_that_no_backup_covers_is_one_line_with_those_that_there_are(
    places: cluster_restore.Places, capfd: pytest.CaptureFixture[str]
) -> None:
    told = (
        "is not covered, as no base backup ended before it; the first of 3 is 20251122T020000 "
        "(ended 2025-11-22T02:01:00Z, WAL 000000020000000000000003), the last 20251122T080000 "
        "(ended 2025-11-22T08:01:00Z, WAL 000000020000000000000009)"
    )
    early = "time 2025-11-22 02:01:00+00:00"
    assert refusal(places, capfd, RESTORE_TARGET=early) == f"target {early} {told}"
    assert refusal(places, capfd, RESTORE_TARGET="lsn 0/3FFFFFF") == f"target lsn 0/3FFFFFF {told}"
    named = {"RESTORE_TARGET": "time 2025-11-22 03:00:00Z", "RESTORE_BACKUP": "20251122T080000"}
    assert refusal(places, capfd, **named).startswith("target time 2025-11-22 03:00:00Z is not")
    assert refusal(places, capfd, RESTORE_BACKUP="20251122T060000") == (
        "there is no whole base backup 20251122T060000; those that there are: 20251122T020000, "
        "20251122T040000, 20251122T080000"
    )


@pytest.mark.parametrize(
    ("target", "is_covered"),
    [
        ("time 2025-11-22 10:15:00+00:00", True),
        ("time 2025-11-22 10:15:00.000001+00:00", False),
        ("time 2025-11-22 11:15:01+01:00", False),
        ("lsn 0/BFFFFFF", True),
        ("lsn 0/C000000", False),
        ("lsn 1/0", False),
        ("name after", True),
        ("", True),
    ],
)
def test_a_target_behind_the_archives_end_is_refused_before_anything_is_copied(
    places: cluster_restore.Places,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    *,
    target: str,
    is_covered: bool,
) -> None:
    if is_covered:
        assert cluster_restore.run({**RESTORE, "RESTORE_TARGET": target}, places) == 0
        return
    assert refusal(places, capfd, RESTORE_TARGET=target) == (
        f"target {target} is not covered, as the archive s3://backups/some/main ends before it, "
        "with WAL file 00000002000000000000000B, archived at 2025-11-22T10:00:00Z; take an earlier "
        "one, or leave the target out for the end of the archive"
    )
    assert "restore" not in (tmp_path / "arguments").read_text()


def test_a_file_of_a_former_leader_that_is_archived_in_part_may_have_the_target(
    places: cluster_restore.Places, tmp_path: Path
) -> None:
    name = f"00000002000000000000000C.partial {ARCHIVED_AT}"
    of_system = f"some/main/{SYSTEM}/wals/0000000200000000/"
    listing(
        tmp_path,
        f"some/main/{SYSTEM}/",
        script=f'case "$6" in {of_system}) echo {of_system}{name}; exit;; esac',
    )
    assert cluster_restore.run({**RESTORE, "RESTORE_TARGET": "lsn 0/CFFFFFF"}, places) == 0


def test_the_parents_system_is_the_only_one_or_is_written(
    places: cluster_restore.Places, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    listing(tmp_path)
    assert refusal(places, capfd) == (
        "s3://backups/some/main has no backup; correct `cluster`, `bucket` or `prefix`"
    )
    listing(tmp_path, f"some/main/{SYSTEM}/", "some/main/7000000000000000002/")
    assert refusal(places, capfd) == (
        f"s3://backups/some/main has several database systems ({SYSTEM}, 7000000000000000002), "
        "each of a deployment under this name; write which of them in `system`"
    )
    assert cluster_restore.run({**RESTORE, "RESTORE_SYSTEM": SYSTEM}, places) == 0


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (
            "An error occurred (NoSuchBucket) when calling the ListObjectsV2 operation",
            (
                "there is no bucket backups at https://s3.example; create the bucket or correct "
                "its name"
            ),
        ),
        (
            "An error occurred (SignatureDoesNotMatch) when calling the ListObjectsV2 operation",
            "https://s3.example does not accept the credentials; correct the secret",
        ),
        (
            'Could not connect to the endpoint URL: "https://s3.example/backups"',
            "https://s3.example does not answer; see that it runs and is reached from this node",
        ),
    ],
)
def test_a_repository_that_refuses_is_one_line(
    places: cluster_restore.Places,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    said: str,
    line: str,
) -> None:
    listing(tmp_path, script=f"echo '{said}' >&2; exit 1")
    assert refusal(places, capfd) == line


def test_an_archive_of_its_own_that_has_this_system_already_is_refused(
    places: cluster_restore.Places, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    own = {"BACKUP_URL": "s3://backups/copies/main"}
    listing(tmp_path, script=f'case "$6" in copies/main/{SYSTEM}/) echo "$6"wals/;; esac')
    assert refusal(places, capfd, RESTORE_SYSTEM=SYSTEM, **own) == (
        "s3://backups/copies/main has WAL or backups of this database system already, which the "
        "new cluster would overwrite; give spec.backup another prefix"
    )


def test_data_that_were_there_before_stay(
    places: cluster_restore.Places, capfd: pytest.CaptureFixture[str]
) -> None:
    (places.data / "PG_VERSION").write_text("16\n")
    assert cluster_restore.run(RESTORE, places) == 1
    assert (places.data / "PG_VERSION").read_text() == "16\n"
    assert "is not empty" in capfd.readouterr().err
    assert cluster_restore.unfinished(places.data, places.note) == ""
    assert (places.data / "PG_VERSION").exists()


def test_what_a_restore_left_that_was_ended_is_removed(places: cluster_restore.Places) -> None:
    assert cluster_restore.run(RESTORE, places) == 0
    (places.data / "base").mkdir()
    (places.data / "pg_wal").symlink_to(places.secrets)
    assert cluster_restore.unfinished(places.data, places.note) == cluster_restore.DID_NOT_END
    assert not any(places.data.iterdir())
    assert (places.secrets / "restore_credentials").exists()


def test_a_note_that_is_removed_lets_the_data_be(places: cluster_restore.Places) -> None:
    assert cluster_restore.run(RESTORE, places) == 0
    cluster_restore.remove_note(places.note)
    assert cluster_restore.unfinished(places.data, places.note) == ""
    assert (places.data / "PG_VERSION").exists()


@pytest.mark.parametrize(
    ("script", "status", "tries"),
    [
        ('test $(wc -l < "$0.tries") -gt 2 || exit 4', 0, 3),
        ("echo 'ERROR: Could not connect to the endpoint' >&2; exit 4", 255, 30),
        ("echo 'WAL file 1 for server 7 does not exist' >&2; exit 1", 1, 1),
    ],
)
def test_a_parents_file_is_asked_for_again_before_the_recovery_stops(
    places: cluster_restore.Places, data: Path, *, script: str, status: int, tries: int
) -> None:
    programs = barman(places.programs.parent, "wal-restore", f'echo >> "$0.tries"; {script}')
    words = ["000000010000000000000007", str(data / "pg_wal/RECOVERYXLOG")]
    found = wal.patiently_restore(words, RESTORE, places.secrets, programs, 0.0)
    asked = (programs / "barman-cloud-wal-restore.tries").read_text().count("\n")
    assert (found, asked) == (status, tries)


def test_why_a_restore_failed_is_among_patronis_tags() -> None:
    why = 'target time: is not covered; see "backup"'
    text = with_tag("name: member-1\ntags: {clonefrom: true}\n", why, RESTORE_TAG)
    assert json.dumps(why)[1:-1].replace("\\", "") in text
    assert "clonefrom: true" in text


def test_the_health_check_knows_the_note_of_a_restore() -> None:
    assert health.NOTE == cluster_restore.NOTE


def test_the_next_start_says_why_and_begins_with_an_empty_directory(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    paths = Paths.under(tmp_path)
    for directory in (paths.data, paths.raft, paths.config.parent):
        directory.mkdir(parents=True)
    (paths.data / "PG_VERSION").touch()
    cluster_restore.write_note(paths.raft / cluster_restore.NOTE.name, "there is no bucket")
    write_private(paths.config, "name: member-1\n")
    assert start_again(paths)
    assert not any(paths.data.iterdir())
    tags = yaml.safe_load(paths.config.read_text())["tags"]
    assert tags == {"queenright_restore": "there is no bucket"}
    assert "the restore begins again: there is no bucket" in capfd.readouterr().err
    (paths.raft / cluster_restore.NOTE.name).unlink()
    (paths.data / "PG_VERSION").touch()
    assert not start_again(paths)
    assert (paths.data / "PG_VERSION").exists()
