"""The process: listens, drains on SIGTERM, exits 0 (spec: notes-app §3).

Draining: no new connections; requests in flight, and those that arrive on open connections in the
first moment, are answered with `Connection: close`. Open event streams keep the server busy until
`SHUTDOWN_TIMEOUT`. Invariant: a request whose first byte was read before the timeout is answered.
"""

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from notes import backlog
from notes.app import build
from notes.auth.vault import WrongKeyError
from notes.config import Settings
from notes.db.migrate import SchemaError
from notes.edge.app import Edge
from notes.log import say
from notes.version import version

logger = logging.getLogger(__name__)

IDLE_GRACE_S = 1.0
BACKLOG = 2048
EXIT_OK, EXIT_USAGE = 0, 2


class Server(uvicorn.Server):
    """uvicorn, with our way of stopping."""

    edge: Edge

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        ports = [s.getsockname()[1] for server in self.servers for s in server.sockets]
        say(logger, "listening", port=ports[0] if ports else None, version=version())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        say(logger, "draining", connections=len(self.server_state.connections))
        self.edge.draining = True
        await backlog.empty(s.fileno() for server in self.servers for s in server.sockets)
        for server in self.servers:
            server.close()
        # A client may be sending on an idle connection this very moment: closing it now would cut
        # that request. Answers say `Connection: close` meanwhile.
        loop = asyncio.get_running_loop()
        timeout_s = float(self.config.timeout_graceful_shutdown or 0)
        deadline = loop.time() + min(IDLE_GRACE_S, timeout_s)
        while self.server_state.connections and loop.time() < deadline:
            await asyncio.sleep(0.05)
        await super().shutdown(sockets)
        say(logger, "stopped")

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        # uvicorn's own raises the signal again at the end; the contract asks for exit code 0.
        originals = {
            sig: signal.signal(sig, self.handle_exit) for sig in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for sig, handler in originals.items():
                signal.signal(sig, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.should_exit = True


def serve(settings: Settings, front: Callable[[ASGIApp], ASGIApp] | None = None) -> int:
    """Runs the replica until it is told to stop; the exit code.

    `front` may put something before it, as a proxy would be.
    """
    fatal = list[Exception]()

    def stop(error: Exception) -> None:
        fatal.append(error)
        server.should_exit = True

    edge, _ = build(settings, stop)
    server = Server(
        uvicorn.Config(
            front(edge) if front else edge,
            host=settings.host,
            port=settings.port,
            backlog=BACKLOG,
            http="httptools",
            ws="none",
            loop="uvloop",
            lifespan="on",
            access_log=False,
            log_config=None,
            # Forwarded headers are our own settings' business alone.
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=settings.shutdown_timeout_s,
        )
    )
    server.edge = edge
    server.run()
    for error in fatal:
        logger.error("%s", error)
        return EXIT_USAGE if isinstance(error, WrongKeyError | SchemaError) else 1
    return EXIT_OK
