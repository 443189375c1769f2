"""The stream of server-sent events (spec: notes-app §6).

A stream begins with `hello`, whose id marks where it begins; a client that comes back with
`Last-Event-ID` gets what it missed. Where that is no longer stored it gets `reset` and has to read
anew. Invariant: the position of a stream moves only past events that were sent or are not for it.
"""

import asyncio
import contextlib
from uuid import UUID

import psycopg
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from notes.auth import sessions
from notes.db.failures import UnavailableError
from notes.events.hub import Hub, Position
from notes.http.call import Call
from notes.http.endpoint import Table
from notes.http.problems import Problem

table = Table("events")

HEARTBEAT_S = 15.0
CHECK_EVERY = 4  # heartbeats between two looks whether the session still holds


class EventStream(Response):
    """An endless answer; ends when the client leaves or the session does."""

    media_type = "text/event-stream"

    def __init__(self, call: Call, hub: Hub, start: Position, first: bytes) -> None:
        super().__init__(headers={"cache-control": "no-cache", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._call = call
        self._hub = hub
        self._at = start
        self._first = first
        self._person: UUID = call.viewer.person

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        gone = asyncio.ensure_future(_disconnect(receive))
        self._hub.watch(self._person)
        try:
            await self._write(send, self._first)
            clock = asyncio.get_running_loop().time
            written = checked = clock()
            while not gone.done():
                events, reached = await self._hub.since(self._at, self._person)
                space = self._call.seen.site.space_id
                if space is not None:
                    events = [e for e in events if e.space_id in {None, space}]
                if events:
                    await self._write(send, b"".join(e.frame for e in events))
                    written = clock()
                # By the clock: where much happens that is not for this person it is never quiet.
                if clock() - written >= HEARTBEAT_S:
                    await self._write(send, b": still here\n\n")
                    written = clock()
                if clock() - checked >= HEARTBEAT_S * CHECK_EVERY:
                    if not await self._still_holds():
                        break
                    checked = clock()
                moved = reached != self._at
                self._at = reached
                if moved:
                    continue
                rest_s = max(0.01, written + HEARTBEAT_S - clock())
                news = asyncio.ensure_future(self._hub.news(self._at, rest_s))
                await asyncio.wait({news, gone}, return_when=asyncio.FIRST_COMPLETED)
                news.cancel()
            if not gone.done():
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._hub.unwatch(self._person)
            gone.cancel()

    async def _write(self, send: Send, data: bytes) -> None:
        await send({"type": "http.response.body", "body": data, "more_body": True})

    async def _still_holds(self) -> bool:
        try:
            return await self._look_again()
        except (psycopg.Error, UnavailableError):
            return True  # a database that is away has ended no session

    async def _look_again(self) -> bool:
        call = self._call
        token = sessions.cookie(call.request, call.seen)
        if call.viewer.via == "session" and token:
            who = await sessions.viewer_of_session(call.app.db, token)
            return who.user_id == self._person
        given = sessions.bearer(call.request)
        return given is not None and await sessions.viewer_of_token(call.app.db, given) is not None


async def _disconnect(receive: Receive) -> None:
    with contextlib.suppress(Exception):
        while (await receive())["type"] != "http.disconnect":
            pass


@table("GET", "/api/v1/events", media_type="text/event-stream")
async def get_events(call: Call) -> Response:
    """Live updates as server-sent events.

    Resume with `Last-Event-ID`.
    """
    hub = call.app.hub
    now = await hub.begin()
    given = call.request.headers.get("last-event-id", "").strip()
    if not given:
        return EventStream(call, hub, now, _said("hello", now))
    at = Position.parse(given)
    if at is None:
        raise Problem(422, "Last-Event-ID is not the id of an event.", field="last-event-id")
    if await hub.lost(at):
        return EventStream(call, hub, now, _said("reset", now))
    return EventStream(call, hub, at, b"retry: 1000\n\n")


def _said(kind: str, at: Position) -> bytes:
    return f"retry: 1000\n\nid: {at}\nevent: {kind}\ndata: {{}}\n\n".encode()
