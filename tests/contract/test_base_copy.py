"""The member's ``pg_basebackup`` with a real server: whole, refused, stopped and killed.

The connection goes through a forwarder of the test's, which keeps the backup's manifest back: by
then the program has all files, the control file too, and has synced none.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from images.member.queenright_member.base_copy import NOTE, OPTIONS, mark_interrupted
from images.member.queenright_member.findings import damage_of
from images.member.queenright_member.rewind import CONTROL, CONTROL_BYTES, MANIFEST
from tests.contract.backup_places import initialise, installed, passable, server_in
from tests.contract.postgres_server import Server
from tests.contract.real_postgres import NOBODY, SUPERUSER_PASSWORD, binaries

pytestmark = pytest.mark.lab

MANIFEST_BEGINS = b"PostgreSQL-Backup-Manifest-Version"
SETTINGS = {"wal_level": "replica", "max_wal_senders": "6"}


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with passable("copy-") as found:
        yield found


@pytest.fixture(scope="module")
def wrapper(place: Path) -> Path:
    """The member's program, where Patroni finds it before PostgreSQL's."""
    return installed(place, "pg_basebackup")


@pytest.fixture(scope="module")
def leader(place: Path) -> Iterator[Server]:
    server = server_in(place, "leader")
    initialise(server)
    server.start(**SETTINGS)
    server.sql("CREATE TABLE kept AS SELECT generate_series(1, 1000) AS number")
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def member(place: Path) -> Iterator[Server]:
    shutil.rmtree(place / "member", ignore_errors=True)
    server = server_in(place, "member")
    for name in ("raft", "data"):
        (server.home / name).mkdir(mode=0o700, exist_ok=True)
        os.chown(server.home / name, NOBODY, NOBODY)
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def without_manifest(port: int) -> Iterator[int]:
    """Forward connections to a port, and nothing more of an answer that begins a manifest."""
    listener = socket.create_server(("127.0.0.1", 0))
    sides: list[socket.socket] = [listener]

    def pump(source: socket.socket, target: socket.socket) -> None:
        with_former = b""
        try:
            while data := source.recv(65536):
                with_former = with_former[-len(MANIFEST_BEGINS) :] + data
                if MANIFEST_BEGINS in with_former:
                    target.sendall(data[: max(data.find(MANIFEST_BEGINS) - 32, 0)])
                    return
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            return

    def serve() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", port))
            sides.extend((client, server))
            for pair in ((client, server), (server, client)):
                threading.Thread(target=pump, args=pair, daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        for side in sides:
            side.close()


def begun(program: Path, member: Server, port: int) -> subprocess.Popen[bytes]:
    """Begin a copy as Patroni does."""
    where = f"host=127.0.0.1 port={port} user=postgres dbname=postgres"
    words = [f"--pgdata={member.data}", "-X", "stream", f"--dbname={where}", "--checkpoint=fast"]
    return subprocess.Popen(
        [str(program), *words, "--progress"],
        user=NOBODY,
        group=NOBODY,
        cwd=member.home,
        env={
            "PATH": f"{program.parent}:{binaries()}:/usr/bin:/bin",
            "PGPASSWORD": SUPERUSER_PASSWORD,
        },
        stderr=subprocess.DEVNULL,
    )


@contextmanager
def all_but_the_manifest(program: Path, member: Server, leader: Server) -> Iterator[int]:
    """A copy that has the control file, and not ended; yield the number of its process."""
    with without_manifest(leader.port) as port:
        process = begun(program, member, port)
        control = member.data / CONTROL
        try:
            await_true(lambda: control.exists() and control.stat().st_size == CONTROL_BYTES)
            assert process.poll() is None
            yield process.pid
        finally:
            process.kill()
            process.wait(60)
    await_true(lambda: not running(member.data))


def await_true(question: object) -> None:
    deadline = time.monotonic() + 60
    while not question():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.02)


def running(data: Path) -> list[str]:
    """The processes that copy into a directory."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if f"--pgdata={data}" in words:
            found.append(path.parent.name)
    return found


@pytest.mark.timeout(300)
def test_postgresqls_own_leaves_a_directory_that_looks_whole(
    member: Server, leader: Server
) -> None:
    """The danger that the member's program is there for."""
    with all_but_the_manifest(binaries() / "pg_basebackup", member, leader):
        pass
    assert (member.data / "backup_label").exists()
    assert not (member.data / MANIFEST).exists()
    assert damage_of(member.data) == ""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "stopped"])
def test_nothing_starts_on_what_a_copy_has_left(
    wrapper: Path, member: Server, leader: Server, number: signal.Signals
) -> None:
    with all_but_the_manifest(wrapper, member, leader) as process:
        assert len(running(member.data)) >= 2, "the member's program and PostgreSQL's"
        os.kill(process, number)
        # A kill leaves the process that streams WAL, as one of PostgreSQL's program does.
        await_true(lambda: len(running(member.data)) <= (number == signal.SIGKILL))
    assert (member.home / "raft" / NOTE).exists()
    # The entry point of the next container.
    assert mark_interrupted(member.data, member.home / "raft")
    assert damage_of(member.data) == "interrupted-copy"
    assert not (member.home / "raft" / NOTE).exists()


@pytest.mark.timeout(300)
def test_a_copy_that_ends_is_postgresqls_own(wrapper: Path, member: Server, leader: Server) -> None:
    assert begun(wrapper, member, leader.port).wait(120) == 0
    note = member.home / "raft" / NOTE
    assert not note.exists()
    assert (member.data / MANIFEST).exists()
    assert not (member.data / OPTIONS).exists()
    note.touch()  # a power cut may take its removal back
    assert not mark_interrupted(member.data, member.home / "raft")
    assert damage_of(member.data) == ""
    member.start(**SETTINGS)
    assert member.sql("SELECT count(*) FROM kept") == [(1000,)]
    assert (member.data / OPTIONS).exists()


@pytest.mark.timeout(300)
def test_a_copy_that_is_refused_leaves_nothing(
    wrapper: Path, member: Server, leader: Server
) -> None:
    assert begun(wrapper, member, 1).wait(60) == 1
    assert [*member.data.iterdir(), *(member.home / "raft").iterdir()] == []
    (member.data / "own").touch()
    assert begun(wrapper, member, leader.port).wait(60) == 1
    assert [path.name for path in member.data.iterdir()] == ["own"]
    assert [*(member.home / "raft").iterdir()] == []


def test_other_calls_are_postgresqls_own(wrapper: Path, member: Server) -> None:
    """Also a copy to somewhere else, such as a person makes."""
    path = f"{wrapper.parent}:{binaries()}:/usr/bin:/bin"
    command = [str(wrapper), "--version"]
    said = subprocess.run(
        command, env={"PATH": path}, cwd=member.home, capture_output=True, text=True, check=True
    )
    assert said.stdout.startswith("pg_basebackup (PostgreSQL) 1")
