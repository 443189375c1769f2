"""Fixtures: a lab, a database that its containers reach, and clean-up after a crashed run."""

import fcntl
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.image.lab import ROOT, Lab
from tests.postgres import Postgres


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    """The lab, locked for this test session against other sessions of this repository."""
    if not (ROOT / "tests/lab/product_images.py").is_file():
        pytest.skip("this tree has no lab to run images on")
    if os.geteuid() != 0:
        pytest.skip("the lab needs root")
    directory = Path(os.environ.get("LAB_DIR") or "/var/lib/queenright-lab")
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / "session.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield Lab.up()


@pytest.fixture(scope="session")
def server(lab: Lab) -> Iterator[Postgres]:
    """A PostgreSQL on the host, which requires a password for connections from nodes."""
    listen = f"127.0.0.1,{lab.gateway}"
    with Postgres(18, {"listen_addresses": listen}).serving() as running:
        with (running.data / "pg_hba.conf").open("a") as rules:
            rules.write("host all all all scram-sha-256\n")
        running.sql("SELECT pg_reload_conf()")
        yield running


@pytest.fixture(scope="session")
def database(lab: Lab, server: Postgres) -> Callable[[], str]:
    """Creates an empty database with its own role; returns the URL for containers."""

    def make() -> str:
        name, password = f"notes_{secrets.token_hex(4)}", f"word-{secrets.token_hex(12)}"
        server.sql(f"CREATE ROLE {name} LOGIN PASSWORD '{password}'")
        server.sql(f"CREATE DATABASE {name} OWNER {name}")
        return f"postgresql://{name}:{password}@{lab.gateway}:{server.port}/{name}"

    return make
