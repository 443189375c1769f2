"""Delivers events to the open streams of this replica, without gaps or repeats.

Events are ordered by (timeline, transaction, number) and delivered only below the oldest
transaction that still runs: a later commit can then never be earlier in the order.
Invariant: the hub's position only moves forward, and everything at or below it is either in the
ring or in the table.
"""

import asyncio
import contextlib
import logging
from collections import deque
from itertools import takewhile
from typing import LiteralString
from uuid import UUID

import psycopg

from notes.db.connect import Conn
from notes.db.failures import UnavailableError
from notes.db.listener import Listener
from notes.db.migrate import LOCK
from notes.db.pool import Database
from notes.events.event import COLUMNS, END, Event, Position, event_of
from notes.events.inboxes import Inboxes
from notes.log import say

logger = logging.getLogger(__name__)

POLL_S = 30.0
SETTLE_S = 0.01
BATCH = 500
RING = 2000


async def prepare_epoch(conn: Conn) -> None:
    """Begins a new order if the data came from another database system (a restored dump)."""
    await conn.execute("BEGIN")
    await conn.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
    cursor = await conn.execute(
        "UPDATE event_epochs SET epoch = epoch + 1, system = c.id,"
        " pruned_timeline = 0, pruned_xid = 0 FROM"
        " (SELECT system_identifier::text AS id FROM pg_control_system()) c"
        " WHERE system <> c.id RETURNING epoch"
    )
    if await cursor.fetchone() is not None:
        await conn.execute("DELETE FROM events")
    await conn.execute("COMMIT")


class Hub:
    """Reads new events once for all streams of the replica."""

    def __init__(self, db: Database, listener: Listener) -> None:
        self._db = db
        self._ring: deque[Event] = deque(maxlen=RING)
        self._woken = asyncio.Event()
        self._news: asyncio.Future[None] | None = None
        self._watchers: dict[UUID, int] = {}
        self.position: Position | None = None
        #: How often a failover has lost events that were delivered; each stream then says `reset`.
        self.losses = 0
        #: The last event that was found to be lost.
        self.lost_at: Position | None = None
        self.inboxes = Inboxes()
        listener.on("app_events", self._woken.set)

    async def run(self) -> None:
        while True:
            if not self._watchers:
                # No stream is open: `begin` skips the events in between.
                await self._woken.wait()
                self._woken.clear()
                continue
            try:
                more = await self._read()
            except (psycopg.Error, UnavailableError) as error:
                say(logger, "events not read", logging.WARNING, reason=str(error))
                await asyncio.sleep(1)
                continue
            if not more:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(POLL_S):
                        await self._woken.wait()
                self._woken.clear()
            # Wait a little, so that one query reads a burst of events.
            await asyncio.sleep(SETTLE_S)

    async def begin(self) -> Position:
        """The position at which a new stream begins."""
        if self.position is None or not self._watchers:
            position = await self._horizon()
            if self.position is None or (not self._watchers and position > self.position):
                self.position = position
                self._ring.clear()
        return self.position

    def begin_at_once(self) -> Position | None:
        """The position at which a new stream begins; None if the database has to be asked."""
        return self.position if self._watchers else None

    async def news(self, after: Position, timeout_s: float) -> None:
        """Waits until there may be new events after a position, or for `timeout_s`."""
        # New events may have come since the caller last read.
        if self.position is not None and after < self.position:
            return
        if self._news is None:
            self._news = asyncio.get_running_loop().create_future()
        await asyncio.wait([self._news], timeout=timeout_s)

    def watch(self, person: UUID) -> None:
        self._watchers[person] = self._watchers.get(person, 0) + 1
        self._woken.set()

    def unwatch(self, person: UUID) -> None:
        self._watchers[person] -= 1
        if self._watchers[person] == 0:
            del self._watchers[person]

    async def since(self, after: Position, person: UUID) -> tuple[list[Event], Position]:
        """The events after a position that `person` may see, and the position reached."""
        reached = self.position
        if reached is None or after >= reached:
            return [], after
        if self._ring and self._ring[0].position <= after:
            events = list(takewhile(lambda e: e.position > after, reversed(self._ring)))[::-1]
        else:
            events = await self._stored(after, reached)
            if len(events) == BATCH:
                reached = events[-1].position
        unknown = [e for e in events if e.is_for(person) is None]
        if unknown:
            await self._admit(unknown, [person])
        return [e for e in events if e.is_for(person)], max(reached, after)

    async def lost(self, at: Position) -> bool:
        """True if events after `at` have been deleted, or belong to another order."""
        row = await self._db.one("SELECT epoch, pruned_timeline, pruned_xid FROM event_epochs")
        if row is None or at.epoch != row["epoch"]:
            return True
        return (at.timeline, at.xid) <= (row["pruned_timeline"], row["pruned_xid"])

    async def is_missing(self, at: Position) -> bool:
        """True if the event at a position was lost in a failover, with what it told of."""
        if at.id == END:
            return False
        row = await self._db.one(
            "SELECT 1 FROM events WHERE (timeline, xid, id) = (%s, %s::text::xid8, %s)",
            (at.timeline, at.xid, at.id),
        )
        # Old events are deleted.
        return row is None and not await self.lost(at)

    async def _horizon(self) -> Position:
        row = await self._db.one(
            "SELECT epoch, current_timeline() AS timeline,"
            " pg_snapshot_xmin(pg_current_snapshot())::text::bigint - 1 AS xid FROM event_epochs"
        )
        assert row is not None  # noqa: S101 - the migration inserted the row
        if row["timeline"] is None:
            raise UnavailableError("the server has become a standby")
        return Position(row["epoch"], row["timeline"], row["xid"], END)

    async def _read(self) -> bool:
        """Reads new events into the ring; True if it should be called again soon."""
        at = self.position
        if at is None:
            self.position = await self._horizon()
            return True
        # With the event that was delivered last: without it, a failover has lost it.
        found = await self._db.all(
            COLUMNS
            + " WHERE (e.timeline, e.xid, e.id) >= (%s, %s::text::xid8, %s)"
            + f" ORDER BY e.timeline, e.xid, e.id LIMIT {BATCH + 1}",
            (at.timeline, at.xid, at.id),
        )
        is_there = bool(found) and (found[0]["timeline"], found[0]["xid"], found[0]["id"]) == at[1:]
        rows = found[1:] if is_there else found[:BATCH]
        if not is_there and at != self.lost_at and await self.is_missing(at):
            self.lost_at = at
            self.losses += 1
            self._tell_streams()
        # In this order, an event after an unsettled one is unsettled too.
        events = [event_of(at.epoch, row) for row in rows if row["settled"]]
        await self._admit(events, list(self._watchers))
        if self.position != at:
            return True  # a new stream has reset the position in the meantime
        if events:
            self._ring.extend(events)
            self.position = events[-1].position
            self._tell_streams()
        return len(rows) == BATCH or len(events) < len(rows)

    def _tell_streams(self) -> None:
        if self._news is not None:
            self._news.set_result(None)
            self._news = None

    async def _stored(self, after: Position, until: Position | None) -> list[Event]:
        limit: LiteralString = (
            " AND (e.timeline, e.xid, e.id) <= (%(utimeline)s, %(uxid)s::text::xid8, %(uid)s)"
        )
        rows = await self._db.all(
            COLUMNS
            + " WHERE (e.timeline, e.xid, e.id) > (%(timeline)s, %(xid)s::text::xid8, %(id)s)"
            + " AND e.xid < pg_snapshot_xmin(pg_current_snapshot())"
            + (limit if until else "")
            + f" ORDER BY e.timeline, e.xid, e.id LIMIT {BATCH}",
            {
                "timeline": after.timeline,
                "xid": after.xid,
                "id": after.id,
                "utimeline": until.timeline if until else None,
                "uxid": until.xid if until else None,
                "uid": until.id if until else None,
            },
        )
        return [event_of(after.epoch, row) for row in rows]

    async def _admit(self, events: list[Event], people: list[UUID]) -> None:
        """Records for each event which of `people` may see it."""
        known = dict[tuple[UUID | None, UUID | None, bool], set[UUID]]()
        for event in events:
            if event.user_id is not None:
                continue
            key = (event.space_id, event.access_root, event.is_internal)
            if key not in known and people:
                rows = await self._db.all(
                    "SELECT u.id FROM users u WHERE u.id = ANY(%s) AND u.disabled_at IS NULL"
                    " AND page_role(%s, %s, u.id, ARRAY(SELECT group_id FROM group_members g"
                    " WHERE g.user_id = u.id), u.is_admin) > 0"
                    " AND (NOT %s OR page_insider(%s, %s, u.id, ARRAY(SELECT group_id"
                    " FROM group_members g WHERE g.user_id = u.id), u.is_admin))",
                    (
                        people,
                        event.space_id,
                        event.access_root,
                        event.is_internal,
                        event.space_id,
                        event.access_root,
                    ),
                )
                known[key] = {row["id"] for row in rows}
            event.readers.update((p, p in known[key]) for p in people)
