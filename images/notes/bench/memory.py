"""Resident memory of the server's process: idle, importing, sending, and with many listeners."""

import contextlib
import hashlib
import io
import os
import random
import time
import zipfile
from collections.abc import Callable, Iterator

from bench import streams
from bench.figures import Figure
from bench.stand import postgres, replica, signed_in
from bench.streams import STREAMS
from bench.wire import Wire, upload
from tests.postgres import Postgres
from tests.replica import Replica

IDLE_MB = 90
BUSY_MB = 150
#: Of 1,000 streams whose tabs have pages open.
OPEN_MB = 200
IMPORT_BYTES = 200_000_000
DOWNLOAD_BYTES = 1024 * 1024 * 1024


def measure() -> Iterator[Figure]:
    with postgres() as server:
        with replica(server, "memory") as running:
            with running.client() as client:
                client.get("/login")
            time.sleep(2)
            yield Figure("memory, idle", running.memory_mb(), "MB", at_most=IDLE_MB)
        yield from _fresh(server, "memory, 200 MB import", _import)
        yield from _fresh(server, "memory, 1 GB download", _download)
        yield from _fresh(server, f"memory, {STREAMS} event streams", streams.idle)
        yield from _fresh(
            server, f"memory, {STREAMS} open pages' streams", streams.open_pages, OPEN_MB
        )


def _fresh(
    server: Postgres, name: str, work: Callable[[Replica], str], at_most: int = BUSY_MB
) -> Iterator[Figure]:
    """The peak memory of a process that only does `work`."""
    with replica(server, "memory") as running:
        running.forget_peak()
        begun = time.monotonic()
        note = work(running)
        took = time.monotonic() - begun
        yield Figure(name, running.peak_mb(), "MB", at_most=at_most, note=f"{took:.1f} s; {note}")


def _import(running: Replica) -> str:
    client, headers = signed_in(running)
    with contextlib.closing(client):
        space = client.ok("POST", "/api/v1/spaces", {"slug": "imported", "name": "I"})["id"]
        packed = _zip()
        url = f"/api/v1/spaces/{space}/imports"
        with Wire(running.url, headers) as wire:
            _, answer = wire.ask("POST", url, packed, {"Content-Type": "application/zip"})
        import msgspec

        job = msgspec.json.decode(answer)["id"]
        while (seen := client.ok("GET", f"/api/v1/jobs/{job}"))["state"] in {"queued", "running"}:
            time.sleep(0.2)
        if seen["state"] != "done":
            raise RuntimeError(str(seen))
        return f"{seen['progress']['pages']} pages and {seen['progress']['files']} files"


def _zip() -> bytes:
    """A zip of about 200 MB: pages, files of medium size, and one large file."""
    source = random.Random(1)
    out = io.BytesIO()
    text = ("# A page\n\n" + "Some words that are written on it. " * 40 + "\n").encode()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for number in range(1000):
            archive.writestr(f"pages/{number // 50}/page {number}.md", text)
        for number in range(20):
            archive.writestr(f"pages/{number}/pic {number}.png", source.randbytes(3_000_000))
        archive.writestr("film.mp4", source.randbytes(IMPORT_BYTES - 60_500_000))
    return out.getvalue()


def _download(running: Replica) -> str:
    client, headers = signed_in(running)
    with contextlib.closing(client):
        space = client.ok("POST", "/api/v1/spaces", {"slug": "big", "name": "B"})["id"]
        node = client.ok("POST", f"/api/v1/spaces/{space}/nodes", {"title": "B"})["id"]
    data = os.urandom(64 * 1024 * 1024) * (DOWNLOAD_BYTES // (64 * 1024 * 1024))
    with Wire(running.url, headers) as wire:
        made = upload(wire, node, data)
        uploading_mb = running.peak_mb()
        running.forget_peak()
        sums = hashlib.sha256()
        _, size = wire.fetch(f"/api/v1/attachments/{made}", sums.update)
    if size != len(data) or sums.digest() != hashlib.sha256(data).digest():
        raise RuntimeError("the download differs")
    return f"its upload: {uploading_mb:.0f} MB"
