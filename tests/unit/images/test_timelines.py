"""The base backups from which a timeline is reached, and what `restore-check` says of a restore.

Barman and its Python are scripts here; the real ones are in `tests/e2e/cluster/test_in_place.py`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from images.member.queenright_member.backup import cluster_restore, restore_check, timelines
from images.member.queenright_member.backup.barman import Barman, BarmanError
from images.member.queenright_member.backup.repository import read_repository
from tests.support.barman import NO_HISTORY, URL, archive, barman, stored

HISTORY = "1\t0/5000000\tno recovery target specified\n2\t0/6000100\tbefore 2026\n"
"""Of timeline 3, which left the second one in its sixth file."""
SYSTEM = 7000000000000000001
ENVIRON = {**URL, "BACKUP_ENDPOINT": "https://s3.example"}


FOUND = [
    stored(1, 1, "0/3000100"),
    stored(2, 2, "0/5800000"),
    stored(3, 2, "0/7000000"),
    stored(4, 3, "0/8000000"),
]
"""The third one ended behind the point at which the newest timeline left its own."""


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    barman(tmp_path, "backup-list", f"echo '{json.dumps({'backups_list': FOUND})}'")
    script = f'for word; do last=$word; done; printf "{HISTORY}" > $last'
    barman(tmp_path, "wal-restore", script)
    files = ("000000010000000000000003.gz", "000000020000000000000009.gz")
    files += ("000000030000000000000008.gz", "00000002.history", "00000003.history")
    return archive(tmp_path, *files)


@pytest.fixture
def secrets_here(tmp_path: Path) -> Path:
    found = tmp_path / "mounted"
    found.mkdir()
    (found / "backup_credentials").write_text("[default]\n")
    (found / "pg_superuser_pw").write_text("pw\n")
    return found


@pytest.fixture
def at(programs: Path, secrets_here: Path) -> Barman:
    return Barman(read_repository(ENVIRON, secrets_here), str(SYSTEM), programs)


def chosen(at: Barman, **variables: str) -> str:
    found = {f"RESTORE_{name}": text for name, text in variables.items()}
    return str(cluster_restore.chosen_backup(found, at)["id"])


@pytest.mark.parametrize(
    ("variables", "base"),
    [
        ({}, "20251122T040000"),
        ({"TARGET": "time 2025-11-22 03:30:00+00:00"}, "20251122T020000"),
        ({"TARGET": "time 2025-11-22 03:30:00+00:00", "TIMELINE": "2"}, "20251122T030000"),
        ({"TARGET": "lsn 0/7800000", "TIMELINE": "3"}, "20251122T020000"),
        ({"TIMELINE": "2"}, "20251122T030000"),
        ({"TIMELINE": "1"}, "20251122T010000"),
    ],
)
def test_a_backup_of_a_timeline_that_was_left_before_it_is_not_taken(
    at: Barman, variables: dict[str, str], base: str
) -> None:
    if variables.get("TIMELINE") == "2":
        barman(
            at.programs.parent,
            "wal-restore",
            'for w; do l=$w; done; printf "1\\t0/5000000\\n" > $l',
        )
    assert chosen(at, **variables) == base


def test_one_that_is_named_and_not_before_the_timeline_is_refused(at: Barman) -> None:
    with pytest.raises(BarmanError, match="no whole base backup 20251122T030000"):
        chosen(at, BACKUP="20251122T030000")


def test_without_a_history_every_backup_is_the_recoverys_to_judge(at: Barman) -> None:
    barman(at.programs.parent, "wal-restore", NO_HISTORY)
    assert chosen(at, TARGET="time 2025-11-22 03:30:00+00:00") == "20251122T030000"


def test_a_timeline_without_a_history_file_is_a_gap(at: Barman, tmp_path: Path) -> None:
    assert timelines.newest_timeline(at) == 3
    timelines.refuse_gaps(at)
    (tmp_path / "archived/00000002.history").unlink()
    with pytest.raises(BarmanError, match="WAL of timeline 2 and no file of its history"):
        timelines.refuse_gaps(at)


@pytest.mark.parametrize("text", ["x", "-1", "1 2"])
def test_a_timeline_that_is_none_is_refused(at: Barman, text: str) -> None:
    with pytest.raises(Exception, match="RESTORE_TIMELINE is not a timeline"):
        chosen(at, TIMELINE=text)


def places(tmp_path: Path, secrets_here: Path, programs: Path) -> restore_check.Places:
    data = tmp_path / "data"
    (data / "global").mkdir(parents=True)
    (data / "global/pg_control").write_bytes(SYSTEM.to_bytes(8, "little"))
    return restore_check.Places(data, secrets_here, programs, tmp_path, archived_s=0.0)


def test_the_check_prints_what_would_be_restored(
    tmp_path: Path, secrets_here: Path, programs: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = places(tmp_path, secrets_here, programs)
    assert restore_check.run({**ENVIRON, "RESTORE_TIMELINE": "3"}, found) == 0
    assert json.loads(capfd.readouterr().out) == {
        "system": str(SYSTEM),
        "base": "20251122T040000",
        "ended": "2025-11-22T04:01:00Z",
        "timeline": 3,
        "archived_to": "0/9000000",
        "archived_at": "2025-11-22T18:02:00Z",
    }
    early = {**ENVIRON, "RESTORE_TARGET": "time 2025-11-22 00:30:00+00:00"}
    assert restore_check.run(early, found) == 1
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.startswith("restore-check: target time 2025-11-22 00:30:00+00:00 is not cov")


def answering(programs: Path, line: str) -> None:
    """Have the leader answer the request to finish its WAL file with this line."""
    file = programs / "python"
    text = file.read_text().replace("    sys.exit(0)\n", f"    print({line!r}); sys.exit(0)\n")
    file.write_text(text)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("0/9000000 00000003", ""),
        ("0/8000001 00000003", ""),
        ("0/9000001 00000003", "the archive has no WAL up to 0/A000000 after 0 s; see that the"),
        ("0/5000000 00000004", "the archive has no WAL up to 0/5000000 after 0 s; see that the"),
        ("nothing", "the leader at 10.0.0.1:5432 does not finish its WAL file; see that it takes"),
    ],
)
def test_the_leader_finishes_its_file_and_the_archive_gets_it(
    tmp_path: Path,
    secrets_here: Path,
    programs: Path,
    capfd: pytest.CaptureFixture[str],
    *,
    answer: str,
    why: str,
) -> None:
    answering(programs, answer)
    environ = {**ENVIRON, "BACKUP_HOST": "10.0.0.1"}
    found = places(tmp_path, secrets_here, programs)
    assert restore_check.run(environ, found) == (1 if why else 0)
    said = capfd.readouterr().err.removeprefix("restore-check: ")
    assert said.startswith(why)
    assert (tmp_path / "switched").read_text() == "10.0.0.1 5432 postgres\n"


def test_in_place_the_clusters_own_archive_is_no_reason_to_refuse(
    tmp_path: Path, secrets_here: Path, programs: Path
) -> None:
    laid_out = "for word; do last=$word; done; echo $2 > $last/PG_VERSION"
    barman(tmp_path, "restore", laid_out)
    (tmp_path / "empty").mkdir()
    (secrets_here / "restore_credentials").write_text("[default]\n")
    own = {"RESTORE_URL": URL["BACKUP_URL"], "RESTORE_ENDPOINT": "https://s3.example"}
    found = cluster_restore.Places(
        tmp_path / "empty", secrets_here, tmp_path / "note", programs, 0.0
    )
    asked = {**ENVIRON, **own, "RESTORE_SYSTEM": str(SYSTEM), "RESTORE_IN_PLACE": "yes"}
    assert cluster_restore.run(asked, found) == 0
    assert [path.name for path in (tmp_path / "empty").iterdir()] == ["PG_VERSION"]
