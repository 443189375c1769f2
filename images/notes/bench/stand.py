"""Starts the servers for measurements: a durable PostgreSQL and one replica.

PostgreSQL runs with fsync and full page writes: without them writes would look too fast.
"""

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx

from tests.postgres import Postgres, free_port
from tests.replica import Client, Replica

ORIGIN = "https://notes.example.org"
HERE = Path(__file__).parent


def found_by(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """The JSON lines that a script printed; RuntimeError with its words if it failed."""
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


@contextlib.contextmanager
def postgres(**settings: str) -> Iterator[Postgres]:
    server = Postgres(16, durable=True, settings={"shared_buffers": "256MB", **settings})
    server.create()
    try:
        yield server
    finally:
        server.remove()


@contextlib.contextmanager
def replica(server: Postgres, database: str, **env: str) -> Iterator[Replica]:
    """Starts a replica on a new database and does the setup."""
    exists = server.sql(f"SELECT 1 FROM pg_database WHERE datname = '{database}'")
    url = server.url(database) if exists else server.database(database)
    running = Replica(url, {"ORIGIN": ORIGIN, **env}).start()
    try:
        if not exists:
            with running.client() as client:
                client.set_up()
        yield running
    finally:
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.stop()
        running.end()


def signed_in(running: Replica) -> tuple[Client, dict[str, str]]:
    """An administrator's client, and the headers that give another client the same session."""
    client = running.client().log_in()
    cookie = "; ".join(f"{name}={value}" for name, value in client.jar.items())
    headers = {
        "Host": "notes.example.org",
        "Origin": ORIGIN,
        "X-Forwarded-Proto": "https",
        "Cookie": cookie,
    }
    return client, headers


@contextlib.contextmanager
def process(module: str, env: Mapping[str, str], ready: str | None) -> Iterator[str]:
    """Runs `python -m module` on a free PORT, waits until `ready` answers; yields its address."""
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    running = subprocess.Popen(
        [sys.executable, "-m", module],
        env={"PATH": "/usr/bin:/bin", "PORT": str(port), **env},
        cwd=HERE.parent,
        stdout=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 20
        while ready is not None:
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(base + ready).status_code < 500:
                    break
            if time.monotonic() > deadline or running.poll() is not None:
                raise RuntimeError(f"{module} did not come up")
            time.sleep(0.05)
        yield base
    finally:
        running.terminate()
        running.wait(20)
