"""Measures chunk upload and download against the same bytes sent through raw psycopg."""

import contextlib
import hashlib
import os
import statistics
import time
from collections.abc import Iterator
from uuid import uuid4

import psycopg

from bench.figures import Figure
from bench.stand import postgres, replica, signed_in
from bench.wire import Wire, upload
from notes.files.chunks import CHUNK_BYTES

MEGABYTE = 1_000_000
SIZE = 48 * CHUNK_BYTES
ROUNDS = 5
TARGET = 0.6  # of raw psycopg


def measure() -> Iterator[Figure]:
    data = os.urandom(SIZE)
    with postgres(max_wal_size="8GB") as server, replica(server, "files") as running:
        client, headers = signed_in(running)
        with contextlib.closing(client):
            space = client.ok("POST", "/api/v1/spaces", {"slug": "s", "name": "S"})["id"]
            node = client.ok("POST", f"/api/v1/spaces/{space}/nodes", {"title": "F"})["id"]
        ups, downs = list[tuple[float, float]](), list[tuple[float, float]]()
        with (
            Wire(running.url, headers) as wire,
            psycopg.connect(server.url("files"), autocommit=True) as conn,
        ):
            for number in range(ROUNDS + 1):
                sides = _round(wire, conn, node, data)
                if number:  # the first one warms up
                    ups.append(sides[0])
                    downs.append(sides[1])
    for name, rates in (("upload", ups), ("download", downs)):
        ours, raw = (statistics.median(side) for side in zip(*rates, strict=True))
        share = statistics.median(a / b for a, b in rates)
        note = f"raw psycopg: {raw:,.0f} MB/s"
        yield Figure(f"chunk {name}", ours, "MB/s", note=note)
        yield Figure(f"chunk {name}: share of raw psycopg", share, "", at_least=TARGET)


def _round(
    wire: Wire, conn: psycopg.Connection[tuple[object, ...]], node: str, data: bytes
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Measures MB per second: upload (application, raw) and download (application, raw)."""
    begun = time.perf_counter()
    made = upload(wire, node, data)
    ours_up = _rate(begun)
    begun = time.perf_counter()
    raw = uuid4()
    view = memoryview(data)
    for number, at in enumerate(range(0, SIZE, CHUNK_BYTES)):
        conn.execute(
            "INSERT INTO chunks (file_id, number, size, data) VALUES (%s, %s, %s, %b)",
            (raw, number, CHUNK_BYTES, view[at : at + CHUNK_BYTES]),
        )
    raw_up = _rate(begun)
    begun = time.perf_counter()
    wire.fetch(f"/api/v1/attachments/{made}", lambda _: None)
    ours_down = _rate(begun)
    begun = time.perf_counter()
    for number in range(SIZE // CHUNK_BYTES):
        conn.execute(
            "SELECT data FROM chunks WHERE file_id = %s AND number = %s", (raw, number), binary=True
        ).fetchone()
    raw_down = _rate(begun)
    sums = hashlib.sha256()
    wire.fetch(f"/api/v1/attachments/{made}", sums.update)
    if sums.digest() != hashlib.sha256(data).digest():
        raise RuntimeError("the download differs")
    conn.execute("DELETE FROM chunks WHERE file_id = %s", (raw,))
    conn.execute("DELETE FROM attachments WHERE id = %s", (made,))
    conn.execute("VACUUM chunks")
    return (ours_up, raw_up), (ours_down, raw_down)


def _rate(begun: float) -> float:
    return SIZE / MEGABYTE / (time.perf_counter() - begun)
