"""The member's ``pg_rewind`` with real servers: whole, refused, and cut off in the middle.

A former leader and the one that was promoted beside it have each written a table; the connection
goes through a forwarder of the test's, which breaks after some megabytes.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from images.member.queenright_member.findings import damage_of
from images.member.queenright_member.removed import noted
from images.member.queenright_member.rewind import CONTROL, NOTE, take_note
from tests.contract.backup_places import copied, initialise, installed, passable, server_in
from tests.contract.postgres_server import Server
from tests.contract.real_postgres import NOBODY, SUPERUSER_PASSWORD, binaries

pytestmark = pytest.mark.lab

SETTINGS = {"wal_log_hints": "on", "wal_keep_size": "512MB", "max_wal_size": "4GB"}
MUCH = "CREATE TABLE {} AS SELECT n, repeat(md5(n::text), 20) AS t FROM generate_series(1, 40000) n"
BREAKS_AFTER = 8 << 20


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with passable("rewind-") as found:
        yield found


@pytest.fixture(scope="module")
def wrapper(place: Path) -> Path:
    """The member's program, where Patroni finds it before PostgreSQL's."""
    return installed(place, "pg_rewind")


@pytest.fixture
def former(place: Path) -> Iterator[tuple[Server, Server]]:
    """A stopped former leader that has gone its own way, and the leader of now."""
    for name in ("former", "leader"):
        shutil.rmtree(place / name, ignore_errors=True)
    old, new = server_in(place, "former"), server_in(place, "leader")
    (old.home / "raft").mkdir()
    os.chown(old.home / "raft", NOBODY, NOBODY)
    initialise(old)
    old.start(**SETTINGS)
    old.sql("CREATE TABLE kept (number integer)")
    old.sql("INSERT INTO kept VALUES (1)")
    copied(old, new)
    new.start(**SETTINGS)
    new.sql("SELECT pg_promote(true, 60)")
    new.sql("CHECKPOINT")
    old.sql(MUCH.format("lost"))
    new.sql(MUCH.format("taken"))
    old.stop()
    try:
        yield old, new
    finally:
        for server in (old, new):
            server.stop()


@contextmanager
def forwarded(port: int, breaks_after: int) -> Iterator[int]:
    """Forward connections to a port, and break all of them after so many bytes of its answers."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(60)

    def pump(source: socket.socket, target: socket.socket, most: int) -> None:
        while most > 0 and (data := source.recv(65536)):
            target.sendall(data)
            most -= len(data)
        for side in (source, target):
            side.shutdown(socket.SHUT_RDWR)

    def serve() -> None:
        client, _ = listener.accept()
        server = socket.create_connection(("127.0.0.1", port))
        back = threading.Thread(target=quiet, args=(pump, server, client, breaks_after))
        back.start()
        quiet(pump, client, server, 1 << 40)
        back.join(60)

    thread = threading.Thread(target=quiet, args=(serve,), daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.close()
        thread.join(60)


def quiet(call: object, *arguments: object) -> None:
    """Call a function whose connection the other side may have closed."""
    try:
        call(*arguments)  # type: ignore[operator]
    except OSError:
        return


def rewind(
    program: Path, old: Server, port: int, **variables: str
) -> subprocess.CompletedProcess[str]:
    source = f"host=127.0.0.1 port={port} user=postgres dbname=postgres"
    return subprocess.run(
        [str(program), "-D", str(old.data), "--source-server", source],
        user=NOBODY,
        group=NOBODY,
        cwd=old.home,
        env={
            "PATH": f"{program.parent}:{binaries()}:/usr/bin:/bin",
            "PGPASSWORD": SUPERUSER_PASSWORD,
            "LC_ALL": "C",
            **variables,
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.timeout(600)
def test_a_rewind_that_ends_is_postgresqls_own(
    wrapper: Path, former: tuple[Server, Server]
) -> None:
    old, new = former
    done = rewind(wrapper, old, new.port)
    assert done.returncode == 0, done.stderr
    assert "need to copy" in done.stderr
    assert " kB (" not in done.stderr
    assert not (old.home / "raft" / NOTE).exists()
    assert not take_note(old.data, old.home / "raft")
    (removed,) = noted(old.home / "raft")  # the table `lost`, and what autovacuum made of it
    assert removed["timeline"] == 1
    assert isinstance(removed["commits"], int)
    assert 1 <= removed["commits"] < 20
    (old.data / "standby.signal").touch()
    os.chown(old.data / "standby.signal", NOBODY, NOBODY)
    source = f"host=127.0.0.1 port={new.port} user=postgres password={SUPERUSER_PASSWORD}"
    old.start(**SETTINGS, primary_conninfo=source)
    assert old.sql("SELECT count(*) FROM taken") == [(40000,)]
    assert old.sql("SELECT to_regclass('lost')") == [(None,)]


@pytest.mark.timeout(600)
def test_a_rewind_that_changes_nothing_leaves_the_directory(
    wrapper: Path, former: tuple[Server, Server]
) -> None:
    old, new = former
    before = (old.data / CONTROL).read_bytes()
    new.stop()
    refused = rewind(wrapper, old, new.port)
    assert refused.returncode == 1
    assert "connection to server" in refused.stderr
    assert (old.data / CONTROL).read_bytes() == before
    assert not (old.home / "raft" / NOTE).exists()
    assert not take_note(old.data, old.home / "raft")
    assert damage_of(old.data) == ""


@pytest.mark.timeout(600)
def test_wal_that_a_former_leader_has_removed_comes_from_the_archive(
    wrapper: Path, former: tuple[Server, Server], place: Path
) -> None:
    """After a power cut the recovery's own checkpoint removes what a rewind reads."""
    old, new = former
    archive = place / "archive"
    shutil.rmtree(archive, ignore_errors=True)
    archive.mkdir()
    apart = (new.data / "pg_wal/00000002.history").read_text().split()[1]
    high, low = (int(part, 16) for part in apart.split("/"))
    segment = f"00000001{high:08X}{low >> 24:08X}"
    for file in (old.data / "pg_wal").glob("[0-9A-F]" * 24):
        if file.name <= segment:
            shutil.move(file, archive)
    lacking = rewind(wrapper, old, new.port)
    assert lacking.returncode == 1
    assert f'{segment}": No such file' in lacking.stderr
    assert "runs again" not in lacking.stderr
    program = wrapper.with_name("wal-restore")
    program.write_text(f'#!/bin/sh\nexec cp {archive}/"$1" "$2"\n')
    program.chmod(0o755)
    done = rewind(wrapper, old, new.port, BACKUP_URL="s3://some/where")
    assert done.returncode == 0, done.stderr
    assert "runs again, with the archive" in done.stderr
    assert not (old.home / "raft" / NOTE).exists()
    (old.data / "standby.signal").touch()
    os.chown(old.data / "standby.signal", NOBODY, NOBODY)
    source = f"host=127.0.0.1 port={new.port} user=postgres password={SUPERUSER_PASSWORD}"
    old.start(**SETTINGS, primary_conninfo=source)
    assert old.sql("SELECT count(*) FROM taken") == [(40000,)]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("is_killed", [False, True], ids=["broken off", "killed"])
def test_nothing_starts_on_what_a_rewind_has_left_half_done(
    wrapper: Path, former: tuple[Server, Server], *, is_killed: bool
) -> None:
    old, new = former
    with forwarded(new.port, BREAKS_AFTER) as port:
        torn = rewind(wrapper, old, port)
    assert torn.returncode == 1
    assert "need to copy" in torn.stderr
    assert damage_of(old.data) == "damaged-control-file"
    note = old.home / "raft" / NOTE
    assert note.exists()
    if is_killed:
        # Patroni begins another one in the same container: it neither helps nor harms.
        again = rewind(wrapper, old, new.port)
        assert (again.returncode, note.exists()) == (1, True)
        assert "a former rewind did not end" in again.stderr
    # The entry point of the next container.
    assert take_note(old.data, old.home / "raft")
    assert damage_of(old.data) == "interrupted-copy"
    assert not note.exists()
    assert not take_note(old.data, old.home / "raft")
    assert damage_of(old.data) == "interrupted-copy"


@pytest.mark.timeout(600)
def test_a_new_copy_in_the_same_container_stays_and_can_be_rewound(
    wrapper: Path, former: tuple[Server, Server]
) -> None:
    """A person asks for it (`patronictl reinit`) before the container ends, as the hold says."""
    old, new = former
    with forwarded(new.port, BREAKS_AFTER) as port:
        assert rewind(wrapper, old, port).returncode == 1
    note = old.home / "raft" / NOTE
    assert note.exists()
    shutil.rmtree(old.data)
    copied(new, old)
    # The next container's entry point takes it for what it is.
    assert not take_note(old.data, old.home / "raft")
    assert damage_of(old.data) == ""
    assert not note.exists()
    # It leads, goes its own way, and is rewound like any other; torn again, it is known for that.
    old.start(**SETTINGS)
    old.sql("SELECT pg_promote(true, 60)")
    old.sql(MUCH.format("lost_again"))
    new.sql(MUCH.format("taken_too"))
    old.stop()
    with forwarded(new.port, BREAKS_AFTER) as port:
        assert rewind(wrapper, old, port).returncode == 1
    assert take_note(old.data, old.home / "raft")
    assert damage_of(old.data) == "interrupted-copy"


@pytest.mark.timeout(600)
def test_postgresqls_own_leaves_a_directory_that_looks_whole(
    former: tuple[Server, Server],
) -> None:
    """The danger that the member's program is there for."""
    old, new = former
    with forwarded(new.port, BREAKS_AFTER) as port:
        torn = rewind(binaries() / "pg_rewind", old, port)
    assert torn.returncode == 1
    assert damage_of(old.data) == ""


def test_other_calls_are_postgresqls_own(wrapper: Path, former: tuple[Server, Server]) -> None:
    """Patroni asks with `--help` if there is such a program."""
    old, _ = former
    said = subprocess.run(
        [str(wrapper), "--version"],
        env={"PATH": f"{wrapper.parent}:{binaries()}:/usr/bin:/bin"},
        cwd=old.home,
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.startswith("pg_rewind (PostgreSQL) 1")
