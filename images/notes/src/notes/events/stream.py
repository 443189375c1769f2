"""The stream of server-sent events (spec: notes-app §6).

A stream begins with `hello`, whose id is its start position; a client that reconnects with
`Last-Event-ID`, or begins at the position that `GET /api/v1/me` has told it, gets the events that
it missed. If they are no longer stored, or a failover may have lost what it has read before, it
gets `reset` and has to reload; so does each client when a failover has lost an event that was sent,
with its change, and one whose user loses a space, before its stream ends. A `beat` comes whenever
nothing else was sent for 15 s.
Invariant: a stream's position moves only past events that were sent or are not for it.
"""

import asyncio
import contextlib
from uuid import UUID

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from notes.auth import sessions
from notes.events.event import Position
from notes.events.hub import Hub
from notes.http.context import Call
from notes.http.problems import Problem
from notes.http.routing import Table

table = Table("events")

HEARTBEAT_S = 15.0
BEAT = b"event: beat\ndata: {}\n\n"
"""An event, not a comment, which browsers do not show: a client that hears none for a while knows
that nobody is at the other end of its connection any more."""


class EventStream(Response):
    """An endless answer; ends when the client disconnects or its session ends."""

    media_type = "text/event-stream"

    def __init__(self, call: Call, hub: Hub, start: Position, first: bytes) -> None:
        super().__init__(headers={"cache-control": "no-cache", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._call = call
        self._hub = hub
        self._at = start
        self._first = first
        self._losses = hub.losses
        self._person: UUID = call.viewer.person

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        access = self._call.app.stream_access
        watched = access.watch(self._person, *sessions.digests(self._call))
        gone = asyncio.ensure_future(_disconnect(receive))
        over = asyncio.ensure_future(watched.over.wait())
        self._hub.watch(self._person)
        inbox = self._hub.inboxes.open(self._person)
        try:
            await self._write(send, self._first)
            clock = asyncio.get_running_loop().time
            written = clock()
            while not gone.done() and not over.done():
                if self._losses != self._hub.losses:
                    self._losses = self._hub.losses
                    if self._at == self._hub.lost_at:
                        self._at = self._at.end
                    await self._write(send, _said("reset", self._at))
                    written = clock()
                events, reached = await self._hub.since(self._at, self._person)
                space = self._call.seen.site.space_id
                if space is not None:
                    events = [e for e in events if e.space_id in {None, space}]
                unstored = inbox.take(space)
                if events or unstored:
                    await self._write(send, b"".join(e.frame for e in events) + unstored)
                    written = clock()
                # Decided by time alone, since events for others may arrive all the time.
                if clock() - written >= HEARTBEAT_S:
                    await self._write(send, BEAT)
                    written = clock()
                moved = reached != self._at
                self._at = reached
                if moved:
                    continue
                rest_s = max(0.01, written + HEARTBEAT_S - clock())
                news = asyncio.ensure_future(self._hub.news(self._at, rest_s))
                mail = asyncio.ensure_future(inbox.wait())
                await asyncio.wait({news, mail, gone, over}, return_when=asyncio.FIRST_COMPLETED)
                news.cancel()
                mail.cancel()
            if not gone.done():
                if watched.has_lost:
                    # A browser resumes where this stream ends: without this it would drop nothing.
                    await self._write(send, _said("reset", self._at))
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._hub.unwatch(self._person)
            self._hub.inboxes.close(self._person, inbox)
            access.unwatch(watched)
            gone.cancel()
            over.cancel()

    async def _write(self, send: Send, data: bytes) -> None:
        await send({"type": "http.response.body", "body": data, "more_body": True})


async def _disconnect(receive: Receive) -> None:
    with contextlib.suppress(Exception):
        while (await receive())["type"] != "http.disconnect":
            pass


class EventsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`since` is a position that `GET /api/v1/me` has told."""

    since: str = ""


@table("GET", "/api/v1/events", media_type="text/event-stream")
async def get_events(call: Call, query: EventsQuery) -> Response:
    """Stream live updates as server-sent events.

    Resume with `Last-Event-ID`, or begin at `since`.
    """
    hub = call.app.hub
    now = await hub.begin()
    resumed = call.request.headers.get("last-event-id", "").strip()
    given = resumed or query.since
    if not given:
        return EventStream(call, hub, now, _said("hello", now))
    at = Position.parse(given)
    if at is None:
        field = "last-event-id" if resumed else "since"
        raise Problem(422, f"{field} is not the position of an event.", field=field)
    # What was read before a failover may be lost, and no event tells of that.
    is_older = not resumed and at.timeline < now.timeline
    if is_older or await hub.lost(at):
        return EventStream(call, hub, now, _said("reset", now))
    if await hub.is_missing(at):
        # A client that connects again after this has read everything again.
        return EventStream(call, hub, at.end, _said("reset", at.end))
    return EventStream(call, hub, at, b"retry: 1000\n\n")


def _said(kind: str, at: Position) -> bytes:
    return f"retry: 1000\n\nid: {at}\nevent: {kind}\ndata: {{}}\n\n".encode()
