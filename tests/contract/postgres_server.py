"""A real PostgreSQL 16 on the loopback whose data directory a test makes, restores or copies."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import psycopg

from tests.contract.real_postgres import NOBODY, SUPERUSER_PASSWORD, binaries
from tests.support.ports import free_port


class Server:
    """A PostgreSQL of its own data directory, started and stopped as often as one likes."""

    def __init__(self, home: Path, password: str = SUPERUSER_PASSWORD) -> None:
        self.home, self.port, self.password = home, free_port(), password
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def data(self) -> Path:
        return self.home / "data"

    def program(self, name: str, *words: str) -> None:
        subprocess.run(
            [str(binaries() / name), *words],
            check=True,
            capture_output=True,
            user=NOBODY,
            group=NOBODY,
            cwd=self.home,
            env={**os.environ, "PGPASSWORD": self.password},
        )

    def start(self, **settings: str) -> None:
        options = {"port": str(self.port), "unix_socket_directories": str(self.home)}
        options |= {"listen_addresses": "127.0.0.1", "fsync": "off", **settings}
        with (self.home / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    binaries() / "postgres",
                    "-D",
                    self.data,
                    *(f"-c{k}={v}" for k, v in options.items()),
                ],
                stdout=log,
                stderr=log,
                user=NOBODY,
                group=NOBODY,
                cwd=self.home,
                start_new_session=True,
            )

    def sql(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        """Run a statement as soon as the server takes it."""
        deadline = time.monotonic() + 600
        while True:
            try:
                with psycopg.connect(
                    host="127.0.0.1", port=self.port, dbname="postgres", user="postgres",
                    password=self.password, autocommit=True,
                ) as connection:  # fmt: skip
                    found = connection.execute(statement.encode(), values or None)
                    return found.fetchall() if found.description else []
            except psycopg.OperationalError:
                if time.monotonic() > deadline or (
                    self.process and self.process.poll() is not None
                ):
                    raise RuntimeError((self.home / "log").read_text()[-4000:]) from None
                time.sleep(0.1)

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.program("pg_ctl", "stop", "-D", str(self.data), "-m", "fast", "-t", "600")
            self.process.wait(600)

    def kill(self) -> None:
        """End the server at once, as a power cut would."""
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(600)
