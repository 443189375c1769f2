"""Waits with a Raft log that is lost, and tells the operator so, in Patroni's place.

No member can say by itself that a log is lost everywhere: one that does not answer may have it. So
this member starts nothing, says in its log what it waits for, answers ``GET /patroni`` on the REST
port with its finding and the end of its data, and goes on when the partners have been a quorum
without it for long enough, or when its container is started again with the operator's request.
Invariant: every answer but that one is 503, and nothing on the disk is changed but the number of
this loss.
"""

import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml

from .data_end import told
from .health import LOG_LOST
from .raft_aside import tell, write_whole
from .raft_files import DamageError, RaftFiles, read_meta
from .raft_status import Node, NodeStatus, await_settled

FINDING = "raft-log-lost"
END_TAG = "queenright_end"
SETTLED_S = 45.0
"""The time for which the partners have to be a quorum before this member joins them: they elect
the database's leader meanwhile, which is better than what this member's data may make of it. Where
their recovery takes longer, and their log began anew, the fence keeps this one from leading."""
STEP_S = 2.0


def wait(files: RaftFiles, node: Node, config: Path, data: Path) -> NodeStatus:
    """Wait, and tell; return the partners' leader once they have been settled for long."""
    number, end = number_of_loss(files), told(data)
    body = answer(config, {**end, "number": number, "term": term_of(files)})
    tell(waiting(node, number, end))
    server = serve(address_in(config), body)
    try:
        return await_quorum(node)
    finally:
        server.shutdown()
        server.server_close()


def waiting(node: Node, number: str, end: Mapping[str, object]) -> str:
    """Return what this member waits for, and what a person can do where there is no operator."""
    place = "; ".join(f"{name} {value}" for name, value in end.items() if name != "history")
    return (
        f"{node.name}: its Raft log is lost, so it starts nothing and waits until its partners are "
        f"a quorum, or the operator has compared all members (its data: {place or 'none'}). "
        "Without an operator, compare these lines of all members, and name the one with the "
        "highest timeline and then the highest location: first on that one, then on the others, "
        "each with its own number: docker service update --env-add "
        f"RAFT_RESET=anew:<that member>:{number} <service of {node.name}>"
    )


def await_quorum(
    node: Node, least_s: float = SETTLED_S, clock: Callable[[], float] = time.monotonic
) -> NodeStatus:
    """The partners' leader, once they have been a quorum for so long; no leader counts before."""
    since: float | None = None
    while True:
        leader = await_settled(node.own, node.partners, node.ask, 0.0)
        since = None if leader is None else clock() if since is None else since
        if leader is not None and since is not None and clock() - since >= least_s:
            return leader
        time.sleep(STEP_S)


def number_of_loss(files: RaftFiles) -> str:
    """The number of this loss, which a request has to name: made once, kept on the disk until the
    request is obeyed, so that none is obeyed for a later loss."""
    try:
        if kept := files.lost.read_text(encoding="utf-8").strip():
            return kept
    except (OSError, UnicodeDecodeError):
        pass
    number = os.urandom(6).hex()
    write_whole(files.lost, number.encode())
    return number


def term_of(files: RaftFiles) -> int:
    """The newest term that this node knows of; 0 where that is lost, too."""
    try:
        return int(read_meta(files.meta).get("currentTerm", 0))
    except DamageError:
        return 0


def answer(config: Path, end: Mapping[str, object]) -> bytes:
    """The body of ``/patroni``, as the operator reads it."""
    found = yaml.safe_load(config.read_text(encoding="utf-8"))
    return json.dumps(
        {
            "state": LOG_LOST,
            "role": "replica",
            "cluster_unlocked": True,
            "tags": {"queenright_finding": FINDING, END_TAG: end},
            "patroni": {"version": "", "scope": found.get("scope"), "name": found.get("name")},
        }
    ).encode()


def address_in(config: Path) -> tuple[str, int]:
    """Address and port on which Patroni would listen."""
    found = yaml.safe_load(config.read_text(encoding="utf-8"))
    host, _, port = str(found["restapi"]["listen"]).rpartition(":")
    return host.strip("[]") or "0.0.0.0", int(port)  # noqa: S104 - as Patroni itself


def serve(address: tuple[str, int], body: bytes) -> ThreadingHTTPServer:
    """Answer on that address from now on, in a thread."""

    class Handler(BaseHTTPRequestHandler):
        timeout = 5.0

        def do_GET(self) -> None:
            self.respond(200 if self.path.split("?")[0] == "/patroni" else 503, body)

        def do_OPTIONS(self) -> None:
            self.respond(503, b"")  # as Patroni: the status alone counts

        do_HEAD = do_OPTIONS  # noqa: N815 - as above

        def respond(self, status: int, text: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: Any) -> None:
            """Nothing: proxies and the operator ask every second."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            """Nothing: a proxy's check hangs up as soon as it has the status."""

    server = Server(address, Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
