"""API of comments on pages, in threads one level deep."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec
from psycopg.rows import DictRow

from notes.auth import audit
from notes.db.connect import Conn
from notes.events.record import tell
from notes.http.context import Call
from notes.http.problems import Problem, not_found
from notes.http.routing import Table
from notes.pages import access
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


class CommentIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A comment to create; `quote` is the passage that it is about."""

    body: Body
    parent_id: UUID | None = None
    quote: Quote | None = None


class CommentPatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Fields of a comment to change."""

    body: Body | None = None
    resolved: bool | None = None


@table("GET", "/api/v1/nodes/{id}/comments")
async def list_comments(call: Call, id: UUID) -> list[Comment]:
    """List the comments on a page, oldest first; empty if you read it only as a public page."""

    async def work(conn: Conn) -> list[Comment]:
        row = await access.page(conn, call, id, Role.VIEWER)
        if not await access.is_insider(conn, call, row):
            return []
        cursor = await conn.execute(
            "SELECT c.id, c.node_id, c.parent_id, c.author_id,"
            " coalesce(u.name, c.author_name) AS author_name, c.body,"
            " c.quote, c.created_at, c.edited_at, c.resolved_at FROM comments c"
            " LEFT JOIN users u ON u.id = c.author_id WHERE c.node_id = %s"
            " ORDER BY c.created_at, c.id",
            (id,),
        )
        return [Comment(**row) for row in await cursor.fetchall()]

    return await call.app.db.run(work)


@table("POST", "/api/v1/nodes/{id}/comments", scope="write", status=201)
async def post_comment(call: Call, id: UUID, body: CommentIn) -> Comment:
    """Comment on a page."""

    async def work(conn: Conn) -> Comment:
        row = await access.page(conn, call, id, Role.COMMENTER)
        if body.parent_id is not None:
            cursor = await conn.execute(
                "SELECT 1 FROM comments WHERE id = %s AND node_id = %s AND parent_id IS NULL",
                (body.parent_id, id),
            )
            if await cursor.fetchone() is None:
                raise Problem(422, "That comment does not begin a thread.", field="parent_id")
        cursor = await conn.execute(
            "INSERT INTO comments (node_id, parent_id, author_id, body, quote)"
            " VALUES (%s, %s, %s, %s, %s) RETURNING id, created_at",
            (id, body.parent_id, call.viewer.user_id, body.body, body.quote),
        )
        made = await cursor.fetchone()
        assert made is not None  # noqa: S101 - an insert returns its row
        await tell(
            conn, "comment.made", space_id=row["space_id"], node_id=id, comment_id=made["id"]
        )
        return Comment(
            made["id"],
            id,
            body.parent_id,
            call.viewer.user_id,
            call.viewer.name,
            body.body,
            body.quote,
            made["created_at"],
            None,
            None,
        )

    return await call.app.db.transact(work)


@table("PATCH", "/api/v1/comments/{id}", scope="write", status=204)
async def patch_comment(call: Call, id: UUID, body: CommentPatch) -> None:
    """Edit your own comment, or resolve or reopen any."""

    async def work(conn: Conn) -> None:
        comment, row = await _comment(conn, call, id)
        if body.body is not None:
            if comment["author_id"] != call.viewer.user_id:
                raise Problem(403, "Only its author may edit a comment.", field="body")
            await conn.execute(
                "UPDATE comments SET body = %s, edited_at = now() WHERE id = %s", (body.body, id)
            )
        if body.resolved is not None:
            await conn.execute(
                "UPDATE comments SET resolved_at = CASE WHEN %(r)s THEN"
                " coalesce(resolved_at, now()) END,"
                " resolved_by = CASE WHEN %(r)s THEN %(by)s::uuid END WHERE id = %(id)s",
                {"r": body.resolved, "by": call.viewer.user_id, "id": id},
            )
        await tell(
            conn,
            "comment.changed",
            space_id=row["space_id"],
            node_id=comment["node_id"],
            comment_id=id,
        )

    await call.app.db.transact(work)


@table("DELETE", "/api/v1/comments/{id}", scope="write", status=204)
async def delete_comment(call: Call, id: UUID) -> None:
    """Delete your own comment with its answers; a manager may delete any."""

    async def work(conn: Conn) -> None:
        comment, row = await _comment(conn, call, id)
        if comment["author_id"] != call.viewer.user_id and row["role"] < Role.MANAGER:
            raise Problem(403, "Only its author or a manager may delete a comment.")
        await conn.execute("DELETE FROM comments WHERE id = %s", (id,))
        space_id, node_id = row["space_id"], comment["node_id"]
        await tell(conn, "comment.removed", space_id=space_id, node_id=node_id, comment_id=id)
        await audit.note(
            conn, call.viewer, "comment.removed", row["title"], space_id=space_id, node_id=node_id
        )

    await call.app.db.transact(work)


async def _comment(conn: Conn, call: Call, id: UUID) -> tuple[DictRow, DictRow]:
    cursor = await conn.execute("SELECT node_id, author_id FROM comments WHERE id = %s", (id,))
    comment = await cursor.fetchone()
    if comment is None:
        raise not_found("comment")
    try:
        return comment, await access.page(conn, call, comment["node_id"], Role.COMMENTER)
    except Problem as problem:
        raise not_found("comment") if problem.status == 404 else problem from None
