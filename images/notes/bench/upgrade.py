"""Measures how fast the start-up migration moves files into chunks (spec: notes-app §9.5).

The files are random bytes, as incompressible as pictures and films.
"""

import asyncio
import os
import time
from collections.abc import Iterator

import psycopg

from bench.figures import Figure
from bench.stand import postgres
from notes.db.connect import open_connection
from notes.db.migrate import migrate

OLD_LAYOUT = 4
FILES = 12
FILE_BYTES = 40_000_000
TARGET_MB_S = 100


def measure() -> Iterator[Figure]:
    with postgres(max_wal_size="8GB") as server:
        url = server.database("old")
        _upgrade(url, OLD_LAYOUT)
        _fill(url)
        begun = time.perf_counter()
        _upgrade(url, OLD_LAYOUT + 1)
        took = time.perf_counter() - begun
        sums = "SELECT count(*), sum(size) FROM attachments"
        if server.sql(sums, "old") != [(FILES, FILES * FILE_BYTES)]:
            raise RuntimeError("the files did not arrive")
    rate = FILES * FILE_BYTES / 1e6 / took
    note = f"{FILES} files of {FILE_BYTES / 1e6:.0f} MB in {took:.1f} s; a job sums them later"
    yield Figure("upgrade, files into chunks", rate, "MB/s", at_least=TARGET_MB_S, note=note)


def _upgrade(url: str, until: int) -> None:
    async def run() -> None:
        conn = await open_connection(url, "bench")
        await migrate(conn, until=until)
        await conn.close()

    asyncio.run(run())


def _fill(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute("INSERT INTO spaces (slug, name, public) VALUES ('s', 'S', true)")
        conn.execute(
            "INSERT INTO nodes (space_id, position, title, doc)"
            ' SELECT id, 1, \'P\', \'{"type": "doc", "content": []}\' FROM spaces'
        )
        for number in range(FILES):
            conn.execute(
                "INSERT INTO attachments (node_id, name, media_type, size, data)"
                " SELECT id, %s, 'image/png', %s, %b FROM nodes",
                (f"f{number}", FILE_BYTES, os.urandom(FILE_BYTES)),
            )
        conn.execute("CHECKPOINT")
