"""Tests that many slow clients do not fill a replica's memory."""

import contextlib
import os
import socket
import time
from collections.abc import Callable

import pytest

from notes.files.chunks import CHUNK_BYTES
from notes.http.buffers import ANONYMOUS_BYTES
from tests.replica import Client, Replica
from tests.uploads import opened, pieces, send
from tests.workspace import page, space

Start = Callable[..., Replica]
COUNT = 60
MOST_MB = 180
"""60 slow readers held 480 MB before: two chunks each."""


def _wire(replica: Replica, client: Client, path: str) -> socket.socket:
    """A connection that has asked for a file and has read nothing of the answer."""
    wire = socket.socket()
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    wire.settimeout(30)
    wire.connect(("127.0.0.1", replica.port))
    cookies = "; ".join(f"{name}={value}" for name, value in client.jar.items())
    head = f"GET {path} HTTP/1.1\r\nHost: notes.example.org\r\nX-Forwarded-Proto: https\r\n"
    wire.sendall(f"{head}Cookie: {cookies}\r\nConnection: close\r\n\r\n".encode())
    return wire


def _body(wire: socket.socket) -> bytes:
    parts = list[bytes]()
    while part := wire.recv(1 << 20):
        parts.append(part)
    head, _, body = b"".join(parts).partition(b"\r\n\r\n")
    assert b" 200 " in head.split(b"\r\n", maxsplit=1)[0], head
    return body


@pytest.mark.timeout(120)
def test_readers_that_stall_hold_little_and_get_all(own_replica: Start) -> None:
    replica = own_replica()
    data = os.urandom(3 * CHUNK_BYTES + 12_345)
    with replica.client() as client, contextlib.ExitStack() as wires:
        client.set_up()
        home = page(client, space(client))
        upload = opened(client, home, data)["id"]
        for number, part in pieces(data):
            send(client, home, upload, number, part)
        path = f"/api/v1/attachments/{upload}"
        assert client.get(path).content == data
        replica.forget_peak()
        before = replica.memory_mb()
        made = [_wire(replica, client, path) for _ in range(COUNT)]
        for wire in made:
            wires.enter_context(wire)
        for wire in made:
            assert wire.recv(100).startswith(b"HTTP/1.1 200")
        time.sleep(2)  # what is read ahead comes now
        assert replica.peak_mb() - before < MOST_MB, (before, replica.peak_mb())
        assert client.get(path).content == data
        last = made.pop()
        rest = b"".join(iter(lambda: last.recv(1 << 20), b""))
        assert rest.endswith(data[-1_000_000:])
        for wire in made:
            wire.close()
        assert _body(_wire(replica, client, path)) == data


def test_nobody_fills_the_memory_without_signing_in(own_replica: Start) -> None:
    replica = own_replica()
    with replica.client() as client:
        long = "x" * (ANONYMOUS_BYTES + 1)
        client.problem(413, "POST", "/api/v1/session", json={"email": long, "password": "y"})
        answer = client.post("/login", data={"email": long, "password": "y"})
        assert answer.status_code == 413
        client.set_up()
        home = space(client)
        made = client.post(f"/api/v1/spaces/{home}/nodes", json={"title": "A", "markdown": long})
        assert made.status_code == 201, made.text
