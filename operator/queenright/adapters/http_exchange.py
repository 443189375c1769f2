"""One HTTP request on a connection of its own, read by h11, for the small answers of many peers.

A client with a pool costs several times as much for each request, and quadratic time for many at
once. Invariant: for any answer, only the errors named here are raised, and at most ``most_bytes``
are kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anyio
import h11
from anyio.abc import SocketStream

CHUNK_BYTES = 65_536
HEADS_BYTES = 65_536
"""Bytes of all that comes before a body, because interim answers may repeat without end."""


class NotSentError(Exception):
    """No connection, or no such address: the request was not sent."""


class NotHttpError(Exception):
    """No answer, or none in HTTP: anything may listen on a port."""


class TooLongError(NotHttpError):
    """An answer of more than ``most_bytes``."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request. ``body`` is sent as JSON."""

    method: str
    address: str
    port: int
    path: str
    body: Mapping[str, Any] | None = None

    def encoded(self) -> bytes:
        """Return its bytes. NotSentError for an address that can't be written into a request."""
        sent = b"" if self.body is None else json.dumps(self.body, separators=(",", ":")).encode()
        headers = [
            ("Host", f"{self.address}:{self.port}"),
            ("Accept", "*/*"),
            ("Accept-Encoding", "identity"),
            ("Connection", "close"),
            ("User-Agent", "queenright"),
        ]
        if self.body is not None:
            headers += [("Content-Type", "application/json"), ("Content-Length", str(len(sent)))]
        written = h11.Connection(h11.CLIENT)
        try:
            head = written.send(h11.Request(method=self.method, target=self.path, headers=headers))
            rest = written.send(h11.Data(sent)) if sent else b""
            end = written.send(h11.EndOfMessage())
        except (h11.LocalProtocolError, UnicodeError) as error:
            raise NotSentError(f"{self.address[:64]!r} is not an address") from error
        return (head or b"") + (rest or b"") + (end or b"")


async def exchange(
    request: Request, most_bytes: int, *, cut_off: bool = False, connect_s: float | None = None
) -> tuple[int, bytes]:
    """Return the answer's status and body. ``cut_off`` accepts the beginning of a longer one;
    without ``connect_s`` only the caller limits the time."""
    sent = request.encoded()
    try:
        with anyio.fail_after(connect_s):
            stream = await anyio.connect_tcp(request.address, request.port)
    except TimeoutError:
        raise NotSentError("no connection in time") from None
    except (OSError, ValueError) as error:
        raise NotSentError(str(error) or type(error).__name__) from error
    async with stream:
        try:
            await stream.send(sent)
            return await read_answer(stream, request.method, most_bytes, cut_off=cut_off)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError) as error:
            if isinstance(error, TimeoutError):
                raise
            raise NotHttpError("the connection was reset") from error
        except h11.ProtocolError as error:
            raise NotHttpError(str(error) or type(error).__name__) from error


async def read_answer(
    stream: SocketStream, method: str, most_bytes: int, *, cut_off: bool
) -> tuple[int, bytes]:
    """Return the answer on a connection on which the request was sent."""
    reading = h11.Connection(h11.CLIENT)
    # h11 has to know the request: the answer to HEAD, say, has no body.
    reading.send(h11.Request(method=method, target="/", headers=[("Host", "-")]))
    reading.send(h11.EndOfMessage())
    status, body, received = 0, bytearray(), 0
    while True:
        match reading.next_event():
            case h11.NEED_DATA:
                try:
                    data = await stream.receive(CHUNK_BYTES)
                except anyio.EndOfStream:
                    data = b""
                received += len(data)
                if received > most_bytes + HEADS_BYTES and not cut_off:
                    raise TooLongError("the answer does not end")
                reading.receive_data(data)
            case h11.Response(status_code=code):
                status = code
            case h11.Data(data=part):
                body += part
                if len(body) > most_bytes:
                    if cut_off:
                        return status, bytes(body[:most_bytes])
                    raise TooLongError("the answer does not end")
            case h11.EndOfMessage():
                return status, bytes(body)
            case h11.InformationalResponse():
                pass
            case _:
                raise NotHttpError("the connection was closed without an answer")
