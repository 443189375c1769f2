"""A replica made from a base backup: the choice, what is laid out, and what an end of it leaves.

Barman, its Python and the leader are scripts here; the real ones are in
`tests/contract/test_replica.py`.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from patroni.dcs import slot_name_from_member_name

from images.member.queenright_member import base_copy, rewind
from images.member.queenright_member.backup import leader, replica
from images.member.queenright_member.inputs import Paths
from images.member.queenright_member.start import start_again
from queenright.core.kinds.postgres_cluster.patroni.replica_methods import COMMAND
from queenright.core.kinds.postgres_cluster.schema.parameters import REPLICA_NOTE
from tests.support.barman import NO_HISTORY, URL, archive, barman, stored

ROOT = Path(__file__).parents[3]
SYSTEM = 7_000_000_000_000_000_001
ENVIRON = {**URL, "BACKUP_ENDPOINT": "https://s3.example", "NODE_NAME": "member-2"}
HISTORY = "1\t0/5000000\tno recovery target specified\n2\t0/6000100\tno recovery target specified\n"
"""Of timeline 3, which left the second one in its sixth file."""
LAID_OUT = (
    "for word; do to=$word; done; mkdir $to/global $to/pg_wal; cp {home}/pg_control $to/global; "
    "touch $to/PG_VERSION $to/standby.signal $to/patroni.dynamic.json"
)
ENDED_AS_BARMAN_BEGINS = """
import os, signal, subprocess, time
class Popen(subprocess.Popen):
    def __init__(self, line, **options):
        super().__init__(line, **options)
        if line[0].endswith("-restore"):
            while not (secrets.parent / "pid").exists():
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGTERM)
subprocess.Popen = Popen
"""
"""Patroni's signal comes when Barman runs, and the program does not have its process yet."""
GIVEN = 'for word; do to=$word; done; echo "1\t0/5000000" > $to'


FOUND = [
    stored(1, 1, "0/3000100"),
    stored(2, 2, "0/5800000"),
    {**stored(3, 2, "0/5900000"), "status": "FAILED"},
    stored(4, 2, "0/7000000"),
]
"""The last one ended behind the point at which the leader's timeline left its own."""
WAL = ("000000020000000000000005.gz", "000000030000000000000006.gz", "000000030000000000000007.gz")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    found = tmp_path / "pgdata"
    found.mkdir()
    return found


@pytest.fixture
def places(tmp_path: Path, secrets: Path) -> replica.Places:
    """A repository with base backups and WAL up to the position from which the leader keeps it."""
    (tmp_path / "pg_control").write_bytes(SYSTEM.to_bytes(8, "little"))
    (tmp_path / "raft").mkdir()
    programs = barman(tmp_path, "backup-list", f"echo '{json.dumps({'backups_list': FOUND})}'")
    barman(tmp_path, "wal-restore", GIVEN)
    barman(tmp_path, "restore", LAID_OUT.format(home=tmp_path))
    archive(tmp_path, *WAL)
    lists = programs / "lists"
    (programs / "python").rename(lists)
    text = (
        f'#!/bin/sh\ncase "$3" in *pg_replication_slots*) printf "%s\\n" "$@" > {tmp_path}/asked; '
    )
    (programs / "python").write_text(
        f'{text}exec cat {tmp_path}/leader;; esac\nexec {lists} "$@"\n'
    )
    (programs / "python").chmod(0o755)
    leads(tmp_path)
    return replica.Places(
        secrets, tmp_path / "raft/replica", programs, kept_s=0.0, archived_s=0.0, again_s=0.0
    )


def leads(
    tmp_path: Path, slot: str | None = "0/8000100", system: int = SYSTEM, timeline: int = 3
) -> None:
    """Have the leader say this."""
    said = {
        "system": str(system),
        "timeline": f"{timeline:08X}",
        "slot": slot,
        "histories": {"00000003.history": HISTORY},
    }
    (tmp_path / "leader").write_text(json.dumps(said))


def made(places: replica.Places, data: Path, **variables: str) -> int:
    words = [f"--datadir={data}", "--connstring=user=replicator host=10.77.0.12 port=5432"]
    return replica.run(["--scope=main", "--role=replica", *words], {**ENVIRON, **variables}, places)


def test_the_newest_backup_before_the_leaders_timeline_is_laid_out(
    places: replica.Places, data: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    former = [places.note.with_name(name) for name in (rewind.NOTE, base_copy.NOTE)]
    for note in former:
        note.touch()
    assert made(places, data) == 0
    assert sorted(path.name for path in data.iterdir()) == ["PG_VERSION", "global", "pg_wal"]
    assert (data / "pg_wal/00000003.history").read_text() == HISTORY
    assert sorted(path.name for path in (data / "pg_wal").iterdir()) == ["00000003.history"]
    assert places.note.read_text().strip() == str(SYSTEM)
    assert not any(note.exists() for note in former), "they were of other data"
    said = capfd.readouterr()
    assert "restores base backup 20251122T020000, which ended at " in said.out
    assert said.err == ""
    asked = (tmp_path / "asked").read_text()
    assert "user=replicator host=10.77.0.12 port=5432\npostgres\nmember_2\n" in asked
    assert "a:b" not in asked, "the superuser's password is in a file"


def test_the_histories_between_are_the_archives(
    places: replica.Places, data: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "found").write_text(json.dumps({"backups_list": FOUND[:1]}))
    barman(tmp_path, "backup-list", f"cat {tmp_path}/found")
    archive_files = ("000000010000000000000003", "000000010000000000000004")
    for name in archive_files:
        (tmp_path / f"archived/{name}.gz").write_text("2025-11-22T18:02:00+00:00")
    assert made(places, data) == 0
    assert (data / "pg_wal/00000002.history").read_text() == "1\t0/5000000\n"
    barman(tmp_path, "wal-restore", NO_HISTORY)
    (data / "PG_VERSION").unlink()
    replica.empty(data)
    assert refusal(places, data, capfd) == (
        "00000002.history is neither in bucket backups at https://s3.example nor on the leader"
    )


def refusal(
    places: replica.Places, data: Path, capfd: pytest.CaptureFixture[str], **variables: str
) -> str:
    """Return the one line with which it makes nothing."""
    capfd.readouterr()
    assert made(places, data, **variables) == 1
    assert not any(data.iterdir())
    assert not places.note.exists()
    (line,) = capfd.readouterr().err.splitlines()
    line = line.removeprefix("replica-restore: made nothing: ")
    assert line.endswith("; this member is copied from another one")
    return line.removesuffix("; this member is copied from another one")


def test_wal_that_neither_the_archive_nor_the_leader_has_is_a_refusal(
    places: replica.Places, data: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    replica.write_note(places.note, "of an earlier one")
    (tmp_path / f"archived/{WAL[1]}").unlink()
    assert refusal(places, data, capfd) == (
        "WAL file 000000030000000000000006, which base backup 20251122T020000 needs, is neither in "
        "bucket backups at https://s3.example nor kept by the leader"
    )
    # A file of the former timeline has not got what the leader's wrote behind the point.
    (tmp_path / "archived/000000020000000000000006.gz").write_text("2025-11-22T18:02:00+00:00")
    assert refusal(places, data, capfd).startswith("WAL file 000000030000000000000006, ")
    leads(tmp_path, slot="0/5900000")
    assert made(places, data) == 0


def test_what_a_leader_lacks_is_a_refusal(
    places: replica.Places, data: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    leads(tmp_path, slot=None)
    assert refusal(places, data, capfd) == (
        "the leader keeps no WAL for this member (no replication slot member_2); see that Patroni "
        "makes slots (`use_slots`)"
    )
    leads(tmp_path, timeline=4)
    assert refusal(places, data, capfd) == (
        "s3://backups/some/main has no whole base backup from which timeline 4 is reached"
    )
    leads(tmp_path, system=SYSTEM + 1)
    assert refusal(places, data, capfd) == "the leader has another database system now"
    (tmp_path / "leader").unlink()
    assert refusal(places, data, capfd).startswith("the leader does not answer; ")
    assert refusal(places, data, capfd, BACKUP_URL="").startswith("environment variable BACKUP_URL")


def test_a_repository_that_fails_leaves_nothing(
    places: replica.Places, data: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = f"{LAID_OUT.format(home=tmp_path)}; echo 'ERROR: Could not connect' >&2; exit 1"
    barman(tmp_path, "restore", script)
    assert refusal(places, data, capfd) == (
        "https://s3.example does not answer; see that it runs and is reached from this node"
    )


def test_data_that_are_there_stay(
    places: replica.Places, data: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (data / "PG_VERSION").write_text("16\n")
    assert made(places, data) == 1
    assert (data / "PG_VERSION").read_text() == "16\n"
    assert "is not empty" in capfd.readouterr().err


@pytest.mark.parametrize("moved", [0, 1, 3])
def test_the_next_start_removes_what_was_not_finished(
    tmp_path: Path, moved: int, capfd: pytest.CaptureFixture[str]
) -> None:
    paths = Paths.under(tmp_path)
    folder = paths.data / replica.FOLDER
    for name in ("base", "pg_wal", "global")[moved:]:
        (folder / name).mkdir(parents=True)
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("base", "pg_wal", "global")[:moved]:
        (paths.data / name).mkdir()
    paths.raft.mkdir()
    assert not start_again(paths)
    assert not any(paths.data.iterdir())
    assert "it begins again" in capfd.readouterr().err
    (paths.data / "global").mkdir()
    assert not start_again(paths)
    assert (paths.data / "global").exists()


@pytest.mark.parametrize("moment", ["while it runs", "as it begins"])
def test_one_that_patroni_ends_takes_barman_with_it(
    places: replica.Places, data: Path, tmp_path: Path, moment: str
) -> None:
    script = f"mkdir $(for w; do l=$w; done; echo $l)/base; echo $$ > {tmp_path}/pid; sleep 60"
    barman(tmp_path, "restore", script)
    program = (
        "import functools, sys\nfrom pathlib import Path\n"
        "from images.member.queenright_member.backup import replica\n"
        "secrets, note, programs = map(Path, sys.argv[3:])\n"
        "replica.Places = functools.partial(replica.Places, secrets, note, programs)\n"
        f"{ENDED_AS_BARMAN_BEGINS if moment == 'as it begins' else ''}"
        "replica.main()\n"
    )
    words = [f"--datadir={data}", "--connstring=host=10.77.0.12"]
    words += [str(places.secrets), str(places.note), str(places.programs)]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *words], env={**ENVIRON, "PATH": "/usr/bin:/bin"}, cwd=ROOT
    )
    deadline = time.monotonic() + 30
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
        assert moment == "as it begins" or process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    if moment == "while it runs":
        process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 1
    assert not any(data.iterdir())
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()


@pytest.mark.parametrize("name", ["member-2", "Db.One", "a" * 70, "ü-1"])
def test_the_slot_is_patronis(name: str) -> None:
    assert leader.slot_of(name) == slot_name_from_member_name(name)


def test_the_operators_words_are_the_programs() -> None:
    assert str(replica.NOTE) == REPLICA_NOTE
    for program in (COMMAND, "replica-wal-restore"):
        assert (ROOT / "images/member/bin" / program).stat().st_mode & 0o111
