"""Backups with a real PostgreSQL and a real S3 server: every acknowledged row comes back.

The archiving begins on one timeline and goes on on the next; the base backup is a replica's.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from images.member.queenright_member.backup.repository import system_identifier
from queenright.core.kinds.postgres_cluster.schema.parameters import ARCHIVING_PARAMETERS
from tests.contract.backup_places import archived, copied, initialise, programs_in, servers_in
from tests.contract.postgres_server import Server
from tests.contract.real_postgres import NOBODY
from tests.support.member_programs import MemberPrograms
from tests.support.object_store import SECRET_KEY, ObjectStore

pytestmark = pytest.mark.lab

BUCKET = "backups"
MODE = ARCHIVING_PARAMETERS["archive_mode"]


@pytest.fixture
def programs(store: ObjectStore, place: Path) -> MemberPrograms:
    return programs_in(place, store, f"{BUCKET}/some/folder/main")


@pytest.fixture
def servers(place: Path) -> Iterator[dict[str, Server]]:
    with servers_in(place, "first", "second", "restored") as found:
        yield found


def insert(server: Server, numbers: range) -> None:
    for number in numbers:
        server.sql("INSERT INTO kept VALUES (%s)", number)


def pair(
    programs: MemberPrograms, servers: dict[str, Server], mode: str = MODE
) -> tuple[Server, Server]:
    """Start a server with ten rows and a replica of it, which archive only when a file is full or
    left, and not at all while there is a file `stuck`."""
    programs.make_bucket(BUCKET)
    first, second = servers["first"], servers["second"]
    initialise(first)
    archiving = {"archive_mode": mode, "wal_level": "replica"}
    command = programs.command("wal-archive", "%p")
    first.start(archive_command=f"test ! -e {first.home / 'stuck'} && {command}", **archiving)
    first.sql("CREATE TABLE kept (number integer)")
    insert(first, range(10))
    copied(first, second)
    second.start(archive_command=command, **archiving)
    return first, second


@pytest.mark.timeout(1800)
def test_every_acknowledged_row_is_restored(
    programs: MemberPrograms, servers: dict[str, Server]
) -> None:
    first, second = pair(programs, servers)
    restored = servers["restored"]
    insert(first, range(10, 20))
    second.sql("SELECT 1")

    at_second = {"BACKUP_HOST": "127.0.0.1", "BACKUP_PORT": str(second.port)}
    made = programs.run("base-backup", str(second.data), user=NOBODY, **at_second)
    assert (made.stderr, made.returncode) == ("", 0)
    assert made.stdout.startswith("backed up id=")
    assert end_of(made.stdout) in whole_files(programs, second), "the leader has left the file"
    listed = programs.run("backup-list", str(second.data), user=NOBODY)
    (backup,) = [json.loads(line) for line in listed.stdout.splitlines()]
    assert (backup["status"], backup["timeline"], backup["error"]) == ("DONE", 1, None)
    assert backup["bytes"] > 1_000_000
    words = " ".join(f"{key}={backup[key]}" for key in ("begin_wal", "end_wal", "bytes"))
    assert f"id={backup['id']} begin={backup['begin']} end={backup['end']} {words}" in made.stdout

    insert(first, range(20, 30))
    first.stop()
    second.sql("SELECT pg_promote(true, 60)")
    insert(second, range(30, 40))
    archived(second)

    assert restored_rows(programs, restored, second) == [(n,) for n in range(40)]
    assert_retention(programs, second, backup)
    assert_nothing_told(first, second, restored)


def end_of(said: str) -> str:
    """Return the WAL file with which a backup ends, by the line of the program."""
    return said.partition(" end_wal=")[2].partition(" ")[0]


def whole_files(programs: MemberPrograms, server: Server) -> set[str]:
    """Return the names of the WAL files that the system's archive has whole."""
    of_system = f"/{system_identifier(server.data)}/wals/"
    files = [name for name in programs.stored(BUCKET) if of_system in name]
    names = [name.rpartition("/")[2].split(".") for name in files]
    return {name[0] for name in names if len(name[0]) == 24 and name[1:] in ([], ["gz"])}


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("is_lost", [False, True], ids=["killed", "shut-down"])
def test_a_backup_is_done_when_it_can_be_restored_also_across_a_change_of_the_leader(
    programs: MemberPrograms, servers: dict[str, Server], *, is_lost: bool
) -> None:
    """A server that is shut down begins another file. Where replicas keep nothing, as before their
    restart with `archive_mode: always`, nobody archives the former one."""
    first, second = pair(programs, servers, "on")
    archived(first)
    insert(first, range(10, 20))
    (first.home / "stuck").touch()
    at_second = {"BACKUP_HOST": "127.0.0.1", "BACKUP_PORT": str(second.port)}

    def back_up(**variables: str) -> subprocess.CompletedProcess[str]:
        variables |= at_second
        return programs.run("base-backup", str(second.data), user=NOBODY, **variables)

    # The leader archives nothing: the backup is there, and is not done.
    late = back_up(ARCHIVED_S="0")
    (backup,) = [json.loads(line) for line in lines_of(programs, second)]
    lacking = f"base backup {backup['id']} can't be restored (WAL file {backup['end_wal']}, which"
    assert (late.returncode, late.stdout) == (1, "")
    assert late.stderr.startswith(f"base-backup: failed: {lacking} it needs, is not in bucket ")

    # The next job waits for it, unless the next leader's timeline has not got its end either.
    if is_lost:
        first.stop()
    else:
        first.kill()
    second.sql("SELECT pg_promote(true, 60)")
    insert(second, range(20, 30))
    made = back_up(BACKUP_DUE=backup["begin"])
    assert (made.stderr, made.returncode) == ("", 0)
    assert (f"id={backup['id']} " not in made.stdout) == is_lost
    whole, on_next = whole_files(programs, second), f"00000002{backup['end_wal'][8:]}"
    assert backup["end_wal"] not in whole
    assert (on_next not in whole) == is_lost
    assert is_lost or any(f"{backup['end_wal']}.partial" in n for n in programs.stored(BUCKET))
    archived(second)
    restored = restored_rows(programs, servers["restored"], second)
    assert restored == [(number,) for number in range(30)]
    assert_late_target_refused(programs, second)


def assert_late_target_refused(programs: MemberPrograms, system: Server) -> None:
    """A new cluster begins with no target that is behind the end of the archive."""
    for file in ("credentials", "ca"):
        text = (programs.secrets / f"backup_{file}").read_text()
        (programs.secrets / f"restore_{file}").write_text(text)
    variables = {name: programs.variables[f"BACKUP_{name}"] for name in ("URL", "ENDPOINT")}
    variables["SYSTEM"] = system_identifier(system.data)
    empty = programs.home / "empty"
    empty.mkdir()
    last = max(whole_files(programs, system), key=lambda name: (name[8:], name))
    for target in ("time 2090-01-01 00:00:00+00:00", "lsn 7/0"):
        asked = {f"RESTORE_{k}": v for k, v in {**variables, "TARGET": target}.items()}
        found = programs.run("cluster-restore", str(empty), BACKUP_URL="", **asked)
        assert (found.returncode, found.stdout) == (1, "")
        assert f"{target} is not covered, as the archive {variables['URL']} ends" in found.stderr
        assert f"with WAL file {last}, archived at 2" in found.stderr
        assert not any(empty.iterdir())


def restored_rows(
    programs: MemberPrograms, restored: Server, system: Server
) -> list[tuple[object, ...]]:
    """Restore the latest backup and what the archive has, and return the table's rows."""
    wanted = programs.run(
        "base-restore", str(system.data), "latest", str(restored.data), user=NOBODY
    )
    assert wanted.returncode == 0, wanted.stderr
    assert wanted.stdout.startswith("restored 2")
    (restored.data / "recovery.signal").touch()
    (restored.data / "standby.signal").unlink(missing_ok=True)
    os.chown(restored.data / "recovery.signal", NOBODY, NOBODY)
    restored.start(
        restore_command=programs.command("wal-restore", "%f", "%p"),
        recovery_target_action="promote",
    )
    restored.sql("SELECT 1")
    while restored.sql("SELECT pg_is_in_recovery()") == [(True,)]:
        time.sleep(0.2)
    return restored.sql("SELECT number FROM kept ORDER BY 1")


def assert_retention(
    programs: MemberPrograms, server: Server, former: Mapping[str, object]
) -> None:
    """A job makes none since it was due; what a later one does not keep is removed."""
    variables = {"BACKUP_HOST": "127.0.0.1", "BACKUP_PORT": str(server.port)}
    due = str(former["begin"])
    kept = {"BACKUP_DUE": due, "BACKUP_KEEP_COUNT": "1", "BACKUP_KEEP_DAYS": "1"}
    same = programs.run("base-backup", str(server.data), user=NOBODY, **variables, **kept)
    assert (same.stderr, same.returncode) == ("", 0)
    assert same.stdout.startswith(f"backed up id={former['id']} begin={due} ")
    assert len(same.stdout.splitlines()) == 1
    made = programs.run("base-backup", str(server.data), user=NOBODY, **variables)
    assert (made.stderr, made.returncode) == ("", 0)
    assert len(made.stdout.splitlines()) == 1
    kept = {"BACKUP_KEEP_COUNT": "1"}
    assert_listed_obsolete(programs, server, str(former["id"]), **kept)
    since = {"BACKUP_DUE": json.loads(lines_of(programs, server)[-1])["begin"]}
    same = programs.run("base-backup", str(server.data), user=NOBODY, **variables, **since, **kept)
    assert (same.stdout, same.stderr) == (made.stdout, "")
    listed = programs.run("backup-list", str(server.data), user=NOBODY)
    (left,) = [json.loads(line) for line in listed.stdout.splitlines()]
    assert left["id"] != former["id"]
    assert f"id={left['id']} begin={left['begin']} end={left['end']} " in made.stdout


def lines_of(programs: MemberPrograms, server: Server, **variables: str) -> list[str]:
    listed = programs.run("backup-list", str(server.data), user=NOBODY, **variables)
    lines = listed.stdout.splitlines()
    assert (listed.stderr, listed.returncode) == (f"listed {len(lines)} base backups\n", 0)
    return lines


def assert_listed_obsolete(
    programs: MemberPrograms, server: Server, former: str, **kept: str
) -> None:
    """The list says which one Barman would remove, and nothing is removed by that."""
    found = [json.loads(line) for line in lines_of(programs, server, **kept)]
    assert [(one["id"] == former, one["obsolete"]) for one in found] == [
        (True, True),
        (False, False),
    ]
    assert [json.loads(line)["obsolete"] for line in lines_of(programs, server)] == [False, False]


def assert_nothing_told(*servers: Server) -> None:
    """No credential is in a server's log or in its parameters."""
    for server in servers:
        assert SECRET_KEY not in (server.home / "log").read_text()
