"""Tests the upgrade from the layout with each file in one column (spec: notes-app §9.5)."""

import asyncio
import hashlib
import os
import time

import psycopg
import pytest

from notes.db.connect import open_connection
from notes.db.migrate import migrate
from notes.files.chunks import CHUNK_BYTES
from tests.postgres import Postgres, versions
from tests.replica import Client, Replica

OLD_LAYOUT = 4
SIZES = (0, 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES - 1, 25_000_000)


def build_old(url: str) -> dict[str, bytes]:
    """Creates a database of the older layout with files; returns their contents by name."""

    async def until_old() -> None:
        conn = await open_connection(url, "test")
        await migrate(conn, until=OLD_LAYOUT)
        await conn.close()

    asyncio.run(until_old())
    files = {f"f{size}": os.urandom(size) for size in SIZES}
    files["text"] = b"compresses well " * 2_000_000
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute("INSERT INTO spaces (slug, name, public) VALUES ('s', 'S', true)")
        conn.execute(
            "INSERT INTO nodes (space_id, position, title, doc)"
            ' SELECT id, 1, \'P\', \'{"type": "doc", "content": []}\' FROM spaces'
        )
        for name, data in files.items():
            conn.execute(
                "INSERT INTO attachments (node_id, name, media_type, size, data)"
                " SELECT id, %s, 'image/png', %s, %b FROM nodes",
                (name, len(data), data),
            )
    return files


@pytest.mark.parametrize(
    "major", [v if v == 16 else pytest.param(v, marks=pytest.mark.slow) for v in versions()]
)
def test_files_move_into_chunks(major: int) -> None:
    with Postgres(major).serving() as server:
        url = server.database("old")
        files = build_old(url)
        total_mb = sum(map(len, files.values())) / 1e6
        begun = time.monotonic()
        with Replica(url).running() as replica:
            rate = total_mb / (time.monotonic() - begun)
            print(f"PostgreSQL {major}: {rate:.0f} MB/s with start-up")
            _check(server, replica, files)


def _check(server: Postgres, replica: Replica, files: dict[str, bytes]) -> None:
    unsummed = "SELECT count(*) FROM attachments WHERE sha256 IS NULL OR crc32 IS NULL"
    deadline = time.monotonic() + 30
    while server.sql(unsummed, "old") != [(0,)]:
        assert time.monotonic() < deadline, replica.log
        time.sleep(0.1)
    rows = server.sql("SELECT name, id, encode(sha256, 'hex'), size FROM attachments", "old")
    assert {str(row[0]) for row in rows} == set(files)
    with Client(replica.url) as client:
        for name, file_id, total, size in rows:
            data = files[str(name)]
            assert (total, size) == (hashlib.sha256(data).hexdigest(), len(data))
            assert client.get(f"/api/v1/attachments/{file_id}").content == data
    # Storing the checksums has freed the space of the old column.
    server.sql("VACUUM attachments", "old")
    left = server.sql("SELECT pg_total_relation_size('attachments') < 1000000", "old")
    assert left == [(True,)]
    wide = server.sql(f"SELECT count(*) FROM chunks WHERE size > {CHUNK_BYTES}", "old")
    assert wide == [(0,)]
