"""Tells the people who have a page open of its edits, and of each other, on all replicas.

Nothing is stored: the payload of a notification has who is where, and which page has an edit. The
next report of a tab makes up for a lost one. Invariant: before the replica tells a person anything,
it asks the database if that person may read the page now, and may see its people.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import LiteralString
from uuid import UUID

import msgspec
import psycopg

from notes.db.connect import Conn
from notes.db.failures import UnavailableError
from notes.db.listener import Listener
from notes.db.pool import Database
from notes.events.inboxes import Inboxes
from notes.log import say
from notes.pages.roles import Role
from notes.presence.pace import Pace
from notes.presence.seats import Caret, Place, Seats

logger = logging.getLogger(__name__)

CHANNEL = "app_presence"
#: The replica tells edits and arrivals of so long together.
SETTLE_S = 0.01
EXPIRE_S = 1.0

_RIGHTS: LiteralString = (
    "WITH p AS (SELECT u.id, u.name, u.is_admin,"
    " ARRAY(SELECT group_id FROM group_members g WHERE g.user_id = u.id) AS groups"
    " FROM users u WHERE u.id = ANY(%(people)s) AND u.disabled_at IS NULL)"
    " SELECT p.id, p.name, n.space_id,"
    " page_role(n.space_id, n.access_root, p.id, p.groups, p.is_admin) > %(viewer)s"
    " OR page_insider(n.space_id, n.access_root, p.id, p.groups, p.is_admin) AS inside"
    " FROM p CROSS JOIN nodes n WHERE n.id = %(node)s AND n.trashed_at IS NULL"
    " AND page_role(n.space_id, n.access_root, p.id, p.groups, p.is_admin) > 0"
)


class Person(msgspec.Struct, frozen=True):
    """Somebody who has the page open."""

    id: UUID
    name: str


class CaretOf(msgspec.Struct, frozen=True):
    """The selection of somebody who edits the page: positions in its document after edit `seq`."""

    id: UUID
    name: str
    seq: int
    anchor: int
    head: int


class Here(msgspec.Struct, frozen=True):
    """The people who have a page open, and the carets of those who edit it."""

    people: list[Person]
    carets: list[CaretOf]


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody at a page who may read it; `is_insider` if they may see who else is there."""

    id: UUID
    name: str
    space_id: UUID
    is_insider: bool


class Sign(msgspec.Struct, frozen=True, array_like=True):
    """A notification's payload: an edit (`seq`, `id`), or a tab that is at a page or left it.

    Further values are those of a later version, which runs beside this one during an upgrade.
    """

    node_id: UUID
    seq: int = 0
    id: UUID | None = None
    person: UUID | None = None
    tab: UUID | None = None
    is_here: bool = True
    caret: Caret | None = None


class Meeting:
    """The people at pages as far as this replica knows them, and the messages to pass on."""

    def __init__(self, db: Database, listener: Listener, inboxes: Inboxes) -> None:
        self._db = db
        self._inboxes = inboxes
        self._seats = Seats()
        self._pace = Pace()
        self._edited: dict[UUID, Sign] = {}
        self._changed, self._moved = set[UUID](), set[UUID]()
        self._signs: dict[tuple[UUID | None, ...], Sign] = {}
        self._to_say, self._to_tell = asyncio.Event(), asyncio.Event()
        listener.hear(CHANNEL, self._heard)

    def admits(self, person: UUID) -> bool:
        """True if the person may report once more now."""
        return self._pace.admits(person, _now())

    def edited(self, node_id: UUID, seq: int, edit_id: UUID) -> None:
        """Takes note of an accepted edit; the replicas hear of it soon."""
        self._say(Sign(node_id, seq, edit_id))

    async def report(self, place: Place, *, is_here: bool, caret: Caret | None = None) -> Here:
        """Takes note of a tab at a page; returns who else and itself is there, as far as known."""
        self._seat(place, is_here=is_here, caret=caret)
        self._say(Sign(place.node_id, 0, None, place.person, place.tab, is_here, caret))
        people = self._seats.at(place.node_id)
        if not is_here or len(people) < 2:
            return Here([], [])
        readers = await self._readers(place.node_id, people)
        return Here(_shown(readers), self._carets(place.node_id, readers))

    async def run(self) -> None:
        """Notifies the replicas, tells this one's streams, forgets tabs; never returns."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._repeat(self._to_say, self._notify))
            tasks.create_task(self._repeat(self._to_tell, self._tell))
            while True:
                await asyncio.sleep(EXPIRE_S)
                self._change(self._seats.expire(_now()))

    async def _repeat(self, woken: asyncio.Event, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            await woken.wait()
            woken.clear()
            try:
                await work()
            except (psycopg.Error, UnavailableError) as error:
                # The next report of each tab tells what was not told now.
                say(logger, "people at pages not told", logging.WARNING, reason=str(error))
                await asyncio.sleep(1)
            await asyncio.sleep(SETTLE_S)

    def _say(self, sign: Sign) -> None:
        self._signs[sign.node_id, sign.person, sign.tab] = sign
        self._to_say.set()

    async def _notify(self) -> None:
        signs, self._signs = self._signs, {}
        payloads = [msgspec.json.encode(sign).decode() for sign in signs.values()]

        async def work(conn: Conn) -> None:
            await conn.execute(
                "SELECT pg_notify(%s::text, x) FROM unnest(%s::text[]) x", (CHANNEL, payloads)
            )

        await self._db.run(work)

    def _heard(self, said: str) -> None:
        with contextlib.suppress(msgspec.MsgspecError):
            sign = msgspec.json.decode(said, type=Sign)
            if sign.id is not None:
                self._edited[sign.node_id] = sign
                self._to_tell.set()
            elif sign.person is not None and sign.tab is not None:
                place = Place(sign.node_id, sign.person, sign.tab)
                self._seat(place, is_here=sign.is_here, caret=sign.caret)

    def _seat(self, place: Place, *, is_here: bool, caret: Caret | None) -> None:
        seats = self._seats
        self._change(seats.take(place, _now(), caret) if is_here else seats.leave(place))

    def _change(self, nodes: set[UUID]) -> None:
        moved = self._seats.moved()
        if nodes or moved:
            self._changed |= nodes
            self._moved |= moved
            self._to_tell.set()

    async def _tell(self) -> None:
        edited, self._edited = self._edited, {}
        changed, self._changed = self._changed, set()
        moved, self._moved = self._moved, set()
        for node_id in edited.keys() | changed | moved:
            people = self._seats.at(node_id)
            here = {person for person in people if self._inboxes.has(person)}
            if not here:
                continue
            asked = people if node_id in changed or node_id in moved else list(here)
            readers = await self._readers(node_id, asked)
            told = [one for one in readers if one.id in here]
            if not told:
                continue
            space, sign = told[0].space_id, edited.get(node_id)
            if sign is not None:
                ids = [one.id for one in told]
                self._inboxes.send(
                    ids, "page.edited", node_id, space, seq=sign.seq, edit_id=sign.id
                )
            ids = [one.id for one in told if one.is_insider]
            if node_id in changed:
                self._inboxes.send(ids, "page.people", node_id, space, people=_shown(readers))
            if node_id in moved:
                carets = self._carets(node_id, readers)
                self._inboxes.send(ids, "page.carets", node_id, space, carets=carets)

    def _carets(self, node_id: UUID, readers: Sequence[Reader]) -> list[CaretOf]:
        """The carets that insiders see: those of insiders."""
        names = {one.id: one.name for one in readers if one.is_insider}
        return [
            CaretOf(person, names[person], caret.seq, caret.anchor, caret.head)
            for person, caret in self._seats.carets(node_id).items()
            if person in names
        ]

    async def _readers(self, node_id: UUID, people: Sequence[UUID]) -> list[Reader]:
        rows = await self._db.all(
            _RIGHTS, {"people": list(people), "node": node_id, "viewer": Role.VIEWER}
        )
        readers = {
            row["id"]: Reader(row["id"], row["name"], row["space_id"], row["inside"])
            for row in rows
        }
        return [readers[person] for person in people if person in readers]


def _shown(readers: Sequence[Reader]) -> list[Person]:
    """The people whom insiders see. A visitor of a public space is not shown."""
    return [Person(one.id, one.name) for one in readers if one.is_insider]


def _now() -> float:
    return asyncio.get_running_loop().time()
