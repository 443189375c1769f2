"""A process that is the Docker engine of many clusters: ``FakeEngine`` on a unix socket.

A process of its own, so that neither its memory nor its processor's time counts as the operator's.
``python -m tests.bench.engine_server DIRECTORY SOCKET ANSWERS`` reads the files, serves what they
deploy, and writes to ANSWERS what the members would say.
"""

from __future__ import annotations

import json
import pickle
import socketserver
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from queenright.ports.swarm import ConflictError
from tests.bench.engine_lists import FakeEngine, without_objects
from tests.fakes.loading import judged
from tests.support.many_clusters import Deployed, deployed

STARTS_S = 180.0
VERSION = {"ApiVersion": "1.41", "MinAPIVersion": "1.12"}


class Handler(BaseHTTPRequestHandler):
    """Answers as dockerd does; of writes it knows the update of a service."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        asked, engine = urlsplit(self.path), self.server.engine
        kind = asked.path.rpartition("/")[2]
        match kind:
            case "events":
                self._events()
            case "version":
                self._say(200, VERSION)
            case "info":
                self._say(200, engine.info())
            case "json":  # /distribution/<image>/json
                image = asked.path.partition("/distribution/")[2].removesuffix("/json")
                self._say(200, engine.inspect_distribution(image))
            case _:
                self._send(200, engine.get(f"/{kind}", **dict(parse_qsl(asked.query))))

    def do_POST(self) -> None:
        asked, engine = urlsplit(self.path), self.server.engine
        spec = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        service_id = asked.path.split("/")[-2]
        version = int(dict(parse_qsl(asked.query))["version"])
        try:
            engine.update_service(service_id, version, spec)
        except ConflictError as error:
            self._say(500, {"message": str(error)})
            return
        self._say(200, {"Warnings": None})

    def _events(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in self.server.engine.events():
            text = json.dumps(event).encode() + b"\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text))
            self.wfile.flush()

    def _say(self, status: int, told: object) -> None:
        self._send(status, json.dumps(told).encode())

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self) -> str:
        return "the operator"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # its name there
        pass


class Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, path: Path, engine: FakeEngine) -> None:
        self.engine = engine
        super().__init__(str(path), Handler)


def main(directory: Path, socket: Path, answers: Path) -> None:
    texts = {str(path): path.read_text() for path in sorted(directory.glob("*.yaml"))}
    found = deployed(judged(texts).documents)
    server = Server(socket, FakeEngine(found))
    fresh = answers.with_suffix(".new")
    fresh.write_bytes(pickle.dumps(without_objects(found)))
    fresh.replace(answers)
    server.serve_forever()


@contextmanager
def engine_of(directory: Path) -> Iterator[tuple[str, Deployed]]:
    """The address of the engine on which the files of a directory are deployed, as DOCKER_HOST, and
    its members' answers."""
    socket, answers = directory / "engine.sock", directory / "answers.pickle"
    command = [sys.executable, "-m", "tests.bench.engine_server"]
    process = subprocess.Popen([*command, str(directory), str(socket), str(answers)])
    try:
        began = time.monotonic()
        while not answers.exists():
            assert process.poll() is None, "the engine has ended"
            assert time.monotonic() - began < STARTS_S, "the engine does not start"
            time.sleep(0.1)
        yield f"unix://{socket}", pickle.loads(answers.read_bytes())  # noqa: S301  # our own
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
