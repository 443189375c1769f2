"""API of comments on pages, in threads one level deep."""

from datetime import datetime
from typing import Annotated, LiteralString
from uuid import UUID, uuid4

import msgspec
from psycopg.rows import DictRow

from notes.auth import audit
from notes.db.connect import Conn
from notes.events.record import tell
from notes.http.context import Call
from notes.http.problems import Problem, not_found
from notes.http.routing import Table
from notes.notifications import record
from notes.pages import access, repeats
from notes.pages.roles import Role

table = Table("comments")

Body = Annotated[
    str,
    # Each character can match in one way only: backtracking would make a refusal slow.
    msgspec.Meta(min_length=1, max_length=20_000, pattern=r"^\s*[^\s\x00][^\x00]*$"),
]
Quote = Annotated[str, msgspec.Meta(max_length=2000, pattern=r"^[^\x00]*$")]


class Comment(msgspec.Struct, frozen=True):
    """A comment and its author."""

    id: UUID
    node_id: UUID
    parent_id: UUID | None
    author_id: UUID | None
    author_name: str | None
    body: str
    quote: str | None
    created_at: datetime
    edited_at: datetime | None
    resolved_at: datetime | None
    #: When the thread was last resolved or opened again.
    state_changed_at: datetime | None = None


class CommentIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A comment to create; `quote` is the passage that it is about.

    With a `key` a repeat makes no second comment.
    """

    body: Body
    parent_id: UUID | None = None
    quote: Quote | None = None
    key: UUID | None = None


class CommentPatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Fields of a comment to change.

    With a `key` a repeat changes nothing. With `bases` only one of those states is changed:
    `edited_at` for the text, `state_changed_at` for `resolved`.
    """

    body: Body | None = None
    resolved: bool | None = None
    key: UUID | None = None
    #: The page, for a 410 instead of a 404 if the comment was deleted from it lately.
    node_id: UUID | None = None
    bases: Annotated[list[datetime | None], msgspec.Meta(max_length=100)] | None = None


class Removal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """With both, the comment stays deleted although the database may have lost it."""

    key: UUID | None = None
    node_id: UUID | None = None


_COLUMNS: LiteralString = (
    "SELECT c.id, c.node_id, c.parent_id, c.author_id,"
    " coalesce(u.name, c.author_name) AS author_name, c.body,"
    " c.quote, c.created_at, c.edited_at, c.resolved_at, c.state_changed_at FROM comments c"
    " LEFT JOIN users u ON u.id = c.author_id "
)


@table("GET", "/api/v1/nodes/{id}/comments")
async def list_comments(call: Call, id: UUID) -> list[Comment]:
    """List the comments on a page, oldest first; empty if you read it only as a public page."""

    async def work(conn: Conn) -> list[Comment]:
        row = await access.page(conn, call, id, Role.VIEWER)
        if not await access.is_insider(conn, call, row):
            return []
        cursor = await conn.execute(
            _COLUMNS + "WHERE c.node_id = %s ORDER BY c.created_at, c.id", (id,)
        )
        return [Comment(**row) for row in await cursor.fetchall()]

    return await call.app.db.run(work)


@table("POST", "/api/v1/nodes/{id}/comments", scope="write", status=201)
async def post_comment(call: Call, id: UUID, body: CommentIn) -> Comment:
    """Comment on a page."""

    user_id = call.viewer.user_id
    assert user_id is not None  # noqa: S101 - nobody else may comment
    comment_id = repeats.own_id(user_id, body.key) if body.key else uuid4()

    async def work(conn: Conn) -> Comment:
        row = await access.page(conn, call, id, Role.COMMENTER)
        if await repeats.is_repeat(conn, call, body.key, comment_id, id):
            return await _again(conn, comment_id, id)
        if body.key is not None and await repeats.was_removed(conn, comment_id, id):
            raise repeats.gone()
        if body.parent_id is not None:
            await _check_thread(conn, body.parent_id, id)
        cursor = await conn.execute(
            "INSERT INTO comments (id, node_id, parent_id, author_id, body, quote)"
            " VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (id) DO NOTHING RETURNING created_at",
            (comment_id, id, body.parent_id, user_id, body.body, body.quote),
        )
        made = await cursor.fetchone()
        if made is None:
            return await _again(conn, comment_id, id)
        await tell(
            conn, "comment.made", space_id=row["space_id"], node_id=id, comment_id=comment_id
        )
        where = record.Where(row["space_id"], id, user_id, comment_id)
        await record.comment_made(conn, where, body.parent_id, body.body)
        return Comment(
            comment_id,
            id,
            body.parent_id,
            user_id,
            call.viewer.name,
            body.body,
            body.quote,
            made["created_at"],
            None,
            None,
        )

    return await call.app.db.transact(work)


async def _again(conn: Conn, comment_id: UUID, node_id: UUID) -> Comment:
    """The comment that an earlier request made. Raises a 410 if it was deleted since."""
    cursor = await conn.execute(
        _COLUMNS + "WHERE c.id = %s AND c.node_id = %s", (comment_id, node_id)
    )
    row = await cursor.fetchone()
    if row is None:
        raise repeats.gone()
    return Comment(**row)


async def _check_thread(conn: Conn, thread: UUID, node_id: UUID) -> None:
    """Raises a 422 if a comment of the page does not begin a thread, a 410 if it was deleted."""
    cursor = await conn.execute(
        "SELECT 1 FROM comments WHERE id = %s AND node_id = %s AND parent_id IS NULL",
        (thread, node_id),
    )
    if await cursor.fetchone() is not None:
        return
    if await repeats.was_removed(conn, thread, node_id):
        raise repeats.gone()
    raise Problem(422, "That comment does not begin a thread.", field="parent_id")


@table("PATCH", "/api/v1/comments/{id}", scope="write", status=204)
async def patch_comment(call: Call, id: UUID, body: CommentPatch) -> None:
    """Edit your own comment, or resolve or reopen any."""

    if body.bases is not None and (body.body is None) == (body.resolved is None):
        raise Problem(422, "With bases, change either the text or the state.", field="bases")

    async def work(conn: Conn) -> None:
        comment, row = await _comment(conn, call, id, body.node_id)
        node_id = comment["node_id"]
        if body.body is not None and comment["author_id"] != call.viewer.user_id:
            raise Problem(403, "Only its author may edit a comment.", field="body")
        if await repeats.is_repeat(conn, call, body.key, id, node_id):
            return
        if body.body is not None:
            _check_base(body, comment["edited_at"], is_same=comment["body"] == body.body)
            await conn.execute(
                "UPDATE comments SET body = %s, edited_at = now() WHERE id = %s", (body.body, id)
            )
            where = record.Where(row["space_id"], node_id, call.viewer.user_id, id)
            thread = comment["parent_id"] or id
            await record.comment_changed(conn, where, thread, comment["body"], body.body)
        if body.resolved is not None:
            is_same = (comment["resolved_at"] is not None) == body.resolved
            _check_base(body, comment["state_changed_at"], is_same=is_same)
            await conn.execute(
                "UPDATE comments SET resolved_at = CASE WHEN %(r)s THEN"
                " coalesce(resolved_at, now()) END, state_changed_at = now(),"
                " resolved_by = CASE WHEN %(r)s THEN %(by)s::uuid END WHERE id = %(id)s",
                {"r": body.resolved, "by": call.viewer.user_id, "id": id},
            )
        await tell(
            conn,
            "comment.changed",
            space_id=row["space_id"],
            node_id=node_id,
            comment_id=id,
        )

    await call.app.db.transact(work)


def _check_base(body: CommentPatch, now: datetime | None, *, is_same: bool) -> None:
    """Raises a 409 if a change names the states that it may replace, and this is none of them."""
    if body.bases is not None and now not in body.bases and not is_same:
        raise Problem(409, "Somebody has changed this comment meanwhile.", field="bases")


@table("DELETE", "/api/v1/comments/{id}", scope="write", status=204)
async def delete_comment(call: Call, id: UUID, query: Removal) -> None:
    """Delete your own comment with its answers; a manager may delete any.

    With the id of its page, a comment that a failover has lost is deleted, too: its author's
    browser does not bring it back.
    """

    async def work(conn: Conn) -> None:
        try:
            comment, row = await _comment(conn, call, id)
        except Problem:
            if query.node_id is None or not await _remove_lost(conn, call, id, query.node_id):
                raise
            await repeats.note_removal(conn, call, [id], query.node_id, query.key)
            return
        if comment["author_id"] != call.viewer.user_id and row["role"] < Role.MANAGER:
            raise Problem(403, "Only its author or a manager may delete a comment.")
        cursor = await conn.execute("DELETE FROM comments WHERE parent_id = %s RETURNING id", (id,))
        answers = [answer["id"] for answer in await cursor.fetchall()]
        await conn.execute("DELETE FROM comments WHERE id = %s", (id,))
        space_id, node_id = row["space_id"], comment["node_id"]
        await repeats.note_removal(conn, call, [id, *answers], node_id, query.key)
        await tell(conn, "comment.removed", space_id=space_id, node_id=node_id, comment_id=id)
        await audit.note(
            conn, call.viewer, "comment.removed", row["title"], space_id=space_id, node_id=node_id
        )

    await call.app.db.transact(work)


async def _remove_lost(conn: Conn, call: Call, id: UUID, node_id: UUID) -> bool:
    """True if there is no such comment, and the user might have deleted it from the page."""
    cursor = await conn.execute("SELECT 1 FROM comments WHERE id = %s", (id,))
    if await cursor.fetchone() is not None:
        return False
    row = await access.page(conn, call, node_id, Role.COMMENTER)
    user_id = call.viewer.user_id
    is_own = user_id is not None and repeats.is_own(user_id, id)
    return is_own or row["role"] >= Role.MANAGER


async def _comment(
    conn: Conn, call: Call, id: UUID, page: UUID | None = None
) -> tuple[DictRow, DictRow]:
    """A comment, locked, and its page. Raises a 404; a 410 if it was deleted from `page` lately."""
    cursor = await conn.execute(
        "SELECT node_id, author_id, parent_id, body, edited_at, resolved_at, state_changed_at"
        " FROM comments WHERE id = %s FOR UPDATE",
        (id,),
    )
    comment = await cursor.fetchone()
    node_id = comment["node_id"] if comment else page
    if node_id is None:
        raise not_found("comment")
    try:
        row = await access.page(conn, call, node_id, Role.COMMENTER)
    except Problem as problem:
        raise not_found("comment") if problem.status == 404 else problem from None
    if comment is not None:
        return comment, row
    if await repeats.was_removed(conn, id, node_id):
        raise repeats.gone()
    raise not_found("comment")
