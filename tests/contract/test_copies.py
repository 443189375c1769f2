"""The lines of a real pg_basebackup, started as Patroni does: the progress is read out of them."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from queenright.core.observed.base_copies import progress_in
from tests.contract.real_postgres import SUPERUSER_PASSWORD, binaries, real_postgres

pytestmark = pytest.mark.lab


def timed(second: int, line: str) -> str:
    """A line as an engine gives it, of which pg_basebackup writes one a second."""
    return f"2026-01-01T12:00:{second:02}.123456789Z {line}"


def copied(port: int, into: Path) -> list[str]:
    """Copy a server's data; return the lines. The rate is limited, so that there are several."""
    command = [str(binaries() / "pg_basebackup"), f"--pgdata={into}", "-X", "stream"]
    where = f"host=127.0.0.1 port={port} user=postgres dbname=replication"
    options = ["--checkpoint=fast", "--progress", "--max-rate=8M"]
    with subprocess.Popen(
        [*command, f"--dbname={where}", *options],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PGPASSWORD": SUPERUSER_PASSWORD},
    ) as process:
        assert process.stderr is not None
        lines = [timed(number, line.rstrip()) for number, line in enumerate(process.stderr)]
    assert process.returncode == 0, lines
    return lines


def test_a_copy_tells_how_far_it_has_come() -> None:
    settings = {"wal_level": "replica", "max_wal_senders": "4"}
    with real_postgres(**settings) as server, tempfile.TemporaryDirectory() as home:
        server.sql(
            "CREATE TABLE kept AS SELECT repeat('x', 1000) AS words FROM generate_series(1, 20000)"
        )
        lines = copied(server.port, Path(home) / "data")
    found = [*progress_in("\n".join(lines))]
    assert len(found) >= 3, lines
    done = [one.done_bytes for one in found]
    assert done == sorted(done)
    assert done[0] < done[-1] == found[-1].whole_bytes
    assert found[-1].whole_bytes > 20_000_000
