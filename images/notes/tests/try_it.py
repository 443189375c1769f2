"""One replica on a PostgreSQL of its own, for a look at it: `make notes-run`.

The database lives in the folder that NOTES_DATA names, or else in a new one that is removed at the
end. PORT is 3000 unless set. The pages are plain HTTP on this machine only.
"""

import logging
import os
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from notes import log
from notes.config import load
from notes.server import serve
from tests.postgres import NOBODY, Postgres
from tests.replica import KEY

HEADER = "x-forwarded-proto"


def as_a_proxy(app: ASGIApp) -> ASGIApp:
    """Says that the browser speaks plain HTTP, whatever the client says itself."""

    async def front(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            kept = [pair for pair in scope["headers"] if pair[0] != HEADER.encode()]
            scope = {**scope, "headers": [*kept, (HEADER.encode(), b"http")]}
        await app(scope, receive, send)

    return front


def database() -> tuple[Postgres, bool]:
    """A running server, and whether it is to be kept."""
    kept = os.environ.get("NOTES_DATA")
    server = Postgres(16, durable=kept is not None)
    if kept is None:
        server.create().database("notes")
        return server, False
    server.home.rmdir()
    server.home = Path(kept).absolute()
    server.data = server.home / "data"
    if server.data.exists():
        return server.start(), True
    server.home.mkdir(mode=0o755, parents=True, exist_ok=True)
    if os.geteuid() == 0:
        os.chown(server.home, NOBODY, NOBODY)
    server.create().database("notes")
    return server, True


def main() -> None:
    server, is_kept = database()
    port = os.environ.get("PORT", "3000")
    settings = load(
        {
            "APP_ENCRYPTION_KEY": KEY,
            **os.environ,
            "DATABASE_URL": server.url("notes"),
            "HOST": "127.0.0.1",
            "PORT": port,
            "PROTOCOL_HEADER": HEADER,
            "SHUTDOWN_TIMEOUT": "2",
        }
    )
    log.configure(logging.WARNING)
    print(f"http://localhost:{port}/ - Ctrl-C ends it", flush=True)
    try:
        serve(settings, as_a_proxy)
    finally:
        if is_kept:
            server.kill()
        else:
            server.remove()


if __name__ == "__main__":
    main()
