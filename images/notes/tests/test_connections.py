"""Tests connection limits for headers, time, rate and number, with raw sockets."""

import contextlib
import json
import os
import socket
import time
from collections.abc import Callable, Iterator

import pytest

from tests.postgres import Postgres
from tests.replica import Client, Replica

ORIGIN = "https://notes.example.org"
Start = Callable[..., Replica]
HEAD = b"Host: notes.example.org\r\nOrigin: https://notes.example.org\r\n"


@pytest.fixture(scope="module")
def hasty(postgres: Postgres) -> Iterator[Replica]:
    running = Replica(postgres.database("hasty"), {"ORIGIN": ORIGIN}, module="tests.hasty")
    with running.running():
        with running.client() as client:
            client.set_up()
        yield running
        failures = [line for line in running.lines() if line["level"] == "error"]
        assert not failures, failures
        assert running.deserted()


@contextlib.contextmanager
def _wire(replica: Replica) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", replica.port), timeout=20) as wire:
        yield wire


def _answer(wire: socket.socket) -> bytes:
    """All bytes received until the server closes."""
    parts = list[bytes]()
    with contextlib.suppress(ConnectionResetError):
        while part := wire.recv(65536):
            parts.append(part)
    return b"".join(parts)


def _problem(answer: bytes) -> int:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head.lower(), answer[:300]
    assert b"connection: close" in head.lower()
    status = int(head.split()[1])
    assert json.loads(body)["status"] == status
    return status


@pytest.mark.parametrize(
    "begin",
    [
        b"GET /" + b"a" * 10_000_000,
        b"GET / HTTP/1.1\r\nX: " + b"a" * 10_000_000,
        b"GET / HTTP/1.1\r\n" + b"X: a\r\n" * 1_000_000,
        b"GET / HTTP/1.1\r\n" + HEAD + b"X: " + b"a" * 40_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HEAD + b"X: a\r\n" * 300 + b"\r\n",
    ],
    ids=["a long line", "a long header", "many headers", "whole at once", "few bytes, many fields"],
)
def test_headers_have_an_end(hasty: Replica, begin: bytes) -> None:
    hasty.forget_peak()
    before = hasty.memory_mb()
    with _wire(hasty) as wire:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            wire.sendall(begin)
        assert _problem(_answer(wire)) == 431
    assert hasty.peak_mb() < before + 8


def test_four_hundred_megabytes_of_headers_take_no_memory(hasty: Replica) -> None:
    hasty.forget_peak()
    before = hasty.memory_mb()
    with contextlib.ExitStack() as stack:
        wires = [stack.enter_context(_wire(hasty)) for _ in range(40)]
        for wire in wires:
            with contextlib.suppress(OSError):
                wire.sendall(b"GET / HTTP/1.1\r\nX: " + b"a" * 10_000_000)
    assert hasty.peak_mb() < before + 30
    assert hasty.deserted()


def test_trailers_have_an_end(hasty: Replica) -> None:
    with _wire(hasty) as wire:
        wire.sendall(
            b"POST /api/v1/session HTTP/1.1\r\n" + HEAD + b"Content-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: "
        )
        with contextlib.suppress(OSError):
            wire.sendall(b"a" * 10_000_000)
        answer = _answer(wire)
    assert b" 422 " in answer or b" 400 " in answer or b" 431 " in answer


def test_a_body_that_is_all_framing_is_refused(hasty: Replica) -> None:
    with _wire(hasty) as wire:
        wire.sendall(
            b"POST /api/v1/session HTTP/1.1\r\n" + HEAD + b"Content-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        with contextlib.suppress(OSError):
            for _ in range(200):
                wire.sendall(b"1;" + b"e" * 10_000 + b"\r\n \r\n")
        assert b" 400 " in _answer(wire)


@pytest.mark.parametrize(
    "sent", [b"GET / HT", b"GET / HTTP/1.1\r\nHost: n", b"POST /login HTTP/1.1\r\n" + HEAD]
)
def test_half_sent_headers_are_not_waited_for(hasty: Replica, sent: bytes) -> None:
    begun = time.monotonic()
    with _wire(hasty) as wire:
        wire.sendall(sent)
        assert _problem(_answer(wire)) == 408
    assert 1.5 < time.monotonic() - begun < 8


def test_headers_that_trickle_are_not_waited_for(hasty: Replica) -> None:
    begun = time.monotonic()
    with _wire(hasty) as wire:
        wire.sendall(b"GET / HTTP/1.1\r\n")
        wire.settimeout(0.2)
        answer = b""
        while not answer and time.monotonic() - begun < 10:
            with contextlib.suppress(OSError):
                wire.sendall(b"X: a\r\n")
            with contextlib.suppress(TimeoutError):
                answer = wire.recv(65536)
    assert answer.startswith(b"HTTP/1.1 408")


def test_a_connection_that_says_nothing_is_closed(hasty: Replica) -> None:
    begun = time.monotonic()
    with _wire(hasty) as wire:
        assert _answer(wire) == b""
    assert time.monotonic() - begun < 8


def test_an_idle_connection_is_closed(hasty: Replica) -> None:
    with _wire(hasty) as wire:
        wire.sendall(b"GET /healthz HTTP/1.1\r\n" + HEAD + b"\r\n")
        begun = time.monotonic()
        assert _answer(wire).endswith(b"ok\n")
        assert 2 < time.monotonic() - begun < 10


def _login(body: bytes, length: int) -> bytes:
    return (
        b"POST /api/v1/session HTTP/1.1\r\n" + HEAD + b"Content-Type: application/json\r\n"
        b"Content-Length: " + str(length).encode() + b"\r\n\r\n" + body
    )


def test_a_half_sent_body_is_not_waited_for(hasty: Replica) -> None:
    begun = time.monotonic()
    with _wire(hasty) as wire:
        wire.sendall(_login(b"{", 100))
        assert _problem(_answer(wire)) == 408
    assert 1.5 < time.monotonic() - begun < 8


def test_a_body_that_trickles_is_not_waited_for(hasty: Replica) -> None:
    with _wire(hasty) as wire:
        wire.sendall(_login(b"{", 10_000))
        wire.settimeout(0.1)
        begun, answer = time.monotonic(), b""
        while not answer and time.monotonic() - begun < 20:
            with contextlib.suppress(OSError):
                wire.sendall(b" " * 20)  # 200 bytes/s
            with contextlib.suppress(TimeoutError):
                answer = wire.recv(65536)
    assert answer.startswith(b"HTTP/1.1 408")


def test_the_rest_of_a_refused_body_is_not_waited_for(hasty: Replica) -> None:
    with _wire(hasty) as wire:
        wire.sendall(
            b"POST /nowhere HTTP/1.1\r\n" + HEAD + b"Content-Type: application/json\r\n"
            b"Content-Length: 1000000\r\n\r\n{"
        )
        begun = time.monotonic()
        assert b" 404 " in _answer(wire)
        assert time.monotonic() - begun < 6


def test_a_slow_but_honest_body_is_taken(hasty: Replica) -> None:
    """Sends 5 kB/s, with a pause of nearly the grace time: longer than any one limit."""
    body = json.dumps({"email": "ada@example.org", "password": "x" * 20}).encode()
    body += b" " * 50_000
    with _wire(hasty) as wire:
        wire.sendall(_login(b"", len(body)))
        for at in range(0, len(body), 1000):
            wire.sendall(body[at : at + 1000])
            time.sleep(1.8 if at == 20_000 else 0.15)
        assert b" 401 " in wire.recv(65536)


def test_a_client_that_takes_nothing_is_left(hasty: Replica) -> None:
    with hasty.client() as client:
        client.log_in()
        space = client.ok("POST", "/api/v1/spaces", {"slug": "stalled", "name": "S"})["id"]
        node = client.ok("POST", f"/api/v1/spaces/{space}/nodes", {"title": "S"})["id"]
        made = client.post(
            f"/api/v1/nodes/{node}/uploads", files={"file": ("a", os.urandom(30_000_000))}
        ).json()["id"]
        cookie = "; ".join(f"{k}={v}" for k, v in client.jar.items()).encode()
    with socket.socket() as wire:
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        wire.connect(("127.0.0.1", hasty.port))
        wire.sendall(
            b"GET /api/v1/attachments/" + made.encode() + b" HTTP/1.1\r\n" + HEAD
            + b"Cookie: " + cookie + b"\r\n\r\n"
        )  # fmt: skip
        assert wire.recv(100).startswith(b"HTTP/1.1 200")
        assert hasty.deserted(12)


def test_an_early_refusal_reaches_a_client_that_is_still_sending(hasty: Replica) -> None:
    with _wire(hasty) as wire:
        wire.sendall(
            b"POST /api/v1/session HTTP/1.1\r\n" + HEAD + b"Content-Type: application/json\r\n"
            b"Content-Length: 900000000\r\n\r\n"
        )
        with contextlib.suppress(OSError):
            for _ in range(20):
                wire.sendall(b" " * 1_000_000)
        assert _answer(wire).startswith(b"HTTP/1.1 413")


def test_an_event_stream_outlives_every_limit(hasty: Replica) -> None:
    client = hasty.client().log_in()
    with client.stream("GET", "/api/v1/events", timeout=30) as stream:
        lines = stream.iter_lines()
        assert "event: hello" in [next(lines) for _ in range(4)]
        time.sleep(6)
        with hasty.client() as other:
            other.jar.update(client.jar)
            other.ok("POST", "/api/v1/spaces", {"slug": "streamed", "name": "S"})
        assert any(line == "event: space.made" for line in lines)
    client.close()


def test_an_address_has_so_many_connections(own_replica: Start) -> None:
    replica = own_replica(MAX_CONNECTIONS_PER_ADDRESS="5")
    with contextlib.ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(_wire(replica))
        time.sleep(0.3)
        with _wire(replica) as sixth:
            assert _problem(_answer(sixth)) == 429
    assert replica.deserted()
    with replica.client() as client:
        assert client.get("/healthz").status_code == 200


def test_all_have_so_many_connections(own_replica: Start) -> None:
    replica = own_replica(MAX_CONNECTIONS="16")
    with contextlib.ExitStack() as stack:
        for _ in range(16):
            stack.enter_context(_wire(replica))
        time.sleep(0.3)
        with _wire(replica) as one_more:
            assert _problem(_answer(one_more)) == 503


def test_the_proxy_is_not_one_client(own_replica: Start) -> None:
    replica = own_replica(MAX_CONNECTIONS_PER_ADDRESS="5", ADDRESS_HEADER="x-forwarded-for")
    with contextlib.ExitStack() as stack:
        for _ in range(30):
            stack.enter_context(_wire(replica))
        time.sleep(0.3)
        with replica.client(headers={"x-forwarded-for": "10.1.1.1"}) as client:
            assert client.get("/healthz").status_code == 200
            client.set_up()
        streams = [stack.enter_context(_stream(replica, client, "10.1.1.1")) for _ in range(6)]
        assert sorted(streams) == [200] * 5 + [429]
        assert stack.enter_context(_stream(replica, client, "10.1.1.2")) == 200


@contextlib.contextmanager
def _stream(replica: Replica, client: Client, address: str) -> Iterator[int]:
    with replica.client(headers={"x-forwarded-for": address}) as other:
        other.jar.update(client.jar)
        with other.stream("GET", "/api/v1/events") as answer:
            yield answer.status_code
