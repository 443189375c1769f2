"""SIGTERM under load: exit 0, and no request is cut before SHUTDOWN_TIMEOUT (spec: notes-app §3).

A request counts as cut if its connection was accepted, its first byte was sent before the
timeout, and no complete answer came. A refused connection does not count: a proxy tries another
replica.
"""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import httpx
import pytest

from tests.replica import Client, Replica
from tests.uploads import attach
from tests.workspace import page, space

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
Start = Callable[..., Replica]
TIMEOUT_S = 6
LOADERS = 8


@dataclass
class Load:
    """The results that the clients have counted."""

    answered: int = 0
    refused: int = 0
    cut: list[str] = field(default_factory=list)
    late: int = 0
    half_sent: threading.Event = field(default_factory=threading.Event)
    stopping: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)


@pytest.fixture
def loaded(own_replica: Start) -> Iterator[tuple[Replica, Client, str, str]]:
    replica = own_replica(SHUTDOWN_TIMEOUT=str(TIMEOUT_S))
    with replica.client() as client:
        client.set_up()
        home = page(client, space(client), markdown="# Hello\n\nwords\n")
        file = attach(client, home, "a.bin", bytes(6_000_000), "application/octet-stream")["id"]
        yield replica, client, home, file


def test_no_request_is_cut(loaded: tuple[Replica, Client, str, str]) -> None:
    replica, client, home, file = loaded
    load = Load()
    over = threading.Event()
    paths = [f"/api/v1/nodes/{home}", f"/api/v1/attachments/{file}", "/healthz", f"/p/{home}"]
    threads = [
        threading.Thread(target=_ask, args=(replica, client, paths[n % 4], n >= 4, load, over))
        for n in range(LOADERS)
    ]
    threads += [threading.Thread(target=_save, args=(replica, client, home, load, over))]
    threads += [threading.Thread(target=_trickle, args=(replica, client, load))]
    for thread in threads:
        thread.start()
    assert load.half_sent.wait(20)
    deadline = time.monotonic() + 20
    while (before := load.answered) <= 100:
        assert time.monotonic() < deadline, "there is too little load"
        time.sleep(0.1)
    load.stopping.set()
    begun = time.monotonic()
    code = replica.stop()
    took = time.monotonic() - begun
    over.set()
    for thread in threads:
        thread.join(30)
    assert not load.cut, load.cut[:5]
    assert code == 0
    assert took < TIMEOUT_S, f"all was answered, yet it waited {took:.1f} s"
    assert load.answered > before, "there was load until the end"
    assert load.late == 1, "the request that was slowly sent was answered"
    assert "Traceback" not in replica.log


def test_streams_stay_open_until_the_timeout(loaded: tuple[Replica, Client, str, str]) -> None:
    replica, client, home, _ = loaded
    ends = list[float]()
    begun = [0.0]

    def listen() -> None:
        with replica.client() as own:
            own.jar.update(client.jar)
            try:
                with own.stream("GET", "/api/v1/events") as answer:
                    for _ in answer.iter_raw():
                        pass
            except httpx.HTTPError:
                pass
            ends.append(time.monotonic() - begun[0])

    threads = [threading.Thread(target=listen) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(1)
    assert client.get(f"/api/v1/nodes/{home}").status_code == 200
    begun[0] = time.monotonic()
    assert replica.stop() == 0
    took = time.monotonic() - begun[0]
    for thread in threads:
        thread.join(10)
    assert TIMEOUT_S - 0.5 <= took < TIMEOUT_S + 4
    assert min(ends) >= TIMEOUT_S - 0.5, "a stream was ended early"


def _ask(
    replica: Replica, client: Client, path: str, keeps: bool, load: Load, over: threading.Event
) -> None:
    """Sends requests repeatedly, on one connection or on a new one each time."""
    fields = {
        "Host": "notes.example.org",
        "X-Forwarded-Proto": "https",
        "Cookie": "; ".join(f"{k}={v}" for k, v in client.jar.items()),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    request = f"GET {path} HTTP/1.1\r\n{lines}\r\n".encode()
    connection: socket.socket | None = None
    while not over.is_set():
        if connection is None:
            try:
                connection = socket.create_connection(("127.0.0.1", replica.port), 20)
            except ConnectionRefusedError:
                load.refused += 1
                return
        try:
            connection.sendall(request)
            closes = _answer(connection)
        except (OSError, EOFError) as error:
            with load.lock:
                load.cut.append(f"{path} {'kept' if keeps else 'new'}: {error!r}")
            return
        with load.lock:
            load.answered += 1
        if closes or not keeps:
            connection.close()
            connection = None


def _answer(connection: socket.socket) -> bool:
    """Reads one complete answer, else raises; True if the server will close the connection."""
    head = b""
    while b"\r\n\r\n" not in head:
        data = connection.recv(65536)
        if not data:
            raise EOFError(f"{len(head)} bytes of a head")
        head += data
    head, _, first = head.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    left = int(fields[b"content-length"]) - len(first)
    while left > 0:
        data = connection.recv(min(left, 1 << 20))
        if not data:
            raise EOFError(f"{left} bytes of the content are missing")
        left -= len(data)
    return fields.get(b"connection") == b"close"


def _save(replica: Replica, client: Client, home: str, load: Load, over: threading.Event) -> None:
    """Saves repeatedly; each new connection is refused or answered."""
    version = 1
    while not over.is_set():
        with replica.client() as own:
            own.jar.update(client.jar)
            body = {"base_version": version, "markdown": f"version {version}\n"}
            try:
                answer = own.put(f"/api/v1/nodes/{home}", json=body)
            except httpx.ConnectError:
                load.refused += 1
                return
            except httpx.HTTPError as error:
                load.cut.append(f"save: {error!r}")
                return
            assert answer.status_code == 200
            version = answer.json()["version"]


def _trickle(replica: Replica, client: Client, load: Load) -> None:
    """Uploads a file slowly: one half before the signal, the other after it."""

    def parts() -> Iterator[bytes]:
        for _ in range(5):
            time.sleep(0.1)
            yield b"x" * 1000
        load.half_sent.set()
        assert load.stopping.wait(20)
        for _ in range(5):
            time.sleep(0.4)
            yield b"x" * 1000

    with replica.client() as own:
        own.jar.update(client.jar)
        made = page(own, space(own))
        body = {"name": "slow", "size": 10_000}
        url = f"/api/v1/nodes/{made}/uploads"
        upload = own.ok("POST", url, body)["id"]
        headers = {
            "content-type": "application/octet-stream", "upload-id": upload, "upload-chunk": "0",
        }  # fmt: skip
        answer = own.post(url, content=parts(), headers=headers)
        load.late += answer.status_code == 201
