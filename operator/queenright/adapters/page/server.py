"""Serves the page over HTTP, one request a connection, read by h11.

Invariants: a client can cost the operator only a bounded number of connections, bytes and time,
however slow or many they are; no fault here ends anything but the connection; nothing is written
anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import cast

import anyio
import h11
import structlog
from anyio.abc import SocketAttribute, SocketListener, SocketStream, TaskGroup, TaskStatus
from anyio.streams.stapled import MultiListener

from queenright.adapters.page.access import Access, Refused
from queenright.ports.pages import Page, Pages

log = structlog.get_logger()

MOST_OPEN = 48
MOST_STREAMS = 24
"""Open connections, and those among them that wait for news."""
PACE_S = 0.005
"""Between two connections: at most two hundred a second, so that no flood keeps a pass waiting."""
HEAD_BYTES = 8_192
HEAD_S = 5.0
ANSWER_S = 15.0
SEND_S = 10.0
LINGER_S = 1.0
LINGER_BYTES = 65_536
BEAT_S = 15.0
STREAM_S = 3_600.0
NEWS_S = 1.1
"""From a change to the news of it, and between two of them. By then no page that was made before
the change is young enough to be sent again."""
AGAIN_S = 5.0
EVENTS = "/events"
TEXT = "text/plain; charset=utf-8"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SAFE = (
    ("Content-Security-Policy", POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
    ("Connection", "close"),
)
"""On every answer."""
GONE = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)
"""Exceptions of a client that has gone, or does not read."""


class Server:
    """Serves pages to those whom ``access`` lets see them."""

    def __init__(self, pages: Pages, access: Access) -> None:
        self._pages = pages
        self._access = access
        self._open = anyio.Semaphore(MOST_OPEN)
        self._streams = 0

    async def serve(
        self,
        address: str,
        port: int,
        *,
        task_status: TaskStatus[int] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Serve until cancelled. An address that can't be listened on is tried again: the page
        must not keep the operator from its work. ``task_status`` is given the port."""
        async with (
            await self._listen(address, port) as listeners,
            anyio.create_task_group() as group,
        ):
            (listener,) = cast("Sequence[SocketListener]", listeners.listeners)
            bound = listener.extra(SocketAttribute.local_port)  # noqa: S610 (no Django)
            log.info("page", address=address, port=bound)
            task_status.started(bound)
            while True:
                await self._take(listener, group)

    async def _listen(self, address: str, port: int) -> MultiListener[SocketStream]:
        while True:
            try:
                return await anyio.create_tcp_listener(local_host=address, local_port=port)
            except OSError as error:
                log.warning("page", address=address, port=port, error=str(error), again_s=AGAIN_S)
            await anyio.sleep(AGAIN_S)

    async def _take(self, listener: SocketListener, group: TaskGroup) -> None:
        """Take one connection, when there is room for it. Others wait outside this process."""
        await self._open.acquire()
        try:
            stream = await listener.accept()
        except OSError as error:
            self._open.release()
            log.warning("page", doing="taking a connection", error=str(error))
            await anyio.sleep(AGAIN_S)
            return
        group.start_soon(self._connection, stream)
        await anyio.sleep(PACE_S)

    async def _connection(self, stream: SocketStream) -> None:
        try:
            async with stream:
                await self._answer(stream)
        except GONE:
            pass
        except Exception:
            log.exception("page", doing="answering")
        finally:
            self._open.release()

    async def _answer(self, stream: SocketStream) -> None:
        """Read one request, and answer it."""
        wire = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES)
        request: h11.Request | None = None
        with anyio.move_on_after(HEAD_S):
            try:
                request = await read_head(wire, stream)
            except h11.RemoteProtocolError as error:
                await refuse(wire, stream, Refused(error.error_status_hint, "This is no request"))
                return
        if request is None:
            return
        refused = self._access.refusal(request.method.decode("ascii"), request.headers)
        if refused is not None:
            await refuse(wire, stream, refused)
            return
        target = request.target.decode("ascii")
        if target.partition("?")[0] == EVENTS and request.method == b"GET":
            await self._events(wire, stream)
            return
        with anyio.move_on_after(ANSWER_S):
            await send(
                wire, stream, await self._pages.page(target), is_head=request.method == b"HEAD"
            )

    async def _events(self, wire: h11.Connection, stream: SocketStream) -> None:
        """Send the news until the client goes, or for an hour: then it connects again."""
        if self._streams >= MOST_STREAMS:
            again = (("Retry-After", "60"),)
            await refuse(wire, stream, Refused(503, "Too many pages are open", again))
            return
        self._streams += 1
        try:
            head = [*SAFE, ("Content-Type", "text/event-stream")]
            await put(stream, wire.send(h11.Response(status_code=200, headers=head)))
            with anyio.move_on_after(STREAM_S):
                async with anyio.create_task_group() as group:
                    group.start_soon(self._news, wire, stream, group)
                    while await heard(stream):
                        pass
                    group.cancel_scope.cancel()
        finally:
            self._streams -= 1

    async def _news(self, wire: h11.Connection, stream: SocketStream, group: TaskGroup) -> None:
        """Send the news, the first of them in any case: the page may be older than the connection.
        A client that has gone, or does not read, ends the group."""
        version = -1
        try:
            await put(stream, wire.send(h11.Data(data=b"retry: 5000\n\n")))
            while True:
                words = b": still here\n\n"
                with anyio.move_on_after(BEAT_S):
                    version = await self._pages.changed(version)
                    words = b"event: pass\ndata: %d\n\n" % version
                await anyio.sleep(NEWS_S)
                await put(stream, wire.send(h11.Data(data=words)))
        except GONE:
            group.cancel_scope.cancel()


async def read_head(wire: h11.Connection, stream: SocketStream) -> h11.Request | None:
    """Return the head of a request; None if the client went."""
    while True:
        event = wire.next_event()
        if isinstance(event, h11.Request):
            return event
        if event is not h11.NEED_DATA:
            return None
        try:
            wire.receive_data(await stream.receive(HEAD_BYTES))
        except anyio.EndOfStream:
            return None


async def heard(stream: SocketStream) -> bool:
    """Return False once the client has gone. Whatever else it sends is not read as a request."""
    try:
        await stream.receive(HEAD_BYTES)
    except GONE:
        return False
    await anyio.sleep(1)
    return True


async def refuse(wire: h11.Connection, stream: SocketStream, refused: Refused) -> None:
    page = Page(refused.status, TEXT, f"{refused.reason}.\n".encode())
    await send(wire, stream, page, headers=refused.headers)


async def send(
    wire: h11.Connection,
    stream: SocketStream,
    page: Page,
    headers: Iterable[tuple[str, str]] = (),
    *,
    is_head: bool = False,
) -> None:
    """Send an answer, and close in a way that lets the client read it."""
    head = [
        *SAFE,
        ("Content-Type", page.media_type),
        ("Content-Length", str(len(page.body))),
        *headers,
    ]
    reason = HTTPStatus(page.status).phrase
    answer = h11.Response(status_code=page.status, headers=head, reason=reason.encode())
    data = wire.send(answer) or b""
    if not is_head:
        data += wire.send(h11.Data(data=page.body)) or b""
    await put(stream, data + (wire.send(h11.EndOfMessage()) or b""))
    await stream.send_eof()
    received = 0
    with anyio.move_on_after(LINGER_S):
        while received < LINGER_BYTES:
            received += len(await stream.receive(HEAD_BYTES))


async def put(stream: SocketStream, data: bytes | None) -> None:
    """Send bytes. OSError if the client does not take them in time."""
    with anyio.move_on_after(SEND_S) as scope:
        await stream.send(data or b"")
    if scope.cancelled_caught:
        raise TimeoutError
