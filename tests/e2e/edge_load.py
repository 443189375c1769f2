"""Load through an edge: readers and writers over TLS, each answer accounted for.

Every client has a connection that it keeps, opened again when the server ends it in good order.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType, TracebackType
from typing import Protocol, Self

BODY = b"x" * 20_000
GOOD = (200, 201)


class Target(Protocol):
    """Anything with the address of an edge."""

    address: str
    https: int


@dataclass
class Address:
    """The address of a deployed edge."""

    address: str
    https: int = 443


class _Stale(Exception):  # noqa: N818 (a signal to itself, no error)
    """The server ended a kept connection before it took the request."""


class Load:
    """Runs from its entry to its exit; afterwards `failed` has a line for each bad answer.

    With `also`, a client that one edge refuses goes to the other, as with two addresses by name.
    """

    def __init__(
        self,
        target: Target,
        *,
        host: str = "notes.example.org",
        readers: int = 6,
        writers: int = 2,
        read: str = "/",
        write: str = "/echo",
        body: bytes = BODY,
        headers: Mapping[str, str] = MappingProxyType({}),
        pause_s: float = 0.005,
        also: Target | None = None,
    ) -> None:
        self.targets, self.host = (target, also) if also else (target,), host
        self.readers, self.writers = readers, writers
        self._paths = {"GET": read, "POST": write}
        self._body, self._pause_s = body, pause_s
        self._headers = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.failed: list[str] = []
        self.served_by: set[str] = set()
        self.count = 0
        self.longest_s = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()))

    def __enter__(self) -> Self:
        self._begun = time.monotonic()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join(60)
        self.seconds = time.monotonic() - self._begun

    @property
    def summary(self) -> str:
        return (
            f"{self.count} requests in {self.seconds:.1f} s, {len(self.failed)} failed, "
            f"the longest {self.longest_s * 1000:.0f} ms: {self.failed[:10]}"
        )

    async def _run(self) -> None:
        trusting = ssl.create_default_context()
        trusting.check_hostname = False
        trusting.verify_mode = ssl.CERT_NONE
        clients = ["GET"] * self.readers + ["POST"] * self.writers
        async with asyncio.TaskGroup() as group:
            for method in clients:
                group.create_task(self._client(method, trusting))

    async def _client(self, method: str, trusting: ssl.SSLContext) -> None:
        connection: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        while not self._over.is_set():
            begun, kept = time.monotonic(), connection is not None
            try:
                async with asyncio.timeout(30):
                    connection = connection or await self._connected(trusting)
                    status, body, keep = await self._ask(method, *connection)
            except _Stale:
                connection = None
                if not kept:
                    self.failed.append(f"{method}: closed without an answer")
                continue
            except (OSError, TimeoutError, ValueError, asyncio.IncompleteReadError) as error:
                self.failed.append(f"{method}: {error!r}")
                connection = None
                continue
            self.count += 1
            self.longest_s = max(self.longest_s, time.monotonic() - begun)
            if status not in GOOD:
                self.failed.append(f"{method}: {status} {body[:80]!r}")
            elif method == "GET":
                self.served_by.add(body.decode(errors="replace").rpartition(".")[2])
            if not keep:
                connection[1].close()
                connection = None
            await asyncio.sleep(self._pause_s)
        if connection is not None:
            connection[1].close()
            with contextlib.suppress(OSError):
                await connection[1].wait_closed()

    async def _connected(
        self, trusting: ssl.SSLContext
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to the first edge that accepts; OSError if none does."""
        for number, target in enumerate(self.targets, start=1):
            try:
                return await asyncio.open_connection(
                    target.address, target.https, ssl=trusting, server_hostname=self.host
                )
            except OSError:
                if number == len(self.targets):
                    raise
        raise AssertionError("there is no target")

    async def _ask(
        self, method: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> tuple[int, bytes, bool]:
        body = self._body if method == "POST" else b""
        writer.write(
            f"{method} {self._paths[method]} HTTP/1.1\r\nHost: {self.host}\r\n"
            f"Content-Length: {len(body)}\r\n{self._headers}\r\n".encode()
            + body
        )
        first = await reader.readline()
        if not first:
            raise _Stale
        status = int(first.split()[1])
        headers: dict[str, str] = {}
        while line := (await reader.readline()).decode().strip():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        if headers.get("transfer-encoding") == "chunked":
            answer = b""
            while size := int((await reader.readline()).strip() or b"0", 16):
                answer += (await reader.readexactly(size + 2))[:-2]
            await reader.readline()
        else:
            answer = await reader.readexactly(int(headers.get("content-length", "0")))
        return status, answer, headers.get("connection", "").lower() != "close"
