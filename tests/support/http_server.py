"""A real HTTP server on the loopback that answers what a test says: somebody else's program."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

Answer = tuple[int, object]
"""A status, and a body: bytes as they are, anything else as JSON. Status 0 hangs up unanswered."""


@dataclass
class Answering:
    """``answer`` is given the method and the path without its query."""

    answer: Callable[[str, str], Answer]
    port: int = 0
    asked: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    sent: list[tuple[str, bytes]] = field(default_factory=list)
    """Each request's Authorization and body."""

    @property
    def environment(self) -> dict[str, str]:
        return {"DOCKER_HOST": f"tcp://127.0.0.1:{self.port}"}


@contextmanager
def answering(answer: Callable[[str, str], Answer]) -> Iterator[Answering]:
    here = Answering(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            here.queries.append(urlsplit(self.path).query)
            here.asked.append(f"{self.command} {path}")
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            here.sent.append((self.headers.get("Authorization") or "", body))
            status, told = here.answer(self.command, path)
            if not status:
                return
            sent = told if isinstance(told, bytes) else json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        do_POST = do_PATCH = do_OPTIONS = do_DELETE = do_GET  # noqa: N815  # http.server's names

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # its name there
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    here.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield here
    finally:
        server.shutdown()
        thread.join()
        server.socket.close()
