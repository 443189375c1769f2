"""The exact document of a page: its last saved state and the edits after it.

Documents are kept parsed between edits. Invariant: a kept document is used only for the edit whose
id it was kept with, so a failover that loses edits also drops what was made of them.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import LiteralString, TypeVar
from uuid import UUID

from psycopg.rows import DictRow

from notes.db.connect import Conn
from notes.http.problems import Problem
from notes.steps.model import Node
from notes.steps.stored import applied, parse
from notes.workers import meter

KEPT_WORK = 150_000  # in nodes, see `Node.work`
HERE_BYTES = 50_000  # a larger document is parsed in a thread
HERE_NODES = 5_000
HERE_WORK = 20_000  # steps times nodes
STEP_BYTES = 60  # at least, for a step that looks at the whole page

STATE: LiteralString = (
    "SELECT n.title, n.version, n.updated_at, coalesce(l.doc, n.doc) AS doc,"
    " coalesce(l.seq, 0) AS seq, l.edit_id, coalesce(l.saved_seq, 0) AS saved_seq"
    " FROM nodes n LEFT JOIN page_logs l ON l.node_id = n.id WHERE n.id = %s"
)
#: Of a list of edits; the first one is listed in any case.
LISTED_BYTES = 4_000_000
#: As `EDITS`, but as many as fit into `LISTED_BYTES`.
LISTED: LiteralString = (
    "SELECT seq, id, client, n, author_id, at, steps, title FROM (SELECT e.*,"
    " sum(octet_length(steps::text)) OVER (ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING"
    " AND 1 PRECEDING) AS before FROM (SELECT * FROM page_edits"
    " WHERE node_id = %s AND seq > %s ORDER BY seq LIMIT %s) e) listed"
    " WHERE coalesce(before, 0) < %s ORDER BY seq"
)
EDITS: LiteralString = (
    "SELECT seq, id, client, n, author_id, at, steps, title FROM page_edits"
    " WHERE node_id = %s AND seq > %s ORDER BY seq LIMIT %s"
)
ALL = 2**31
ATTEMPTS = 5

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class State:
    """A page as the database has it: saved document, and the edits that are not saved yet."""

    node_id: UUID
    title: str
    version: int
    doc: bytes
    seq: int
    edit_id: UUID
    saved_seq: int
    edits: tuple[DictRow, ...]

    @property
    def last_title(self) -> str:
        return next((e["title"] for e in reversed(self.edits) if e["title"]), self.title)


def first_id(version: int, updated_at: datetime) -> UUID:
    """The id of the state before the first edit; it changes with each save.

    The time tells a version from one that a failover has lost, and whose number it got again.
    """
    microseconds = (updated_at - datetime.fromtimestamp(0, UTC)) // timedelta(microseconds=1)
    return UUID(int=microseconds << 64 | version)


async def read(conn: Conn, node_id: UUID) -> State | None:
    """The state of a page; None if there is no such page.

    Raises a 503 if it is replaced again and again meanwhile: that says nothing about the page.
    """
    for _ in range(ATTEMPTS):
        row = await (await conn.execute(STATE, (node_id,))).fetchone()
        if row is None:
            return None
        title, version, doc, saved_seq = row["title"], row["version"], row["doc"], row["saved_seq"]
        if row["seq"] == saved_seq:
            edit_id = row["edit_id"] or first_id(version, row["updated_at"])
            return State(node_id, title, version, bytes(doc), saved_seq, edit_id, saved_seq, ())
        edits = await (await conn.execute(EDITS, (node_id, saved_seq, ALL))).fetchall()
        # Between the two statements a save may have replaced the content: read both again.
        if edits and not any(is_replacement(edit) for edit in edits):
            seq, edit_id = edits[-1]["seq"], edits[-1]["id"]
            return State(node_id, title, version, bytes(doc), seq, edit_id, saved_seq, tuple(edits))
    raise Problem(503, "The page is being replaced by others; try again.")


def is_replacement(edit: DictRow) -> bool:
    """True if the content was replaced as a whole, without steps."""
    return edit["steps"] is None and edit["title"] is None


def replay(doc: Node, edits: Sequence[DictRow]) -> Node:
    """The document after stored edits."""
    for edit in edits:
        if edit["steps"] is not None:
            doc = applied(doc, bytes(edit["steps"]))
    return doc


class LiveDocuments:
    """The parsed documents that this replica keeps; the one used longest ago is dropped first."""

    def __init__(self) -> None:
        self._kept: OrderedDict[UUID, tuple[UUID, Node]] = OrderedDict()
        self._work = 0

    async def at(self, state: State) -> Node:
        """The document of a state."""
        kept = self._kept.get(state.node_id)
        if kept is not None:
            if kept[0] == state.edit_id:
                self._kept.move_to_end(state.node_id)
                return kept[1]
            ids = [edit["id"] for edit in state.edits]
            if kept[0] in ids:
                edits = state.edits[ids.index(kept[0]) + 1 :]
                return await in_thread_if(
                    is_long(kept[1].work, size_of(edits)), lambda: replay(kept[1], edits)
                )
        nodes = len(state.doc) // STEP_BYTES
        return await in_thread_if(
            len(state.doc) > HERE_BYTES or is_long(nodes, size_of(state.edits)),
            lambda: replay(parse(state.doc), state.edits),
        )

    def keep(self, node_id: UUID, edit_id: UUID, doc: Node) -> None:
        """Keeps the document after an edit that is committed."""
        self.drop(node_id)
        self._kept[node_id] = (edit_id, doc)
        self._work += doc.work
        while self._work > KEPT_WORK and len(self._kept) > 1:
            self.drop(next(iter(self._kept)))

    def drop(self, node_id: UUID) -> None:
        kept = self._kept.pop(node_id, None)
        if kept is not None:
            self._work -= kept[1].work


def size_of(edits: Sequence[DictRow]) -> int:
    """The bytes of stored edits."""
    return sum(len(edit["steps"] or b"") for edit in edits)


def is_long(work: int, step_bytes: int) -> bool:
    """True if steps of so many bytes may take long on a document of so much work."""
    steps = 1 + step_bytes // STEP_BYTES
    return work > HERE_NODES or step_bytes > HERE_BYTES or work * steps > HERE_WORK


async def in_thread_if(is_large: bool, work: Callable[[], T]) -> T:
    """Runs `work`, in a thread if it takes long: other requests go on meanwhile."""

    def counted() -> T:
        with meter.working():
            return work()

    return await asyncio.to_thread(counted) if is_large else counted()
