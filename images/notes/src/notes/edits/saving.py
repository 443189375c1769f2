"""Writes into the edit log what changes a page without an editor: a save, a restore.

Invariant: in the transaction that changes a page with a log, the log gets the change, too.
"""

import asyncio
from dataclasses import dataclass
from enum import Enum
from uuid import UUID, uuid4

import msgspec

from notes.db.connect import Conn
from notes.doc.attributes import SchemaError
from notes.steps.difference import difference
from notes.steps.model import StepError
from notes.steps.stored import parse

COMPARED_BYTES = 200_000


class Log(Enum):
    """The state of a page's log."""

    SAVED = 1
    WAITS = 2


@dataclass(frozen=True, slots=True)
class Change:
    """A version that replaces the content of a page."""

    version: int
    title: str
    doc: str
    author: UUID | None


async def log_of(conn: Conn, node_id: UUID) -> Log | None:
    """If edits of a page wait to be saved; None for a page without a log."""
    cursor = await conn.execute(
        "SELECT seq > saved_seq AS waits FROM page_logs WHERE node_id = %s", (node_id,)
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    return Log.WAITS if row["waits"] else Log.SAVED


async def append(conn: Conn, node_id: UUID, change: Change) -> None:
    """Appends what a save changes, as steps; as a replaced content if it is too large to compare.

    The page is locked, none of its edits waits, and the caller stores the version after this.
    """
    title, doc = change.title, change.doc
    cursor = await conn.execute(
        "SELECT l.seq, n.title, coalesce(l.doc, n.doc) AS doc FROM page_logs l"
        " JOIN nodes n ON n.id = l.node_id WHERE l.node_id = %s FOR UPDATE OF l",
        (node_id,),
    )
    row = await cursor.fetchone()
    if row is None:
        return
    steps = await asyncio.to_thread(steps_between, bytes(row["doc"]), doc.encode())
    seq, made = row["seq"] + 1, uuid4()
    await conn.execute(
        "INSERT INTO page_edits (node_id, seq, id, author_id, steps, title)"
        " VALUES (%s, %s, %s, %s, %s::json, %s)",
        (
            node_id,
            seq,
            made,
            change.author,
            steps,
            title if steps is not None and title != row["title"] else None,
        ),
    )
    if steps is None:
        await snapshot(conn, node_id, seq, title, doc)
    await conn.execute(
        "UPDATE page_logs SET seq = %s, edit_id = %s, saved_seq = %s, version = %s, doc = NULL,"
        " since = NULL, at = now() WHERE node_id = %s",
        (seq, made, seq, change.version, node_id),
    )


async def snapshot(conn: Conn, node_id: UUID, seq: int, title: str, doc: str) -> None:
    """Stores the exact document at an edit."""
    await conn.execute(
        "INSERT INTO page_snapshots (node_id, seq, title, doc) VALUES (%s, %s, %s, %s::json)"
        " ON CONFLICT DO NOTHING",
        (node_id, seq, title, doc),
    )


def steps_between(old: bytes, new: bytes) -> str | None:
    """The steps from one document to another as JSON; None if they are too large to compare."""
    if len(old) + len(new) > COMPARED_BYTES:
        return None
    try:
        found = difference(parse(old), parse(new))
    except (SchemaError, StepError):
        return None
    return msgspec.json.encode([step.json for step in found]).decode()
