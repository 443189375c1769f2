"""The outermost layer: settles what a request is before anything else looks at it.

Host rules, client address, body limit and the headers that every answer carries. Invariant: an
error becomes an answer here, and a failure of our own never shows its inside.
"""

import asyncio
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable

from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from notes.config import Settings
from notes.edge import request_url
from notes.edge.hosts import HostMap
from notes.http.call import Seen
from notes.http.problems import Problem, unavailable
from notes.log import say

logger = logging.getLogger("notes.access")

SEEN = "notes.seen"
NONCE = "notes.nonce"
EXCEPTIONS = {"/healthz", "/readyz", "/internal/tls-ask"}  # spec: notes-app §7
_POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none';"
    " img-src 'self' data:; media-src 'self'; connect-src 'self'; manifest-src 'self';"
    " worker-src 'self'; font-src 'self'; style-src 'nonce-{0}'; script-src 'nonce-{0}'"
)


class Edge:
    """An ASGI application around the routes."""

    def __init__(self, inner: ASGIApp, settings: Settings, hosts: HostMap) -> None:
        self._inner = inner
        self._settings = settings
        self._hosts = hosts
        self.draining = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._inner(scope, receive, send)
            return
        started = time.perf_counter()
        nonce = secrets.token_urlsafe(12)
        status = 0

        async def send_dressed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _dress(message, nonce, self.draining)
            await send(message)

        try:
            response = self._settle(scope, nonce)
            if response is not None:
                await response(scope, receive, send_dressed)
            else:
                await self._limited(scope, receive, send_dressed)
        except asyncio.CancelledError:
            if status == 0:
                stopping = unavailable("This replica is stopping; try again.")
                await stopping.response()(scope, receive, send_dressed)
        except Exception:
            # The inner application has answered already, where it still could.
            logger.exception("a request failed")
        finally:
            say(
                logger,
                "request",
                method=scope["method"],
                path=_loggable(scope["path"]),
                status=status,
                ms=round((time.perf_counter() - started) * 1000, 1),
                address=scope[SEEN].address if SEEN in scope else None,
            )

    def _settle(self, scope: Scope, nonce: str) -> Response | None:
        headers = scope["headers"]
        client = scope.get("client")
        address = request_url.address(self._settings, headers, client[0] if client else "")
        scheme = request_url.scheme(self._settings, headers)
        host = request_url.host(self._settings, headers)
        scope[NONCE] = nonce
        if scope["path"] in EXCEPTIONS:
            scope[SEEN] = Seen(scheme, host or "", address)
            return None
        site = None if host is None else self._hosts.site(host)
        if host is None or site is None:
            return PlainTextResponse("Not found\n", 404)
        scope["scheme"] = scheme
        scope[SEEN] = Seen(scheme, host, address, site)
        return None

    async def _limited(
        self, scope: Scope, receive: Receive, send: Callable[[Message], Awaitable[None]]
    ) -> None:
        limit = self._settings.body_limit_bytes
        left = limit
        too_large = Problem(
            413,
            f"The body is larger than {limit} bytes (BODY_SIZE_LIMIT).",
            headers={"connection": "close"},
        )

        async def receive_counted() -> Message:
            nonlocal left
            message = await receive()
            if message["type"] == "http.request":
                left -= len(message.get("body", b""))
                if left < 0:
                    raise too_large
            return message

        announced = request_url.values(scope["headers"], "content-length")
        if announced and announced[0].isdigit() and int(announced[0]) > limit:
            await too_large.response()(scope, receive, send)
            return
        await self._inner(scope, receive_counted, send)


def _loggable(path: str) -> str:
    """The path, less the token of a share link: who has that may read."""
    return re.sub(r"^/s/[^/]+", "/s/…", path)


def _dress(message: Message, nonce: str, draining: bool) -> None:
    headers: list[tuple[bytes, bytes]] = list(message.get("headers", ()))
    present = {key for key, _ in headers}
    for key, value in (
        (b"content-security-policy", _POLICY.format(nonce).encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"same-origin"),
        (b"cross-origin-opener-policy", b"same-origin"),
        (b"cross-origin-resource-policy", b"same-origin"),
    ):
        if key not in present:
            headers.append((key, value))
    if draining and b"connection" not in present:
        headers.append((b"connection", b"close"))
    message["headers"] = headers
