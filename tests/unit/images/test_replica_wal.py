"""The restore command of replicas: what it fetches, and when it asks the archive no more."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest

from images.member.queenright_member.backup import replica_wal
from queenright.core.kinds.postgres_cluster.schema.parameters import (
    REPLICA_NOTE,
    REPLICA_PARAMETERS,
)
from tests.support.barman import URL, barman

SYSTEM = "7000000000000000001"
NAME = "000000010000000200000007"
ABSENT = f"echo 'ERROR: WAL file {NAME} for server {SYSTEM} does not exist' >&2; exit 1"
AWAY = "echo 'ERROR: Could not connect to the endpoint' >&2; exit 4"


@pytest.fixture
def places(tmp_path: Path, secrets: Path, data: Path) -> replica_wal.Places:
    (data / "pg_wal").mkdir()
    note = tmp_path / "replica"
    note.write_text(f"{SYSTEM}\n")
    return replica_wal.Places(secrets, note, barman(tmp_path, "wal-restore", "exit 0"))


def fetched(places: replica_wal.Places, name: str = NAME) -> int:
    return replica_wal.run([name, "pg_wal/RECOVERYXLOG"], URL, places)


def asked(places: replica_wal.Places) -> list[str]:
    """Return what Barman was called with, since the last question; empty where it was not."""
    file = places.programs.parent / "arguments"
    found = file.read_text().splitlines() if file.exists() else []
    file.unlink(missing_ok=True)
    return found


def test_a_file_is_fetched_whole_and_the_note_stays(places: replica_wal.Places, data: Path) -> None:
    assert fetched(places) == 0
    place = str(data / "pg_wal/RECOVERYXLOG")
    assert asked(places)[1:] == ["--no-partial", URL["BACKUP_URL"], SYSTEM, NAME, place]
    assert places.note.exists()


def test_the_end_of_the_archive_is_the_end_of_the_questions(
    places: replica_wal.Places, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    barman(tmp_path, "wal-restore", ABSENT)
    assert fetched(places) == 1
    assert not places.note.exists()
    assert "is not in the archive; the leader sends it" in capfd.readouterr().err
    assert asked(places)
    assert fetched(places) == 1
    assert asked(places) == []


def test_a_failure_is_not_the_end_of_the_archive(
    places: replica_wal.Places, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    barman(tmp_path, "wal-restore", AWAY)
    assert fetched(places) == 1
    assert places.note.exists()
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith(
        f"WAL {NAME}: is not fetched from the archive: Amazon S3 does not answer"
    )


@pytest.mark.parametrize("name", ["00000002.history", "000000010000000200000007.partial"])
def test_only_segments_are_fetched(places: replica_wal.Places, name: str) -> None:
    assert fetched(places, name) == 1
    assert asked(places) == []
    assert places.note.exists()


@pytest.mark.parametrize(
    ("position", "is_here"), [((2 << 32) + (7 << 24), True), ((1 << 32) + (7 << 24), False)]
)
def test_a_file_that_streams_is_not_asked_for_and_one_kept_under_its_name_is(
    places: replica_wal.Places, data: Path, *, position: int, is_here: bool
) -> None:
    page = struct.pack("=HHIQ", 0xD113, 2, 1, position)
    (data / "pg_wal" / NAME).write_bytes(page + bytes(100))
    assert fetched(places) == (1 if is_here else 0)
    assert (asked(places) == []) == is_here
    assert places.note.exists()


def test_a_note_of_another_system_is_removed(places: replica_wal.Places) -> None:
    places.note.write_text("7000000000000000002\n")
    assert fetched(places) == 1
    assert asked(places) == []
    assert not places.note.exists()


@pytest.mark.parametrize(
    ("script", "status"),
    [("exit 0", 0), ("exit 1", 1), ("exit 255", 1), ("kill -9 $$", 1), ("", 1)],
)
def test_the_parameter_looks_for_the_note_first_and_stops_no_server(
    tmp_path: Path, script: str, status: int
) -> None:
    command = REPLICA_PARAMETERS["restore_command"].replace(REPLICA_NOTE, str(tmp_path / "note"))
    command = command.replace("%f %p", f"{NAME} pg_wal/RECOVERYXLOG")
    program = tmp_path / "replica-wal-restore"
    if script:
        program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/called\n{script}\n')
        program.chmod(0o755)

    def run() -> int:
        environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
        done = subprocess.run(["/bin/sh", "-c", command], env=environment, check=False)
        return done.returncode

    assert run() == 1
    assert not (tmp_path / "called").exists()
    (tmp_path / "note").touch()
    assert run() == status
    if script:
        assert (tmp_path / "called").read_text() == f"{NAME} pg_wal/RECOVERYXLOG\n"
