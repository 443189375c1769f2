"""The server process: listens, drains on SIGTERM, exits 0 (spec: notes-app §3).

Draining: no new connections; requests in flight, and those that arrive on open connections during
the first second, are answered with `Connection: close`. Open event streams keep the server busy
until `SHUTDOWN_TIMEOUT`. Invariant: a request whose first byte was read before the timeout is
answered.
"""

import asyncio
import contextlib
import functools
import logging
import resource
import signal
import socket
from collections.abc import Callable, Iterator
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from notes import socket_drain
from notes.app import build
from notes.auth.encryption import WrongKeyError
from notes.config import Settings
from notes.db.migrate import SchemaError
from notes.log import say
from notes.middleware.boundary import Boundary
from notes.middleware.connection import Connection
from notes.middleware.connection_limits import Crowd, Limits
from notes.version import version

logger = logging.getLogger(__name__)

IDLE_GRACE_S = 1.0
BACKLOG = 2048
SPARE_FILES = 256  # for the database, workers, and connections that are refused
EXIT_OK, EXIT_USAGE = 0, 2


class Server(uvicorn.Server):
    """uvicorn with a graceful shutdown that loses no request and exits with 0."""

    boundary: Boundary

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        ports = [s.getsockname()[1] for server in self.servers for s in server.sockets]
        say(logger, "listening", port=ports[0] if ports else None, version=version())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        say(logger, "draining", connections=len(self.server_state.connections))
        self.boundary.draining = True
        await socket_drain.empty(s.fileno() for server in self.servers for s in server.sockets)
        for server in self.servers:
            server.close()
        # A client may be sending a request on an idle connection right now: closing the connection
        # would lose it. Answers have `Connection: close` meanwhile.
        loop = asyncio.get_running_loop()
        timeout_s = float(self.config.timeout_graceful_shutdown or 0)
        deadline = loop.time() + min(IDLE_GRACE_S, timeout_s)
        while self.server_state.connections and loop.time() < deadline:
            await asyncio.sleep(0.05)
        await super().shutdown(sockets)
        say(logger, "stopped")

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        # uvicorn's method raises the signal again at the end; the contract requires exit code 0.
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


def serve(
    settings: Settings,
    front: Callable[[ASGIApp], ASGIApp] | None = None,
    limits: Limits | None = None,
) -> int:
    """Runs the replica until a signal stops it; returns the exit code.

    `front` may wrap the application, as a proxy would.
    """
    crowd = Crowd(limits or limits_of(settings))
    allow_connections(crowd.limits.connections)
    fatal = list[Exception]()

    def stop(error: Exception) -> None:
        fatal.append(error)
        server.should_exit = True

    boundary, _ = build(settings, stop)
    server = Server(
        uvicorn.Config(
            front(boundary) if front else boundary,
            host=settings.host,
            port=settings.port,
            backlog=BACKLOG,
            http=functools.partial(Connection, crowd=crowd),  # type: ignore[arg-type]
            ws="none",
            loop="uvloop",
            lifespan="on",
            access_log=False,
            log_config=None,
            # Only the application's own settings decide about forwarded headers.
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=crowd.limits.idle_s,
            timeout_graceful_shutdown=settings.shutdown_timeout_s,
        )
    )
    server.boundary = boundary
    server.run()
    for error in fatal:
        logger.error("%s", error)
        return EXIT_USAGE if isinstance(error, WrongKeyError | SchemaError) else 1
    return EXIT_OK


def limits_of(settings: Settings) -> Limits:
    """The connection limits; none per address behind a proxy, since all share its address."""
    most = None if settings.address_header else settings.max_connections_per_address
    return Limits(connections=settings.max_connections, per_address=most)


def allow_connections(count: int) -> None:
    """Raises the limit of open files for `count` connections, as far as the hard limit allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count + SPARE_FILES
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
