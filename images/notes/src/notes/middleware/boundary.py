"""The outermost ASGI layer: applies the rules that hold for every request.

It determines site, scheme and client address, limits the body and sets the headers that every
answer has. Invariant: every error becomes an answer here, and an internal failure shows no details.
"""

import asyncio
import contextlib
import logging
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from notes.config import Settings
from notes.http.problems import Problem, unavailable
from notes.http.viewer import Seen, network
from notes.log import say
from notes.middleware import request_url
from notes.middleware.sites import HostMap
from notes.words.spoken import of_messages

logger = logging.getLogger("notes.access")

SEEN = "notes.seen"
MAX_COOKIES = 200
EXCEPTIONS = {"/healthz", "/readyz", "/internal/tls-ask"}  # spec: notes-app §7
# No source of styles and scripts: an HTML view adds its own style sheet.
POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none';"
    " img-src 'self' data:; media-src 'self'; connect-src 'self'; manifest-src 'self';"
    " worker-src 'self'; font-src 'self'; frame-src 'self'"
)


class Boundary:
    """The ASGI application around the routes."""

    def __init__(
        self,
        inner: ASGIApp,
        settings: Settings,
        hosts: HostMap,
        answer: Callable[[Request, Problem], Response],
    ) -> None:
        """`answer` is the page or the document with a problem, by the client of the request."""
        self._inner = inner
        self._answer = answer
        self._settings = settings
        self._hosts = hosts
        self.draining = False
        self._under_way = Counter[str]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._inner(scope, receive, send)
            return
        started = time.perf_counter()
        status = 0

        async def send_dressed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _dress(message, self.draining)
            await send(message)

        try:
            response = self._settle(scope)
            if response is not None:
                await response(scope, receive, send_dressed)
            else:
                with self._counted(scope):
                    await self._limited(scope, receive, send_dressed)
        except Problem as problem:
            await self._refusal(scope, problem)(scope, receive, send_dressed)
        except asyncio.CancelledError:
            if status == 0:
                stopping = unavailable("This replica is stopping; try again.")
                await self._refusal(scope, stopping)(scope, receive, send_dressed)
        except Exception:
            # The inner application has already answered if it still could.
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

    def _refusal(self, scope: Scope, problem: Problem) -> Response:
        # Without a site there is no page.
        is_settled = SEEN in scope and scope["path"] not in EXCEPTIONS
        if is_settled:
            return self._answer(Request(scope), problem)
        return problem.response(of_messages(Headers(scope=scope)))

    def _settle(self, scope: Scope) -> Response | None:
        headers = scope["headers"]
        client = scope.get("client")
        address = request_url.address(self._settings, headers, client[0] if client else "")
        scheme = request_url.scheme(self._settings, headers)
        host = request_url.host(self._settings, headers)
        if scope["path"] in EXCEPTIONS:
            scope[SEEN] = Seen(scheme, host or "", address)
            return None
        if sum(value.count(b";") for key, value in headers if key == b"cookie") > MAX_COOKIES:
            raise Problem(431, f"There may be {MAX_COOKIES} cookies.")
        site = None if host is None else self._hosts.site(host)
        if host is None or site is None:
            return PlainTextResponse("Not found\n", 404)
        scope["scheme"] = scheme
        scope[SEEN] = Seen(scheme, host, address, site)
        return None

    @contextlib.contextmanager
    def _counted(self, scope: Scope) -> Iterator[None]:
        """Counts the request; raises a 429 for too many concurrent requests of one address."""
        if scope["path"] in EXCEPTIONS:
            yield
            return
        most = self._settings.max_connections_per_address
        address = network(scope[SEEN].address)
        if self._under_way[address] >= most:
            raise Problem(
                429,
                f"{most} requests from this address are being handled already.",
                headers={"retry-after": "5", "connection": "close"},
            )
        self._under_way[address] += 1
        try:
            yield
        finally:
            self._under_way[address] -= 1
            if self._under_way[address] <= 0:
                del self._under_way[address]

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
            await self._refusal(scope, too_large)(scope, receive, send)
            return
        await self._inner(scope, receive_counted, send)


def _loggable(path: str) -> str:
    """The path without the token of a share link, since the token grants access."""
    return re.sub(r"^/s/[^/]+", "/s/…", path)


def _dress(message: Message, draining: bool) -> None:
    headers: list[tuple[bytes, bytes]] = list(message.get("headers", ()))
    present = {key for key, _ in headers}
    for key, value in (
        (b"content-security-policy", POLICY.encode()),
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
