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
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, LiteralString, NamedTuple
from uuid import UUID

import psycopg
from psycopg.rows import DictRow

from notes.db.connect import Conn
from notes.db.failures import UnavailableError
from notes.db.listener import Listener
from notes.db.migrate import LOCK
from notes.db.pool import Database
from notes.events.inboxes import Inboxes
from notes.log import say

logger = logging.getLogger(__name__)

POLL_S = 30.0
SETTLE_S = 0.01
BATCH = 500
RING = 2000
END = 2**62
"""A number after those of all events of a transaction."""
OLD_PARTS = 3

_COLUMNS: LiteralString = (
    "SELECT e.timeline, e.xid::text::bigint AS xid, e.id, e.kind, e.space_id, e.node_id,"
    " e.user_id, e.data,"
    " e.xid < pg_snapshot_xmin(pg_current_snapshot()) AS settled,"
    # For a page that is deleted, or now in another space, the permissions at the event's time.
    " CASE WHEN n.space_id = e.space_id THEN n.access_root ELSE e.access_root END AS access_root"
    " FROM events e LEFT JOIN nodes n ON n.id = e.node_id"
)


class Position(NamedTuple):
    """A place in the order of events; `epoch` changes when a new order begins."""

    epoch: int
    timeline: int
    xid: int
    id: int

    def __str__(self) -> str:
        return ".".join(map(str, self))

    @classmethod
    def parse(cls, text: str) -> "Position | None":
        parts = text.split(".")
        if not all(p.isascii() and p.isdigit() and len(p) <= len(str(END)) for p in parts):
            return None
        numbers = [int(part) for part in parts]
        if len(numbers) == OLD_PARTS:  # an id from a version without timelines
            numbers.insert(1, 0)
        if len(numbers) != len(cls._fields) or max(numbers) > END or numbers[1] >= 2**31:
            return None
        return cls(*numbers)


@dataclass(frozen=True, slots=True)
class Event:
    """One event; `readers` tells for each user that was checked if they may see it."""

    position: Position
    kind: str
    space_id: UUID | None
    node_id: UUID | None
    user_id: UUID | None
    access_root: UUID | None
    frame: bytes
    readers: dict[UUID, bool] = field(default_factory=dict)

    @property
    def is_internal(self) -> bool:
        """True if it concerns the people in a space, not the content that the space shows."""
        return self.kind.startswith("comment.") or self.kind == "space.members"


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
        unknown = [e for e in events if person not in e.readers]
        if unknown:
            await self._admit(unknown, [person])
        return [e for e in events if e.readers[person]], max(reached, after)

    async def lost(self, at: Position) -> bool:
        """True if events after `at` have been deleted, or belong to another order."""
        row = await self._db.one("SELECT epoch, pruned_timeline, pruned_xid FROM event_epochs")
        if row is None or at.epoch != row["epoch"]:
            return True
        return (at.timeline, at.xid) <= (row["pruned_timeline"], row["pruned_xid"])

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
        rows = await self._db.all(
            _COLUMNS
            + " WHERE (e.timeline, e.xid, e.id) > (%s, %s::text::xid8, %s)"
            + f" ORDER BY e.timeline, e.xid, e.id LIMIT {BATCH}",
            (at.timeline, at.xid, at.id),
        )
        # In this order, an event after an unsettled one is unsettled too.
        events = [_event(at.epoch, row) for row in rows if row["settled"]]
        await self._admit(events, list(self._watchers))
        if self.position != at:
            return True  # a new stream has reset the position in the meantime
        if events:
            self._ring.extend(events)
            self.position = events[-1].position
            if self._news is not None:
                self._news.set_result(None)
                self._news = None
        return len(rows) == BATCH or len(events) < len(rows)

    async def _stored(self, after: Position, until: Position | None) -> list[Event]:
        limit: LiteralString = (
            " AND (e.timeline, e.xid, e.id) <= (%(utimeline)s, %(uxid)s::text::xid8, %(uid)s)"
        )
        rows = await self._db.all(
            _COLUMNS
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
        return [_event(after.epoch, row) for row in rows]

    async def _admit(self, events: list[Event], people: list[UUID]) -> None:
        """Records for each event which of `people` may see it."""
        known = dict[tuple[UUID | None, UUID | None, bool], set[UUID]]()
        for event in events:
            if event.user_id is not None:
                event.readers.update((p, p == event.user_id) for p in people)
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


def _event(epoch: int, row: DictRow) -> Event:
    position = Position(epoch, row["timeline"], row["xid"], row["id"])
    return Event(
        position,
        row["kind"],
        row["space_id"],
        row["node_id"],
        row["user_id"],
        row["access_root"],
        _frame(position, row),
    )


def _frame(position: Position, row: dict[str, Any]) -> bytes:
    ids = "".join(
        f'"{name}":"{row[name]}",' for name in ("space_id", "node_id") if row[name] is not None
    )
    data = bytes(row["data"]).decode()
    body = f"{{{ids}{data[1:]}" if data != "{}" else f"{{{ids.rstrip(',')}}}"
    return f"id: {position}\nevent: {row['kind']}\ndata: {body}\n\n".encode()
