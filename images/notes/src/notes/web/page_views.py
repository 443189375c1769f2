"""HTML forms of a page: edit, history, move, trash, files, comments and links."""

from itertools import zip_longest
from uuid import UUID

import msgspec
from starlette.responses import Response

from notes.files.attachments import whole
from notes.http.context import Call
from notes.http.problems import Problem
from notes.http.routing import RawBody, Table
from notes.pages import access, api, comments, listing, lists, revisions, tree
from notes.pages.comments import CommentIn, CommentPatch
from notes.pages.content import VersionNumber
from notes.pages.listing import ListQuery
from notes.pages.revisions import DiffQuery, RevertIn, RevisionsQuery
from notes.pages.roles import Role
from notes.pages.saves import SaveIn
from notes.pages.tree import DeleteQuery, MoveIn
from notes.share import links
from notes.share.links import ShareIn
from notes.web.forms import convert, fields, identifier, number
from notes.web.render import page
from notes.web.sign_in import see

table = Table("reading")

VERSIONS_LISTED = 200
NEWEST = RevisionsQuery().before


@table("GET", "/p/{id}/edit", scope="write")
async def edit_page(call: Call, id: UUID) -> Response:
    """Show a page's Markdown for editing."""
    node = await api.get_node(call, id)
    text = await call.app.documents.markdown(call.account, bytes(node.doc))
    return page(
        call,
        "edit.html",
        id=id,
        title=node.title,
        text=text,
        base_version=node.version,
        base_updated_at=node.updated_at,
        conflict=None,
    )


@table("POST", "/p/{id}/edit", scope="write")
async def edit_form(call: Call, id: UUID) -> Response:
    """Save a page; if another user has saved in the meantime, show both versions."""
    given = await fields(call)
    text = given.get("markdown", "").replace("\r\n", "\n")
    title = given.get("title", "")
    body = convert({**base_of(given), "title": title, "markdown": text}, SaveIn)
    try:
        await api.put_node(call, id, body)
    except Problem as problem:
        if problem.status != 409:
            raise
        theirs = problem.document.current.theirs
        stored = await call.app.documents.markdown(call.account, bytes(theirs.doc))
        return page(
            call,
            "edit.html",
            409,
            id=id,
            title=title,
            text=text,
            base_version=theirs.version,
            base_updated_at=theirs.updated_at,
            conflict={"title": theirs.title, "text": stored},
        )
    return see(f"/p/{id}")


def base_of(given: dict[str, str]) -> dict[str, object]:
    """The version that a form was made of; one without a moment is of an earlier version."""
    moment = given.get("base_updated_at") or None
    return {"base_version": number(given, "base_version"), "base_updated_at": moment}


class HistoryQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The version behind which the list begins; none: with the newest."""

    before: VersionNumber = NEWEST


@table("GET", "/p/{id}/history", scope="read")
async def history_page(call: Call, id: UUID, query: HistoryQuery) -> Response:
    """Show a page's versions, each with the one before it that is still in the history.

    Versions that edits made replace each other, so the number before a version may not exist.
    """
    node = await api.get_node(call, id)
    asked = RevisionsQuery(query.before, VERSIONS_LISTED + 1)
    listed = await revisions.list_revisions(call, id, asked)
    shown = listed[:VERSIONS_LISTED]
    return page(
        call,
        "history.html",
        node=node,
        revisions=list(zip_longest(shown, (one.version for one in listed[1:]))),
        has_newer=query.before != NEWEST,
        has_older=len(listed) > len(shown),
    )


@table("GET", "/p/{id}/diff", scope="read")
async def diff_page(call: Call, id: UUID, query: DiffQuery) -> Response:
    """Show the differences between two versions."""
    node = await api.get_node(call, id)
    found = await revisions.get_diff(call, id, query)
    return page(call, "diff.html", node=node, diff=found, old=query.old, new=query.new)


@table("POST", "/p/{id}/revert", scope="write")
async def revert_form(call: Call, id: UUID) -> Response:
    """Restore a version."""
    given = await fields(call)
    body = convert(base_of(given), RevertIn)
    await revisions.restore_revision(call, id, number(given, "version"), body)
    return see(f"/p/{id}")


@table("POST", "/p/{id}/favourite", scope="write")
async def favourite_form(call: Call, id: UUID) -> Response:
    """Add a page to the favourites or remove it."""
    wanted = (await fields(call)).get("favourite") == "yes"
    await (lists.put_favourite if wanted else lists.delete_favourite)(call, id)
    return see(f"/p/{id}")


class MoveQuery(ListQuery, frozen=True):
    """The page to move to a place below; none: the top of the space."""

    below: UUID | None = None


@table("GET", "/p/{id}/move", scope="write")
async def move_page(call: Call, id: UUID, query: MoveQuery) -> Response:
    """Show the places to which a page can be moved."""
    node = await call.app.db.run(lambda conn: access.page(conn, call, id, Role.EDITOR))
    try:
        if query.below is None:
            part = await listing.of_space(call, node["space_id"], query)
        else:
            part = await listing.of_page(call, query.below, query)
    except Problem as problem:
        if problem.status != 404 or query.below is not None:
            raise
        part = listing.NOTHING  # the user may have access to some pages of the space alone
    return page(
        call,
        "move.html",
        node=node,
        part=part,
        may_place=part.role >= Role.EDITOR and query.below != id,
        others=[place for place in part.places if place.id != id],
    )


@table("POST", "/p/{id}/move", scope="write")
async def move_form(call: Call, id: UUID) -> Response:
    """Move a page."""
    given = await fields(call)
    await tree.move_node(
        call, id, MoveIn(identifier(given, "parent_id"), identifier(given, "after_id"))
    )
    return see(f"/p/{id}")


@table("POST", "/p/{id}/trash", scope="write")
async def trash_form(call: Call, id: UUID) -> Response:
    """Move a page to the trash."""
    node = await api.get_node(call, id)
    await tree.delete_node(call, id, DeleteQuery())
    return see(f"/spaces/{node.space_id}")


@table("POST", "/p/{id}/restore", scope="write")
async def restore_form(call: Call, id: UUID) -> Response:
    """Restore a page from the trash."""
    await tree.restore_node(call, id)
    return see(f"/p/{id}")


@table("POST", "/p/{id}/files", scope="write", raw=RawBody(("multipart/form-data",)))
async def file_form(call: Call, id: UUID) -> Response:
    """Upload a file."""
    await whole(call, id)
    return see(f"/p/{id}#page:files")


@table("POST", "/p/{id}/comments", scope="write")
async def comment_form(call: Call, id: UUID) -> Response:
    """Comment on a page."""
    given = await fields(call)
    await comments.post_comment(call, id, convert({"body": given.get("body", "")}, CommentIn))
    return see(f"/p/{id}#page:comments")


@table("POST", "/p/{id}/comments/{comment_id}/resolve", scope="write")
async def comment_resolve_form(call: Call, id: UUID, comment_id: UUID) -> Response:
    """Resolve a comment."""
    await comments.patch_comment(call, comment_id, CommentPatch(resolved=True))
    return see(f"/p/{id}#page:comments")


@table("POST", "/p/{id}/shares", scope="write")
async def share_form(call: Call, id: UUID) -> Response:
    """Create a share link."""
    given = await fields(call)
    body = {"include_children": given.get("include_children") == "on"}
    if given.get("password"):
        body["password"] = given["password"]  # type: ignore[assignment]
    await links.post_share(call, id, convert(dict(body), ShareIn))
    return see(f"/p/{id}#page:shares")


@table("POST", "/p/{id}/shares/{share_id}/revoke", scope="write")
async def share_revoke_form(call: Call, id: UUID, share_id: UUID) -> Response:
    """Revoke a share link."""
    await links.delete_share(call, share_id)
    return see(f"/p/{id}#page:shares")
