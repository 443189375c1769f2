"""Saves the edits of pages as versions: 3 s after the last edit, at the latest every 15 s.

A page whose saves take long is saved less often: at most a twentieth of a processor is for one.

The replica that accepted an edit saves it; if it dies, another one does. Invariant: the log says
that edits are saved in the transaction that saves them, and has the last of them there, so no edit
is saved twice, left out, or saved after a failover has lost it.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

import msgspec
import psycopg
from psycopg import errors

from notes.auth import audit
from notes.db.connect import Conn
from notes.db.failures import UnavailableError, may_repeat
from notes.db.pool import Database
from notes.edits import live, saving
from notes.edits.live import HERE_NODES, LiveDocuments, State, in_thread_if
from notes.events.record import tell
from notes.http.problems import Problem
from notes.http.viewer import Viewer
from notes.log import say
from notes.notifications import record
from notes.pages import content
from notes.pages.content import Content
from notes.workers.documents import Documents
from notes.workers.meter import metered

logger = logging.getLogger(__name__)

QUIET_S = 3.0
LATEST_S = 15.0
LOOK_S = 0.5
SWEEP_S = 20.0
#: The most of one processor that the saves of one page may take, beyond its first.
SHARE = 0.05
#: The pause after an error that has nothing to do with the page: the database was not reached.
RETRY_S = 1.0
#: The longest pause of a page that cannot be saved; the first is `RETRY_S`, each later one is twice
#: as long.
AGAIN_S = 60.0
TOGETHER_MIN = 10
SNAPSHOT_EDITS = 200
SNAPSHOT_BYTES = 4_000_000
#: A page that is edited gets a snapshot at least so often in the time for which edits are kept.
SNAPSHOT_PARTS = 5
AT_ONCE = 8


@dataclass(slots=True)
class _Due:
    first: float
    last: float
    not_before: float = 0.0
    failures: int = 0


class Checkpoints:
    """The pages with edits that this replica has to save."""

    def __init__(self, db: Database, documents: Documents) -> None:
        self._db = db
        self._documents = documents
        self.live = LiveDocuments()
        self._due: dict[UUID, _Due] = {}
        self._saving = set[UUID]()
        #: Until when a page is not saved again, for the processor time of its last save.
        self._rests: dict[UUID, float] = {}

    def note(self, node_id: UUID) -> None:
        """Takes note of an accepted edit."""
        now = asyncio.get_running_loop().time()
        self._due.setdefault(node_id, _Due(now, now)).last = now

    async def run(self) -> None:
        """Saves pages when they are due; never returns.

        Each page is saved in its own task: one that fails, or takes long, delays no other.
        """
        clock = asyncio.get_running_loop().time
        swept = clock() - SWEEP_S / 2
        async with asyncio.TaskGroup() as tasks:
            while True:
                await asyncio.sleep(LOOK_S)
                if clock() - swept > SWEEP_S:
                    swept = clock()
                    tasks.create_task(self._sweep())
                for node_id in self._ready(clock())[: AT_ONCE - len(self._saving)]:
                    self._saving.add(node_id)
                    tasks.create_task(self._try(node_id, self._due.pop(node_id)))

    def _ready(self, now: float) -> list[UUID]:
        return [
            node_id
            for node_id, due in self._due.items()
            if (now - due.last >= QUIET_S or now - due.first >= LATEST_S)
            and now >= due.not_before
            and now >= self._rests.get(node_id, 0.0)
            and node_id not in self._saving
        ]

    async def _try(self, node_id: UUID, due: _Due) -> None:
        with metered() as spent:
            try:
                await self._save_or_wait(node_id, due)
            finally:
                self._rest(node_id, spent.seconds)
                self._saving.discard(node_id)

    def _rest(self, node_id: UUID, spent_s: float) -> None:
        """Keeps a page from being saved until its last save is within its share.

        Its edits are in the log meanwhile. Who needs the version at once saves it at once.
        """
        now = asyncio.get_running_loop().time()
        self._rests = {page: until for page, until in self._rests.items() if until > now}
        self._rests[node_id] = now + spent_s / SHARE

    async def _save_or_wait(self, node_id: UUID, due: _Due) -> None:
        try:
            await self.save(node_id)
        except Exception as error:  # noqa: BLE001 - logged; the edits stay in the log
            # Edits may have been noted meanwhile: they wait, too.
            again = self._due.setdefault(node_id, due)
            again.first = min(again.first, due.first)
            pause = RETRY_S
            if not is_temporary(error):
                # Refused: a quota, for example.
                again.failures = due.failures + 1
                pause = min(AGAIN_S, RETRY_S * 2**due.failures)
            again.not_before = asyncio.get_running_loop().time() + pause
            reason = str(error) or type(error).__name__
            say(logger, "edits not saved", logging.WARNING, node=node_id, reason=reason)

    async def _sweep(self) -> None:
        """Finds pages whose replica has died."""
        try:
            rows = await self._db.all(
                "SELECT node_id FROM page_logs WHERE since IS NOT NULL"
                " AND at < now() - make_interval(secs => %s)"
                # Those that cannot be saved are known; they may not keep others from being found.
                " AND node_id <> ALL (%s) ORDER BY at LIMIT 50",
                (SWEEP_S, [*self._due, *self._saving]),
            )
        except (psycopg.Error, UnavailableError) as error:
            say(logger, "waiting edits not found", logging.WARNING, reason=str(error))
            return
        for row in rows:
            self._due.setdefault(row["node_id"], _Due(0.0, 0.0))

    async def save(self, node_id: UUID) -> None:
        """Saves the edits of a page that are waiting now."""
        state = await self._db.run(partial(live.read, node_id=node_id))
        if state is None or state.seq == state.saved_seq:
            return
        doc = await self.live.at(state)
        exact = await in_thread_if(doc.nodes > HERE_NODES, lambda: msgspec.json.encode(doc.json))
        account = f"edits {state.edits[-1]['author_id']}"
        ready = await content.prepare(
            self._documents, account, state.last_title, exact, None, patient=True
        )
        store = partial(_store, state=state, exact=exact.decode(), ready=ready)
        if not await self._db.transact(store):
            self.note(node_id)


def is_temporary(error: Exception) -> bool:
    """True if saving may succeed when it is tried again soon, whatever page it is."""
    if isinstance(error, Problem):
        return error.status >= 500 or error.status == 429
    if isinstance(error, errors.QueryCanceled | errors.LockNotAvailable):
        return True
    return isinstance(error, UnavailableError) or may_repeat(error)


async def _store(conn: Conn, *, state: State, exact: str, ready: Content) -> bool:
    """Saves a state; False if the log has another one meanwhile, to be saved soon."""
    node_id = state.node_id
    # The page first, then its log: the order in which a save locks them.
    cursor = await conn.execute(
        "SELECT space_id, title, version, doc FROM nodes WHERE id = %s FOR UPDATE", (node_id,)
    )
    page = await cursor.fetchone()
    # By its id: a failover may have lost the edit, and another one may have its number.
    cursor = await conn.execute(
        "SELECT saved_seq, EXISTS (SELECT 1 FROM page_edits e WHERE e.node_id = l.node_id"
        " AND e.seq = %s AND e.id = %s) AS is_there"
        " FROM page_logs l WHERE node_id = %s FOR UPDATE",
        (state.seq, state.edit_id, node_id),
    )
    log = await cursor.fetchone()
    if page is None or log is None:
        return True
    if log["saved_seq"] != state.saved_seq or not log["is_there"]:
        return False
    title = state.last_title
    is_new = page["title"] != title or bytes(page["doc"]).decode() != ready.doc
    version = page["version"] + is_new
    await conn.execute(
        "UPDATE page_logs SET saved_seq = %(seq)s, version = %(version)s, doc = %(doc)s::json,"
        " since = CASE WHEN seq > %(seq)s THEN now() END WHERE node_id = %(id)s",
        {
            "seq": state.seq,
            "version": version,
            "doc": None if exact == ready.doc else exact,
            "id": node_id,
        },
    )
    cursor = await conn.execute(
        "SELECT count(*) AS edits, coalesce(sum(octet_length(steps::text)), 0) AS bytes,"
        " (SELECT p.at < now() - make_interval(days => s.edit_log_days) / %(parts)s"
        " FROM page_snapshots p, settings s WHERE p.node_id = %(id)s"
        " ORDER BY p.seq DESC LIMIT 1) AS is_old"
        " FROM page_edits WHERE node_id = %(id)s AND seq <= %(seq)s AND seq > (SELECT"
        " coalesce(max(seq), 0) FROM page_snapshots WHERE node_id = %(id)s)",
        {"id": node_id, "seq": state.seq, "parts": SNAPSHOT_PARTS},
    )
    last = await cursor.fetchone()
    # To show a moment, all edits after its snapshot are read; and old edits are deleted only up to
    # a snapshot.
    if last and (
        last["edits"] >= SNAPSHOT_EDITS or last["bytes"] >= SNAPSHOT_BYTES or last["is_old"]
    ):
        await saving.snapshot(conn, node_id, state.seq, title, exact)
    if is_new:
        await _store_version(conn, state, ready, dict(page))
    return True


async def _store_version(conn: Conn, state: State, ready: Content, page: dict[str, Any]) -> None:
    node_id, title, version = state.node_id, state.last_title, page["version"] + 1
    authors = sorted({edit["author_id"] for edit in state.edits if edit["author_id"]})
    begun = await _take_back(conn, node_id, page["version"], authors)
    author = state.edits[-1]["author_id"]
    where = record.Where(page["space_id"], node_id, author)
    await record.page_mentions(conn, where, await content.mentioned(ready))
    if begun is None:
        await record.page_saved(conn, where)
    await content.update(conn, node_id, ready, title, author=author)
    await conn.execute(
        "UPDATE revisions SET authors = %s, begun_at = coalesce(%s, now())"
        " WHERE node_id = %s AND version = %s",
        (authors, begun, node_id, version),
    )
    place = {"space_id": page["space_id"], "node_id": node_id}
    await tell(conn, "page.saved", **place, version=version)
    if begun is None:
        viewer = Viewer(author, await _name(conn, author))
        await audit.note(conn, viewer, "page.saved", title, **place, version=version)


async def _take_back(conn: Conn, node_id: UUID, version: int, authors: Sequence[UUID]) -> Any:
    """Deletes the newest version if the next one replaces it; returns when its first was made."""
    cursor = await conn.execute(
        "DELETE FROM revisions WHERE node_id = %s AND version = %s AND authors = %s"
        " AND begun_at > now() - make_interval(mins => %s) RETURNING begun_at",
        (node_id, version, list(authors), TOGETHER_MIN),
    )
    row = await cursor.fetchone()
    return row["begun_at"] if row else None


async def _name(conn: Conn, author: UUID | None) -> str:
    cursor = await conn.execute("SELECT name FROM users WHERE id = %s", (author,))
    row = await cursor.fetchone()
    return str(row["name"]) if row else "deleted user"
