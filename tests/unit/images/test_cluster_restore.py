"""The programs with which a cluster begins from a backup: choice, refusals, and new tries.

Barman is a script here, as is the Python that lists folders; the real ones are in
`tests/contract/test_restore.py` and `tests/e2e/cluster/test_backup.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from images.member.queenright_member import base_copy
from images.member.queenright_member.backup import cluster_restore, wal
from tests.support.barman import barman
from tests.unit.images.parent_archive import ARCHIVED_AT, RESTORE, SYSTEM, listing, parent_places


@pytest.fixture
def places(tmp_path: Path) -> cluster_restore.Places:
    return parent_places(tmp_path)


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
    places.note.with_name(base_copy.NOTE).touch()
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
    assert not places.note.with_name(base_copy.NOTE).exists(), "it was of other data"
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
