"""API of the edit log: the live document of a page, and the steps that editors send.

Invariant: an edit is stored only after the edit that it is based on, and only once.
"""

import hashlib
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any
from uuid import UUID, uuid4

import msgspec

from notes.db.connect import Conn
from notes.edits import live, saving, turns
from notes.edits.applying import applied
from notes.edits.live import HERE_NODES, State, in_thread_if, is_long, size_of
from notes.edits.missed import Edits, since
from notes.http.context import Call
from notes.http.problems import Problem, not_found
from notes.http.routing import DOCUMENT_LIMIT_BYTES, Table
from notes.notifications import mentions, record
from notes.pages import access
from notes.pages.content import EditNumber, Title
from notes.pages.roles import Role
from notes.steps.step_json import MAX_STEPS

table = Table("edits")

#: With more edits that wait, the page is saved first: each edit reads all that wait.
WAITING, WAITING_BYTES = 1_000, 8_000_000


class LiveView(msgspec.Struct, frozen=True):
    """The exact document of a page after its edit `seq`, whose id is `id`."""

    seq: int
    id: UUID
    version: int
    title: str
    doc: msgspec.Raw


class EditIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Steps of one editor (`client`), its `n`th edit, based on the edit `base_seq`.

    The steps of a large body are checked JSON, read only after its sender's role is known.
    """

    client: UUID
    n: EditNumber
    base_seq: EditNumber
    base_id: UUID
    steps: Annotated[list[Any], msgspec.Meta(max_length=MAX_STEPS)] = []
    title: Title | None = None


class Accepted(msgspec.Struct, frozen=True):
    """The stored edit's place in the log."""

    seq: int
    id: UUID


class EditsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The edit after which the list begins; with its id, `is_known` tells if it is in the log."""

    since: EditNumber = 0
    id: UUID | None = None


@dataclass(frozen=True, slots=True)
class _Draft:
    node_id: UUID
    author: UUID
    body: EditIn
    digest: bytes
    size: int
    mentions: bool


@dataclass(frozen=True, slots=True)
class _Stored:
    answer: Accepted
    is_new: bool


@table("GET", "/api/v1/nodes/{id}/live")
async def get_live(call: Call, id: UUID) -> LiveView:
    """Get the exact document of a page, with all edits, for an editor."""

    async def work(conn: Conn) -> tuple[State, bool]:
        row = await access.page(conn, call, id, Role.VIEWER)
        return await _state(conn, id), await access.is_insider(conn, call, row)

    state, named = await call.app.db.run(work)
    doc = state.doc
    if state.edits:
        found = await call.app.edits.live.at(state)
        doc = await in_thread_if(found.nodes > HERE_NODES, lambda: msgspec.json.encode(found.json))
    doc = doc if named else mentions.hidden(doc)
    return LiveView(state.seq, state.edit_id, state.version, state.last_title, msgspec.Raw(doc))


@table("GET", "/api/v1/nodes/{id}/edits")
async def list_edits(call: Call, id: UUID, query: EditsQuery) -> Edits:
    """List the edits of a page after one of them, oldest first."""

    async def work(conn: Conn) -> Edits:
        row = await access.page(conn, call, id, Role.VIEWER)
        named = await access.is_insider(conn, call, row)
        return await since(conn, id, query.since, query.id, named=named)

    return await call.app.db.run(work)


@table("POST", "/api/v1/nodes/{id}/edits", scope="write", body_bytes=DOCUMENT_LIMIT_BYTES)
async def post_edit(call: Call, id: UUID, body: EditIn) -> Accepted:
    """Store an edit; a 409 with the edits that it is behind, a 410 if they are gone.

    A repeated request gets the answer of the first.
    """
    content = msgspec.json.encode((body.base_seq, body.base_id, body.steps, body.title))
    digest = hashlib.sha256(content).digest()
    has_mentions = mentions.may_have(content)
    draft = _Draft(id, call.viewer.person, body, digest, len(content), has_mentions)
    try:
        try:
            return await _try(call, draft)
        except _EarlyError:
            await turns.wait(call.app.db, id, body.client)
            return await _try(call, draft, waits=False)
    except _BehindError:
        await turns.take(call.app.db, id, body.client)
        raise


async def _try(call: Call, draft: _Draft, *, waits: bool = True) -> Accepted:
    """Stores an edit; one that `waits` raises `_EarlyError` in the turn of another editor."""
    node_id, body = draft.node_id, draft.body
    state = await call.app.db.run(partial(_begin, call=call, draft=draft))
    if isinstance(state, Accepted):
        return state
    if len(state.edits) >= WAITING or size_of(state.edits) >= WAITING_BYTES:
        # If it cannot be saved, because of a quota for example, the log does not grow either.
        await call.app.edits.save(node_id)
    doc = await call.app.edits.live.at(state)
    is_slow = is_long(doc.work, draft.size)
    made = await in_thread_if(is_slow, lambda: applied(doc, body.steps))
    found = None
    if draft.mentions:
        found = await in_thread_if(made.nodes > HERE_NODES, lambda: mentions.in_nodes(made.json))
    work = partial(_store, call=call, draft=draft, state=state, waits=waits, found=found)
    stored = await call.app.db.transact(work)
    if stored.is_new:
        call.app.edits.live.keep(node_id, stored.answer.id, made)
        call.app.edits.note(node_id)
        call.app.meeting.edited(node_id, stored.answer.seq, stored.answer.id)
    return stored.answer


class _BehindError(Problem):
    """The edit is not based on the last one."""


class _EarlyError(Exception):
    """The next edit is another editor's."""


async def _state(conn: Conn, node_id: UUID) -> State:
    state = await live.read(conn, node_id)
    if state is None:
        raise not_found()
    return state


async def _begin(conn: Conn, call: Call, draft: _Draft) -> State | Accepted:
    """The state on which an edit is based, or the answer that its first request got."""
    # Before the role: an edit that is stored is not refused when its answer was lost meanwhile.
    before = await _repeated(conn, draft)
    if before is not None:
        return before
    await access.page(conn, call, draft.node_id, Role.EDITOR)
    state = await _state(conn, draft.node_id)
    if (draft.body.base_seq, draft.body.base_id) != (state.seq, state.edit_id):
        await _refuse(conn, draft)
    return state


async def _repeated(conn: Conn, draft: _Draft) -> Accepted | None:
    """The answer that an edit got before; None if it is new. Raises a 409 if its number is used."""
    body = draft.body
    # The log's own row, if there is one, has the lowest number of these.
    cursor = await conn.execute(
        "SELECT seq, id, n, digest FROM page_edits WHERE node_id = %(node)s"
        " AND author_id = %(author)s AND client = %(client)s AND n = %(n)s"
        " UNION ALL SELECT seq, id, n, digest FROM pruned_edits WHERE node_id = %(node)s"
        " AND author_id = %(author)s AND client = %(client)s AND n >= %(n)s ORDER BY n LIMIT 1",
        {"node": draft.node_id, "author": draft.author, "client": body.client, "n": body.n},
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    if row["n"] != body.n or bytes(row["digest"]) != draft.digest:
        raise Problem(409, f"Edit {body.n} of this client is another one.", field="n")
    return Accepted(row["seq"], row["id"])


async def _refuse(conn: Conn, draft: _Draft) -> None:
    body = draft.body
    missed = await since(conn, draft.node_id, body.base_seq, body.base_id, named=True)
    raise _BehindError(
        409,
        f"The page is at edit {missed.seq}, and this one is based on {body.base_seq}.",
        field="base_seq",
        current=missed,
    )


async def _store(
    conn: Conn,
    call: Call,
    draft: _Draft,
    state: State,
    *,
    waits: bool,
    found: Counter[UUID] | None,
) -> _Stored:
    """Stores the edit if the page is still at its base; the role is checked under the lock.

    `found` is whom the page mentions after it, if its steps have mentions.
    """
    try:
        row = await access.page(conn, call, draft.node_id, Role.EDITOR, lock=True)
    except Problem:
        if (before := await _repeated(conn, draft)) is not None:
            return _Stored(before, is_new=False)
        raise
    before = await _repeated(conn, draft)
    if before is not None:
        return _Stored(before, is_new=False)
    cursor = await conn.execute(
        "SELECT seq, edit_id, turn_of <> %s AND turn_until > now() AS is_early"
        " FROM page_logs WHERE node_id = %s FOR UPDATE",
        (draft.body.client, draft.node_id),
    )
    log = await cursor.fetchone()
    first = live.first_id(row["version"], row["updated_at"])
    at = (log["seq"], log["edit_id"]) if log else (0, first)
    if at != (state.seq, state.edit_id):
        await _refuse(conn, draft)
    if log and log["is_early"] and waits:
        raise _EarlyError
    answer = Accepted(state.seq + 1, uuid4())
    if log is None:
        await saving.snapshot(conn, draft.node_id, 0, row["title"], state.doc.decode())
    if found is not None:
        where = record.Where(row["space_id"], draft.node_id, draft.author)
        await record.page_mentions(conn, where, found)
    await _write(conn, draft, answer, version=row["version"], base=first)
    return _Stored(answer, is_new=True)


async def _write(conn: Conn, draft: _Draft, answer: Accepted, *, version: int, base: UUID) -> None:
    """Writes the edit and the log's new end; a log begins on the page's stored version."""
    body = draft.body
    async with conn.pipeline():
        await conn.execute(
            "INSERT INTO page_logs"
            " (node_id, seq, edit_id, saved_seq, version, base_version, base_id, since)"
            " VALUES (%(node)s, %(seq)s, %(id)s, 0, %(version)s, %(version)s, %(base)s, now())"
            " ON CONFLICT (node_id) DO UPDATE SET seq = excluded.seq,"
            " edit_id = excluded.edit_id, at = now(), since = coalesce(page_logs.since, now()),"
            " turn_until = CASE WHEN page_logs.turn_of <> %(client)s THEN page_logs.turn_until END",
            {
                "node": draft.node_id,
                "seq": answer.seq,
                "id": answer.id,
                "version": version,
                "base": base,
                "client": body.client,
            },
        )
        await conn.execute(
            "INSERT INTO page_edits (node_id, seq, id, client, n, author_id, steps, title, digest)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s::json, %s, %s)",
            (
                draft.node_id,
                answer.seq,
                answer.id,
                body.client,
                body.n,
                draft.author,
                msgspec.json.encode(body.steps).decode(),
                body.title,
                draft.digest,
            ),
        )
