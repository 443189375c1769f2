"""Members on loopback addresses that answer what a test says."""

from __future__ import annotations

import json
import socket
import socketserver
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass
class StubMember:
    """Patroni's REST API as a test wants it, and a database that says its own name."""

    name: str
    address: str
    ports: dict[str, int]
    primary: int = 503
    patroni: dict[str, Any] = field(default_factory=lambda: {"role": "replica", "state": "running"})
    config: str = "{}"
    hangs: bool = False
    primary_by_turns: bool = False
    """Says yes to each third question only: HAProxy's checks may take one of those between."""
    asked: list[tuple[float, str]] = field(default_factory=list)
    servers: list[socketserver.ThreadingTCPServer] = field(default_factory=list)

    def start(self) -> None:
        self.servers = [
            self._serve(self.ports["rest"], self._answer),
            self._serve(self.ports["postgresql"], self._greet),
        ]

    def stop(self) -> None:
        """Nothing listens any more."""
        for server in self.servers:
            server.shutdown()
            server.server_close()
        self.servers = []

    def lead(self, status: int = 200) -> None:
        self.primary, self.patroni = status, {"role": "primary", "state": "running"}

    def _serve(
        self, port: int, handle: Callable[[socket.socket], None]
    ) -> socketserver.ThreadingTCPServer:
        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                with suppress(OSError):
                    handle(self.request)

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True
            block_on_close = False

        server = Server((self.address, port), Handler)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return server

    def _answer(self, connection: socket.socket) -> None:
        request = connection.recv(4096).decode()
        if not request:
            return
        method, path = request.split()[:2]
        self.asked.append((time.monotonic(), f"{method} {path}"))
        if self.hangs:
            time.sleep(5)
            return
        status, body = self.primary, ""
        if (
            self.primary_by_turns
            and [what for _, what in self.asked].count("GET /primary") % 3 != 1
        ):
            status = 503
        if path == "/patroni":
            status, body = 200, json.dumps(self.patroni)
        elif path == "/config":
            status, body = 200, self.config
        elif path == "/replica":
            status = 503
        # In two pieces, as a network may do it.
        connection.sendall(f"HTTP/1.0 {status} Said\r\nContent-Type: application/json\r\n".encode())
        connection.sendall(f"\r\n{body}".encode())

    def _greet(self, connection: socket.socket) -> None:
        connection.sendall(self.name.encode())
        connection.recv(1)
