"""Measures time and memory of an export beyond 4 GB, and checks it with other unzippers.

One file alone is larger than 4 GiB, and others follow it: sizes and offsets both need zip64. All
chunks are equal, and the database may compress them: the machine's disk is not measured.
"""

import contextlib
import os
import subprocess
import tempfile
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg

from bench.figures import Figure
from bench.stand import postgres, replica, signed_in
from notes.files.chunks import CHUNK_BYTES

MEGABYTE = 1_000_000
LARGE_CHUNKS = 1040  # 4.36 GB
SMALL_FILES = 20
MEMORY_MB = 150
TESTERS = (("7z", "t", "-bso0", "-bsp0"), ("unzip", "-tqq"))


def measure() -> Iterator[Figure]:
    with (
        postgres() as server,
        replica(server, "export", MAX_ATTACHMENT_MB="8192") as running,
        tempfile.TemporaryDirectory() as folder,
    ):
        client, headers = signed_in(running)
        with contextlib.closing(client):
            space = client.ok("POST", "/api/v1/spaces", {"slug": "s", "name": "S"})["id"]
            node = client.ok("POST", f"/api/v1/spaces/{space}/nodes", {"title": "Big"})["id"]
        with psycopg.connect(server.url("export"), autocommit=True) as conn:
            conn.execute("ALTER TABLE chunks ALTER COLUMN data SET STORAGE EXTENDED")
            _fill(conn, node, "film.mp4", LARGE_CHUNKS)
            for number in range(SMALL_FILES):
                _fill(conn, node, f"part {number}.bin", 1)
        running.forget_peak()
        packed = Path(folder) / "export.zip"
        fields = [f"-H{name}: {value}" for name, value in headers.items()]
        url = f"{running.url}/api/v1/spaces/{space}/export"
        begun = time.perf_counter()
        subprocess.run(["curl", "-sSf", "-o", str(packed), *fields, url], check=True)
        took = time.perf_counter() - begun
        size = packed.stat().st_size
        note = f"{size / MEGABYTE:,.0f} MB in {took:.1f} s"
        yield Figure("export beyond 4 GB", size / MEGABYTE / took, "MB/s", note=note)
        yield Figure("memory, export beyond 4 GB", running.peak_mb(), "MB", at_most=MEMORY_MB)
        for tester in TESTERS:
            begun = time.perf_counter()
            told = subprocess.run([*tester, str(packed)], capture_output=True, check=False)
            took = time.perf_counter() - begun
            note = told.stdout.decode(errors="replace").strip()[-200:]
            name = f"what {tester[0]} says of it, exit code"
            yield Figure(name, told.returncode, "", at_most=0, note=note or f"{took:.0f} s")


def _fill(
    conn: psycopg.Connection[tuple[object, ...]], node: str, name: str, chunk_count: int
) -> None:
    made, chunk = uuid4(), os.urandom(1024) * (CHUNK_BYTES // 1024)
    crc = 0
    for _ in range(chunk_count):
        crc = zlib.crc32(chunk, crc)
    conn.execute(
        "INSERT INTO chunks (file_id, number, size, data)"
        " SELECT %s, n, %s, %b FROM generate_series(0, %s) AS n",
        (made, CHUNK_BYTES, chunk, chunk_count - 1),
    )
    conn.execute(
        "INSERT INTO attachments (id, node_id, name, media_type, size, crc32)"
        " VALUES (%s, %s, %s, 'application/octet-stream', %s, %s)",
        (made, node, name, chunk_count * CHUNK_BYTES, crc),
    )
