"""A real PostgreSQL 16 on loopback for tests: as bare as the members', with the same passwords."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from tests.lab.base_images import add_amcheck, unpack_postgres
from tests.lab.settings import LabSettings

NOBODY = 65534
SUPERUSER_PASSWORD = "the superuser's, of this test alone"


def binaries() -> Path:
    """PostgreSQL's programs, out of the same wheel as the lab's member image."""
    directory = LabSettings.from_environment().directory
    directory.mkdir(parents=True, exist_ok=True)
    home = Path(tempfile.gettempdir()) / "queenright-postgresql"
    with (directory / "postgresql.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / "postgresql/16/bin/postgres").exists():
            fresh = Path(tempfile.mkdtemp(prefix="queenright-postgresql-"))
            fresh.chmod(0o755)
            unpack_postgres(fresh, directory / "builder/downloads")
            # The programs find their libraries by a path relative to their own.
            (fresh / "postgresql").mkdir()
            (fresh / "16").rename(fresh / "postgresql/16")
            shutil.rmtree(home, ignore_errors=True)
            fresh.rename(home)
        add_amcheck(home / "postgresql/16", directory / "builder/downloads")
    return home / "postgresql/16/bin"


@dataclass
class RealPostgres:
    """One server; its data lives and dies with it. DDL is logged, as in the contract (§2.5)."""

    home: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="catalog-pg-")))
    port: int = 0
    programs: Path | None = None
    """The directory of its programs, if they are not those of the lab's member image."""
    process: subprocess.Popen[bytes] | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    """Parameters beside the usual ones."""

    def __post_init__(self) -> None:
        self.home.chmod(0o755)
        os.chown(self.home, NOBODY, NOBODY)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])

    @property
    def log(self) -> str:
        return (self.home / "log").read_text()

    def start(self) -> RealPostgres:
        programs = self.programs or binaries()
        password = self.home / "password"
        password.write_text(SUPERUSER_PASSWORD)
        initdb = [str(programs / "initdb"), f"--pgdata={self.home / 'data'}", "-U", "postgres"]
        initdb += ["--no-sync", "-A", "scram-sha-256", "-E", "UTF8", "--locale=C.UTF-8"]
        subprocess.run(
            [*initdb, f"--pwfile={password}"],
            check=True,
            capture_output=True,
            user=NOBODY,
            group=NOBODY,
            cwd=self.home,
        )
        password.unlink()
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": self.home,
            "log_statement": "ddl",
            "log_connections": "on",
            "fsync": "off",
            "max_connections": 200,
            **self.settings,
        }
        options = [f"-c{key}={value}" for key, value in settings.items()]
        with (self.home / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [programs / "postgres", "-D", self.home / "data", *options],
                stdout=log,
                stderr=log,
                user=NOBODY,
                group=NOBODY,
                cwd=self.home,
                start_new_session=True,
            )
        deadline = time.monotonic() + 30
        while True:
            try:
                self.connect().close()
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise RuntimeError(self.log) from None
                time.sleep(0.05)
            else:
                return self

    def connect(
        self, database: str = "postgres", user: str = "postgres", password: str = SUPERUSER_PASSWORD
    ) -> psycopg.Connection[tuple[Any, ...]]:
        return psycopg.connect(
            host="127.0.0.1",
            port=self.port,
            dbname=database,
            user=user,
            password=password,
            autocommit=True,
            client_encoding="utf8",
        )

    def sql(self, statement: Any, database: str = "postgres") -> list[tuple[Any, ...]]:
        with self.connect(database) as connection:
            found = connection.execute(statement)
            return found.fetchall() if found.description else []

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait(20)
        shutil.rmtree(self.home, ignore_errors=True)


@contextlib.contextmanager
def real_postgres(**settings: str) -> Iterator[RealPostgres]:
    server = RealPostgres(settings=settings)
    try:
        yield server.start()
    finally:
        server.stop()
