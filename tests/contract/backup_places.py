"""Stores, the member's programs and servers of PostgreSQL's user, for the tests of backups."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.contract.postgres_server import Server
from tests.contract.real_postgres import NOBODY, SUPERUSER_PASSWORD
from tests.lab.product_images import IMAGES
from tests.support.certificates import certificate, only_certificate
from tests.support.member_programs import PYTHON, MemberPrograms
from tests.support.object_store import ACCESS_KEY, SECRET_KEY, ObjectStore


@contextmanager
def passable(prefix: str) -> Iterator[Path]:
    """Make a directory that PostgreSQL's user may pass, as pytest's own is not."""
    with tempfile.TemporaryDirectory(prefix=prefix) as found:
        Path(found).chmod(0o755)
        yield Path(found)


def installed(place: Path, name: str) -> Path:
    """Lay out a program of the member's that Patroni finds before PostgreSQL's of that name."""
    folder, package = place / "first", place / "package"
    folder.mkdir()
    ignored = shutil.ignore_patterns("__pycache__")
    source = IMAGES / "member/queenright_member"
    shutil.copytree(source, package / source.name, ignore=ignored)
    path = folder / name
    first, rest = (IMAGES / "member/first" / name).read_text().split("\n", 1)
    assert first.endswith("python3 -I")
    path.write_text(f"#!{PYTHON} -I\nimport sys\nsys.path.insert(0, {str(package)!r})\n{rest}")
    path.chmod(0o755)
    return path


@contextmanager
def store_with_tls(home: Path) -> Iterator[ObjectStore]:
    """Run a store behind a certificate that it has signed itself."""
    good = home / "good.pem"
    certificate(good, 2090)
    found = ObjectStore(home / "swift", good)
    try:
        yield found.start()
    finally:
        found.stop()


def programs_in(place: Path, store: ObjectStore, folder: str) -> MemberPrograms:
    """Lay out the member's programs, for a folder in the store's buckets, with their secrets."""
    home = place / "programs"
    home.mkdir()
    variables = {"BACKUP_URL": f"s3://{folder}", "BACKUP_ENDPOINT": store.endpoint}
    found = MemberPrograms(home, variables).lay_out()
    found.write_credentials(ACCESS_KEY, SECRET_KEY)
    if store.certificate is not None:
        (found.secrets / "backup_ca").write_text(only_certificate(store.certificate))
    (found.secrets / "pg_superuser_pw").write_text(SUPERUSER_PASSWORD)
    for secret in found.secrets.iterdir():
        os.chown(secret, NOBODY, NOBODY)
        secret.chmod(0o400)
    return found


def server_in(place: Path, name: str) -> Server:
    """Return a server with a home of its own, which is not started."""
    home = place / name
    home.mkdir()
    os.chown(home, NOBODY, NOBODY)
    return Server(home)


@contextmanager
def servers_in(place: Path, *names: str) -> Iterator[dict[str, Server]]:
    """Return servers by name, none of them started, and stop them in the end."""
    found = {name: server_in(place, name) for name in names}
    try:
        yield found
    finally:
        for server in found.values():
            server.stop()


def initialise(server: Server) -> None:
    """Make the server's data directory, with a superuser's password."""
    (server.home / "pw").write_text(SUPERUSER_PASSWORD)
    server.program(
        "initdb", f"--pgdata={server.data}", "-U", "postgres", "-A", "scram-sha-256",
        "--no-sync", "-E", "UTF8", "--locale=C.UTF-8", f"--pwfile={server.home / 'pw'}",
    )  # fmt: skip


def copied(leader: Server, to: Server) -> None:
    """Copy a running leader's data for a replica of it, which is not started."""
    to.program(
        "pg_basebackup", "-h", "127.0.0.1", "-p", str(leader.port), "-U", "postgres",
        "-D", str(to.data), "-R", "-c", "fast",
    )  # fmt: skip


def archived(server: Server) -> str:
    """Finish the WAL file in hand, and return its name once it is in the repository."""
    (name,) = server.sql("SELECT pg_walfile_name(pg_switch_wal())")[0]
    deadline = time.monotonic() + 600
    while True:
        (last,) = server.sql("SELECT last_archived_wal FROM pg_stat_archiver")[0]
        if last is not None and str(last)[:24] >= str(name):
            return str(name)
        assert time.monotonic() < deadline, (server.home / "log").read_text()[-3000:]
        time.sleep(0.3)
