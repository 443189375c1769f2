"""HTTP on a bare socket: a client that needs little time, so that the server is measured."""

import socket
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

import msgspec

from notes.files.chunks import CHUNK_BYTES


class Wire:
    """One connection that is kept open."""

    def __init__(self, base: str, headers: Mapping[str, str]) -> None:
        where = urlsplit(base)
        self._socket = socket.create_connection((where.hostname or "", where.port or 0), 60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._headers = dict(headers)
        self._buffer = bytearray(1024 * 1024)

    def __enter__(self) -> "Wire":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | memoryview = b"",
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, bytes]:
        """Sends a request; returns status and content. Raises for a status of 400 and above."""
        parts = bytearray()
        self._send(method, path, body, headers or {})
        status, _ = self._receive(parts.extend)
        if status >= 400:
            raise RuntimeError(f"{method} {path}: {status} {bytes(parts[:300])!r}")
        return status, bytes(parts)

    def fetch(self, path: str, take: Callable[[memoryview], object]) -> tuple[int, int]:
        """Passes the answer piece by piece to `take`; returns its status and size."""
        self._send("GET", path, b"", {})
        return self._receive(take)

    def _send(
        self, method: str, path: str, body: bytes | memoryview, headers: Mapping[str, str]
    ) -> None:
        fields = {**self._headers, **headers, "Content-Length": str(len(body))}
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        self._socket.sendall(f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode())
        if len(body):
            self._socket.sendall(body)

    def _receive(self, take: Callable[[memoryview], object]) -> tuple[int, int]:
        head = b""
        while b"\r\n\r\n" not in head:
            data = self._socket.recv(65536)
            if not data:
                raise ConnectionError("closed before the answer")
            head += data
        head, _, first = head.partition(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        left = size = int(fields[b"content-length"])
        if first:
            take(memoryview(first))
            left -= len(first)
        view = memoryview(self._buffer)
        while left:
            count = self._socket.recv_into(view)
            if count == 0:
                raise ConnectionError("closed in the midst of the answer")
            take(view[:count])
            left -= count
        return status, size


def upload(wire: Wire, node: str, data: bytes) -> str:
    """Uploads data in chunks, one after the other; returns the attachment's id."""
    url = f"/api/v1/nodes/{node}/uploads"
    announced = msgspec.json.encode({"name": "big.bin", "size": len(data)})
    _, answer = wire.ask("POST", url, announced, {"Content-Type": "application/json"})
    made: str = msgspec.json.decode(answer)["id"]
    view = memoryview(data)
    status = 0
    for number, at in enumerate(range(0, len(data), CHUNK_BYTES)):
        headers = {
            "Content-Type": "application/octet-stream",
            "Upload-Id": made,
            "Upload-Chunk": str(number),
        }
        status, _ = wire.ask("POST", url, view[at : at + CHUNK_BYTES], headers)
    if status != 201:
        raise RuntimeError("the upload did not end")
    return made
