"""The program of a drill: its choice, its refusals, and how it starts a server.

Barman and PostgreSQL are scripts here; the real ones are in `tests/contract/test_drill.py`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from images.member.queenright_member.backup import drill, drill_server
from images.member.queenright_member.backup.drill_server import DrillServer
from tests.support.barman import NO_HISTORY, URL, archive, barman
from tests.unit.images.parent_archive import stored

SYSTEM = {"BACKUP_SYSTEM": "7000000000000000001"}
LATEST = "20251122T080000"
SEGMENT = 16 << 20


@pytest.fixture
def places(tmp_path: Path, secrets: Path) -> drill.Places:
    """An empty directory, a repository with three backups, and a server that comes up at once."""
    (tmp_path / "empty").mkdir()
    found = {"backups_list": [stored(2), stored(4), stored(8), stored(9, "FAILED")]}
    barman(tmp_path, "backup-list", f"echo '{json.dumps(found)}'")
    laid_out = (
        "for word; do last=$word; done; touch $last/standby.signal $last/postgresql.auto.conf"
    )
    barman(tmp_path, "wal-restore", NO_HISTORY)
    barman(tmp_path, "restore", laid_out)
    programs = archive(tmp_path, "000000020000000000000009.gz")
    waits = (
        "exec env --default-signal=QUIT sleep 60"  # PostgreSQL handles it, however it is started
    )
    for name, script in (
        ("postgres", f"ls {tmp_path}/empty > {tmp_path}/found; {waits}"),
        ("pg_controldata", 'echo "max_connections setting:              120"'),
        ("pg_isready", f"test -s {tmp_path}/found"),
        ("psql", f"printf '{7 * SEGMENT}\\t{SEGMENT}\\t2025-11-22T08:09:10.5Z\\t4096\\t2\\n'"),
        ("pg_amcheck", ""),
    ):
        program(tmp_path, name, script)
    return drill.Places(tmp_path / "empty", secrets, programs, tmp_path, tmp_path / "postgresql")


def program(tmp_path: Path, name: str, script: str) -> None:
    """Write a stand-in for one of PostgreSQL's programs."""
    (tmp_path / "postgresql").mkdir(exist_ok=True)
    file = tmp_path / "postgresql" / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def refusal(places: drill.Places, capfd: pytest.CaptureFixture[str], **variables: str) -> str:
    assert drill.run([], URL | SYSTEM | variables, places) == 1
    (line,) = capfd.readouterr().err.splitlines()
    return str(line).removeprefix("backup-drill: failed: ")


def test_the_newest_whole_backup_is_restored_and_its_figures_are_one_line(
    places: drill.Places, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    wal = "000000020000000000000007"
    asked = {"DRILL_BACKUP": LATEST, "DRILL_WAL": wal}
    assert drill.run([], URL | SYSTEM | asked, places) == 0
    told = capfd.readouterr()
    assert re.fullmatch(
        f"proved backup={LATEST} seconds=[0-9]+ bytes=4096 databases=2 "
        "reached=2025-11-22T08:09:10.5Z canary=None",
        told.out.splitlines()[-1],
    )
    assert not any(places.data.iterdir()), "nothing is left of what was restored"
    assert (tmp_path / "found").read_text() == "recovery.signal\n"
    assert f"\n{LATEST}\n" in (tmp_path / "arguments").read_text()


def test_its_server_listens_on_no_port_archives_nothing_and_replicates_nothing(
    places: drill.Places, tmp_path: Path
) -> None:
    assert drill.run([], URL | SYSTEM, places) == 0
    settings = dict(
        line.split(" = ") for line in (tmp_path / "drill/conf").read_text().splitlines()
    )
    assert settings["listen_addresses"] == "''"
    assert settings["archive_mode"] == "'off'"
    assert settings["max_logical_replication_workers"] == "'0'"
    assert settings["restore_command"] == "'wal-restore %f %p'"
    assert settings["max_connections"] == "'120'"
    assert (tmp_path / "drill").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"BACKUP_SYSTEM": ""}, "environment variable BACKUP_SYSTEM is empty or unset"),
        ({"DRILL_BACKUP": "20251122T090000"}, "base backup 20251122T090000 was made, and"),
        ({"DRILL_WAL": "000000020000000000000008"}, "WAL file 000000020000000000000007"),
    ],
    ids=str,
)
def test_each_refusal_is_one_line(
    places: drill.Places,
    capfd: pytest.CaptureFixture[str],
    variables: dict[str, str],
    words: str,
) -> None:
    assert words in refusal(places, capfd, **variables)


def test_nothing_is_restored_over_data(
    places: drill.Places, capfd: pytest.CaptureFixture[str]
) -> None:
    (places.data / "PG_VERSION").touch()
    assert "is not empty" in refusal(places, capfd)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (
            "echo 'WAL 000000020000000000000007: is not restored: no answer'; exit 1",
            "WAL 000000020000000000000007 is not restored: no answer",
        ),
        ("echo 'x FATAL:  invalid page'; exit 1", "PostgreSQL did not recover: invalid page"),
        ("kill -9 $$", "raise spec.backup.drill.memory"),
        ("exit 1", "PostgreSQL did not recover: it gave no reason"),
    ],
)
def test_a_server_that_does_not_come_up_is_told_with_its_cause(
    places: drill.Places,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *,
    script: str,
    words: str,
) -> None:
    monkeypatch.setattr(drill_server, "LOOKS_S", 0.01)
    program(tmp_path, "postgres", script)
    program(tmp_path, "pg_isready", "exit 2")
    assert words in refusal(places, capfd)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo 'btree index \"x\":'; echo '  ERROR: order'; exit 2", 'btree index "x": ERROR'),
        ("echo 'no such extension' >&2; exit 1", "pg_amcheck could not check (no such extension)"),
    ],
)
def test_damage_and_a_check_that_fails_are_told(
    places: drill.Places,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    script: str,
    words: str,
) -> None:
    program(tmp_path, "pg_amcheck", script)
    assert words in refusal(places, capfd)


@pytest.mark.parametrize("wal", ["", "00000002.history", "000000020000000000000099.partial"])
def test_only_a_whole_segment_is_a_mark(wal: str) -> None:
    drill.check_reached(0, SEGMENT, wal)


def test_a_recovery_that_ended_early_names_the_file_that_it_lacked() -> None:
    with pytest.raises(drill.DrillError, match="WAL file 000000030000000100000002 "):
        drill.check_reached(
            (1 << 32) + 2 * SEGMENT + 40, SEGMENT, "00000003000000010000000A.00000028.backup"
        )


def test_what_the_server_says_before_it_has_recovered_is_no_cause(tmp_path: Path) -> None:
    server = DrillServer(tmp_path / "data", tmp_path, None, "true")
    server.home.mkdir()
    early = "FATAL:  the database system is starting up\n"
    (server.home / "log").write_text(
        f"{early}{early}FATAL:  WAL ends before end of online backup\n"
    )
    assert server.why_ended() == "PostgreSQL did not recover: WAL ends before end of online backup"
    (server.home / "log").write_text(f"{early}LOG:  database system is shut down\n")
    assert server.why_ended().endswith("LOG:  database system is shut down")
