"""Limits each client connection: header size, transfer rate, idle time, number of connections.

uvicorn's protocol has no such limits: it stores a header of gigabytes, and waits without end for
the rest of a request. Invariant: every connection either makes progress, or gets an answer with the
reason and is closed. A slow client that keeps sending earns time with each byte.
"""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import msgspec
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from notes.http.problems import PROBLEM_TYPE, Problem
from notes.http.viewer import network
from notes.middleware.connection_limits import Crowd


class Refused(Exception):  # noqa: N818 - a refused request is no error of the server
    """Ends the reading of a request with an answer."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


class _Transport:
    """A transport that lets a client that is still sending read the answer before it closes.

    If it closed at once, the kernel would reset the connection and the answer would be lost.
    """

    def __init__(self, inner: asyncio.Transport, linger: Callable[[], bool]) -> None:
        self._inner = inner
        self._linger = linger
        self._is_leaving = False
        self.write = inner.write
        self.pause_reading = inner.pause_reading
        self.resume_reading = inner.resume_reading

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def is_closing(self) -> bool:
        return self._is_leaving or self._inner.is_closing()

    def close(self) -> None:
        if self.is_closing():
            return
        self._is_leaving = True
        if not self._linger():
            self._inner.close()


class Connection(HttpToolsProtocol):
    """uvicorn's protocol with `Limits`."""

    def __init__(self, *arguments: Any, crowd: Crowd, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._crowd = crowd
        self._limits = crowd.limits
        self._address = ""
        self._is_counted = False
        self._is_lingering = False
        self._refusal: Problem | None = None
        # State of the request that is being read.
        self._head_since: float | None = None
        self._head_bytes = self._head_fields = self._sum = 0
        self._is_read = True
        self._in_body = False
        self._framing_bytes = self._body_bytes = self._unread_bytes = self._fed_bytes = 0
        self._read_credit_s = self._write_credit_s = self._limits.grace_s
        self._buffered = 0
        self._inner: asyncio.Transport | None = None
        self._ticking: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._inner = transport
        super().connection_made(_Transport(transport, self._linger))  # type: ignore[arg-type]
        self._address = network(self.client[0]) if self.client else ""
        self._is_counted = True
        self._head_since = self.loop.time()
        self._tick()
        problem = self._crowd.enter(self._address)
        if problem is not None:
            self._refuse(problem)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._ticking is not None:
            self._ticking.cancel()
        if self._is_counted:
            self._is_counted = False
            self._crowd.leave(self._address)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_lingering:
            return
        if self._is_read and self._head_since is None:
            self._begin()
        self._fed_bytes = 0
        super().data_received(data)
        self._read_credit_s = min(
            self._read_credit_s + len(data) / self._limits.bytes_per_s, 2 * self._limits.grace_s
        )
        if self.transport.is_closing():
            return
        if self._in_body:
            self._framing_bytes += len(data) - self._fed_bytes
            if self._framing_bytes > 2 * self._limits.head_bytes + 8 * self._body_bytes:
                self._refuse(Problem(400, "The body consists mostly of chunk framing."))
        elif self._head_since is not None:
            self._head_bytes += len(data)
            if self._head_bytes > self._limits.head_bytes:
                self._refuse(self._too_long())

    def eof_received(self) -> None:
        if self._is_lingering and self._inner is not None:
            self._inner.close()

    def _begin(self) -> None:
        self._head_since = self.loop.time()
        self._head_bytes = self._head_fields = 0

    def _too_long(self) -> Problem:
        return Problem(
            431,
            f"The request's line and headers may have {self._limits.head_bytes} bytes"
            f" and {self._limits.head_fields} fields.",
        )

    # Called by the parser. An exception ends the reading; `send_400_response` answers.

    def on_message_begin(self) -> None:
        if self._head_since is None:
            self._begin()
        self._is_read = self._in_body = False
        self._framing_bytes = self._body_bytes = self._head_fields = self._unread_bytes = 0
        self._read_credit_s = self._limits.grace_s
        self._sum = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_fields += 1
        self._count(len(name) + len(value) + 4)
        if not self._in_body:  # trailers are ignored: the request was accepted without them
            super().on_header(name, value)

    def _count(self, size: int) -> None:
        self._sum += size
        is_long = self._sum > self._limits.head_bytes
        if is_long or self._head_fields > self._limits.head_fields:
            self._refusal = self._too_long()
            raise Refused(self._refusal)

    def on_headers_complete(self) -> None:
        self._head_since = None
        self._in_body = True
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        self._fed_bytes += len(body)
        if self.cycle.response_complete:
            # The request was answered before all of it was read: a small rest may still come, so
            # that the connection can be reused.
            self._unread_bytes += len(body)
            if self._unread_bytes > self._limits.unread_bytes:
                self.transport.close()
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._is_read = True
        self._in_body = False
        if self.cycle.response_complete and not self.transport.is_closing():
            self._unset_keepalive_if_required()
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        if self._refusal is None:
            super().send_400_response(msg)
        else:
            self._refuse(self._refusal)

    def on_response_complete(self) -> None:
        crowded = self._crowd.is_crowded
        self.timeout_keep_alive = self._limits.crowded_idle_s if crowded else self._limits.idle_s
        super().on_response_complete()

    # Time.

    def _tick(self) -> None:
        self._ticking = self.loop.call_later(self._limits.tick_s, self._tick)
        if self._inner is None or self._inner.is_closing() or self._is_lingering:
            return
        self._watch_writing(self._inner.get_write_buffer_size())
        if self._head_since is not None:
            if self.loop.time() - self._head_since > self._limits.head_s:
                self._late(f"The headers did not arrive within {self._limits.head_s:.0f} s.")
        elif self._in_body and not self.flow.read_paused:
            self._read_credit_s -= self._limits.tick_s
            if self._read_credit_s < 0:
                self._late(f"The body arrives at less than {self._limits.bytes_per_s} bytes/s.")

    def _watch_writing(self, buffered: int) -> None:
        """Aborts the connection of a client that reads too slowly: its answer fills memory."""
        if not self.flow.write_paused:
            self._write_credit_s = self._limits.grace_s
        else:
            # While writing is paused nothing is added, so a smaller buffer means bytes were sent.
            taken = max(0, self._buffered - buffered)
            self._write_credit_s -= self._limits.tick_s
            self._write_credit_s += taken / self._limits.bytes_per_s
            self._write_credit_s = min(self._write_credit_s, 2 * self._limits.grace_s)
            if self._write_credit_s < 0 and self._inner is not None:
                self._inner.abort()
        self._buffered = buffered

    def _late(self, why: str) -> None:
        is_answered = self._in_body and self.cycle.response_complete
        if self._is_read or is_answered:
            self.transport.close()  # there is no request to answer
        else:
            self._refuse(Problem(408, why))

    # Answers that the connection writes itself.

    def _refuse(self, problem: Problem) -> None:
        self._unset_keepalive_if_required()
        is_answering = bool(self.cycle) and not self.cycle.response_complete
        # The application may already have begun to answer this request.
        if not (is_answering and self.cycle.response_started):
            body = msgspec.json.encode(problem.document)
            self.transport.write(
                STATUS_LINE[problem.status]
                + b"content-type: "
                + PROBLEM_TYPE.encode()
                + b"\r\ncontent-length: "
                + str(len(body)).encode()
                + b"\r\ncache-control: no-store\r\nconnection: close\r\n\r\n"
                + body
            )
        if is_answering:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self._is_read = False
        self.transport.close()

    def _linger(self) -> bool:
        """Delays the close so that a sending client can read the answer; False if not needed."""
        if self._is_read or self._inner is None or self._inner.is_closing():
            return False
        self._is_lingering = True
        with contextlib.suppress(OSError, RuntimeError, NotImplementedError):
            self._inner.write_eof()
            self.flow.resume_reading()
        self.loop.call_later(self._limits.linger_s, self._inner.close)
        return True
