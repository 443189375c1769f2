"""The content of a page with the edits that wait to be saved, for what reads whole pages."""

from typing import NamedTuple
from uuid import UUID

import msgspec
import psycopg

from notes.db.pool import Database
from notes.edits import live
from notes.edits.live import HERE_NODES, in_thread_if
from notes.edits.pending import Pending
from notes.edits.saving import Log, log_of
from notes.http.problems import Problem


class Unsaved(NamedTuple):
    """A page as its log has it, where it cannot be saved."""

    title: str
    doc: bytes


async def save(db: Database, edits: Pending, node_id: UUID) -> Unsaved | None:
    """Saves the edits of a page that wait; returns its content only where that is refused.

    The caller checks the access, before and after.
    """
    if await db.run(lambda conn: log_of(conn, node_id)) is not Log.WAITS:
        return None
    try:
        await edits.save(node_id)
    except (Problem, psycopg.Error):
        # A quota that is used up, for example: the words are there all the same.
        return await _unsaved(db, edits, node_id)
    return None


async def _unsaved(db: Database, edits: Pending, node_id: UUID) -> Unsaved | None:
    state = await db.run(lambda conn: live.read(conn, node_id))
    if state is None:
        return None
    doc = await edits.live.at(state)
    exact = await in_thread_if(doc.nodes > HERE_NODES, lambda: msgspec.json.encode(doc.json))
    return Unsaved(state.last_title, exact)
