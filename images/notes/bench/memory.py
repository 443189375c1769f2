"""Resident memory of the server's process: idle, importing, sending, and with many listeners."""

import contextlib
import hashlib
import io
import os
import random
import resource
import selectors
import socket
import time
import zipfile
from collections.abc import Iterator
from urllib.parse import urlsplit

from bench.figures import Figure
from bench.stand import postgres, replica, signed_in
from bench.wire import Wire, upload
from tests.postgres import Postgres
from tests.replica import Replica

IDLE_MB = 90
BUSY_MB = 150
STREAMS = 1000
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
        yield from _fresh(server, f"memory, {STREAMS} event streams", _streams)


def _fresh(server: Postgres, name: str, work: object) -> Iterator[Figure]:
    """The peak memory of a process that only does `work`."""
    with replica(server, "memory") as running:
        running.forget_peak()
        begun = time.monotonic()
        note = work(running)  # type: ignore[operator]
        took = time.monotonic() - begun
        yield Figure(name, running.peak_mb(), "MB", at_most=BUSY_MB, note=f"{took:.1f} s; {note}")


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


def _streams(running: Replica) -> str:
    """Opens all streams at once and waits until each has received the same save."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, soft))
    client, headers = signed_in(running)
    where = urlsplit(running.url)
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    request = f"GET /api/v1/events HTTP/1.1\r\n{lines}\r\n".encode()
    sockets = list[socket.socket]()
    with contextlib.ExitStack() as stack:
        stack.callback(client.close)
        selector = stack.enter_context(selectors.DefaultSelector())
        for _ in range(STREAMS):
            made = stack.enter_context(
                socket.create_connection((where.hostname or "", where.port or 0), timeout=30)
            )
            made.sendall(request)
            sockets.append(made)
            selector.register(made, selectors.EVENT_READ)
        _hear(selector, b"event: hello", STREAMS)
        space = client.ok("POST", "/api/v1/spaces", {"slug": "heard", "name": "H"})["id"]
        begun = time.monotonic()
        client.ok("POST", f"/api/v1/spaces/{space}/nodes", {"title": "B"})
        _hear(selector, b"event: page.made", STREAMS)
        return f"all told of a page within {time.monotonic() - begun:.2f} s"


def _hear(selector: selectors.DefaultSelector, wanted: bytes, count: int) -> None:
    heard = set[int]()
    kept = dict[int, bytes]()
    deadline = time.monotonic() + 60
    while len(heard) < count:
        if time.monotonic() > deadline:
            raise RuntimeError(f"{len(heard)} of {count} streams heard of it")
        for key, _ in selector.select(1):
            data = kept.get(key.fd, b"") + key.fileobj.recv(65536)  # type: ignore[union-attr]
            kept[key.fd] = data[-len(wanted) :]
            if wanted in data:
                heard.add(key.fd)
