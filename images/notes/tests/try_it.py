"""Runs one replica on its own PostgreSQL, to try the application: `make notes-run`.

Database and key are stored in NOTES_DATA (default: .run in the project, which git ignores) and
are used again the next time. PORT is 3000 unless set; if that is taken, a free one. Plain HTTP on
this machine only: a wrapper around the replica sets the scheme, as a proxy would.

Exit codes: 0 stopped by a signal; 1 it runs already, or PostgreSQL does not; 2 a setting is wrong.
"""

import contextlib
import fcntl
import logging
import os
import secrets
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from notes import log
from notes.config import ConfigError, load
from notes.server import serve
from tests.postgres import NOBODY, Postgres, as_nobody, free_port

HEADER = "x-forwarded-proto"
DEFAULT = Path(__file__).resolve().parents[1] / ".run"
PORT = 3000


def as_a_proxy(app: ASGIApp) -> ASGIApp:
    """Sets the scheme header to http, whatever the client sends."""

    async def front(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            kept = [pair for pair in scope["headers"] if pair[0] != HEADER.encode()]
            scope = {**scope, "headers": [*kept, (HEADER.encode(), b"http")]}
        await app(scope, receive, send)

    return front


def leave_root() -> None:
    """Continues as another user in a new namespace, since PostgreSQL refuses to run as root.

    For the file system that user is still root, so the project may be in a private folder.
    """
    enter = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
    if os.geteuid() == 0 and subprocess.run([*enter, "true"], check=False).returncode == 0:
        options = [f"-W{option}" for option in sys.warnoptions]
        os.execvp(enter[0], [*enter, sys.executable, *options, "-m", "tests.try_it"])


def secret(path: Path) -> str:
    """A random secret, generated at the first start and stored in `path`."""
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_hex(24))
        if as_nobody():
            os.chown(path, NOBODY, NOBODY)
    return path.read_text()


def make_ready(folder: Path) -> Postgres:
    """The folder's server, not started; its files are created at the first start."""
    server = Postgres(16, durable=True)
    server.home.rmdir()
    server.home, server.data = folder, folder / "data"
    os.environ["PGPASSWORD"] = secret(folder / "database-password")
    if not (server.data / "PG_VERSION").exists():
        server.tool(
            "initdb", "-D", str(server.data), "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8",
            "-A", "scram-sha-256", "--pwfile", str(folder / "database-password"),
        )  # fmt: skip
    with contextlib.suppress(subprocess.CalledProcessError):
        stop(server)  # a server that outlived its replica; the server itself handles a stale file
    return server


def stop(server: Postgres) -> None:
    """Stops the server if it runs."""
    if (server.data / "postmaster.pid").exists():
        server.tool("pg_ctl", "-D", str(server.data), "-m", "fast", "-w", "stop")


def port() -> int:
    """PORT, or 3000 if it is free, or another free port."""
    if wanted := os.environ.get("PORT"):
        return int(wanted)
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", PORT))
        except OSError:
            return free_port()
    return PORT


def main() -> int:
    leave_root()
    folder = Path(os.environ.get("NOTES_DATA") or DEFAULT).absolute()
    folder.mkdir(mode=0o755 if as_nobody() else 0o700, parents=True, exist_ok=True)
    if as_nobody():
        os.chown(folder, NOBODY, NOBODY)
    (folder / ".gitignore").write_text("*\n")
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            print(f"{folder} is in use: it runs already", file=sys.stderr)
            return 1
        return run(folder)


def run(folder: Path) -> int:
    """Runs the replica on the folder's database until a signal stops it."""
    here = port()
    try:
        settings = load(
            {
                "SHUTDOWN_TIMEOUT": "2",
                **os.environ,
                "APP_ENCRYPTION_KEY": secret(folder / "encryption-key"),
                "DATABASE_URL": "postgresql:///notes",
                "HOST": "127.0.0.1",
                "PORT": str(here),
                "PROTOCOL_HEADER": HEADER,
            }
        )
    except ConfigError as error:
        print(*error.problems, sep="\n", file=sys.stderr)
        return 2
    try:
        server = make_ready(folder)
    except subprocess.CalledProcessError as error:
        print(f"PostgreSQL: {error.stderr.decode().strip()}", file=sys.stderr)
        return 1
    settings = replace(settings, database_url=server.url("notes"))
    try:
        server.start()
        if not server.sql("SELECT 1 FROM pg_database WHERE datname = 'notes'"):
            server.database("notes")
        log.configure(logging.WARNING)
        print(
            f"http://localhost:{here}/   (Ctrl-C ends it; its data stays in {folder})", flush=True
        )
        return serve(settings, as_a_proxy)
    except RuntimeError as error:
        print(f"PostgreSQL does not start: {str(error)[-2000:]}", file=sys.stderr)
        return 1
    finally:
        stop(server)


if __name__ == "__main__":
    sys.exit(main())
