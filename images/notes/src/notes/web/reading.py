"""A page to read, write and look back on, as plain pages."""

from uuid import UUID

import msgspec
from markupsafe import Markup
from starlette.responses import Response

from notes.doc.html import html
from notes.doc.markdown_out import markdown
from notes.files import serve
from notes.files.attachments import whole
from notes.http.call import Call
from notes.http.endpoint import RawBody, Table
from notes.http.problems import Problem
from notes.pages import api, around, comments, revisions, tree
from notes.pages.api import SaveIn
from notes.pages.comments import CommentIn, CommentPatch
from notes.pages.revisions import DiffQuery, RevertIn, RevisionsQuery
from notes.pages.tree import DeleteQuery, MoveIn
from notes.share import links
from notes.share.links import ShareIn
from notes.spaces import api as spaces
from notes.web.doors import see
from notes.web.forms import convert, fields, identifier, number
from notes.web.render import page

table = Table("reading")


@table("GET", "/p/{id}", scope=None)
async def page_page(call: Call, id: UUID) -> Response:
    """A page."""
    try:
        node = await api.get_node(call, id)
    except Problem as problem:
        if problem.status == 404 and call.viewer.user_id is None:
            raise Problem(401, "Sign in first.") from None
        raise
    if node.trashed_at is not None:
        return page(call, "trashed.html", node=node)
    may_write = call.viewer.user_id is not None
    try:
        space = await spaces.get_space(call, node.space_id)
    except Problem:
        space = None  # one may have been let into this page alone
    return page(
        call,
        "page.html",
        node=node,
        space=space,
        body=Markup(html(msgspec.json.decode(node.doc))),  # noqa: S704 - escaped by html()
        files=await serve.list_attachments(call, id),
        comments=await comments.list_comments(call, id),
        backlinks=await around.list_backlinks(call, id),
        shares=await links.list_shares(call, id) if node.role in {"editor", "manager"} else [],
        tree=await tree.get_tree(call, node.space_id) if may_write and space else [],
        may_write=may_write and node.role in {"editor", "manager"},
        may_comment=may_write and node.role != "viewer",
    )


@table("GET", "/p/{id}/edit", scope="write")
async def edit_page(call: Call, id: UUID) -> Response:
    """A page's Markdown, to be changed."""
    node = await api.get_node(call, id)
    text = markdown(msgspec.json.decode(node.doc))
    return page(
        call,
        "edit.html",
        id=id,
        title=node.title,
        text=text,
        base_version=node.version,
        conflict=None,
    )


@table("POST", "/p/{id}/edit", scope="write")
async def edit_form(call: Call, id: UUID) -> Response:
    """Saves a page; when somebody else has, shows both versions."""
    given = await fields(call)
    text = given.get("markdown", "").replace("\r\n", "\n")
    title = given.get("title", "")
    base_version = number(given, "base_version")
    body = convert({"base_version": base_version, "title": title, "markdown": text}, SaveIn)
    try:
        await api.put_node(call, id, body)
    except Problem as problem:
        if problem.status != 409:
            raise
        theirs = problem.document.current.theirs
        return page(
            call,
            "edit.html",
            409,
            id=id,
            title=title,
            text=text,
            base_version=theirs.version,
            conflict={"title": theirs.title, "text": markdown(msgspec.json.decode(theirs.doc))},
        )
    return see(f"/p/{id}")


@table("GET", "/p/{id}/history", scope="read")
async def history_page(call: Call, id: UUID) -> Response:
    """A page's versions."""
    node = await api.get_node(call, id)
    listed = await revisions.list_revisions(call, id, RevisionsQuery(limit=200))
    return page(call, "history.html", node=node, revisions=listed)


@table("GET", "/p/{id}/diff", scope="read")
async def diff_page(call: Call, id: UUID, query: DiffQuery) -> Response:
    """What changed between two versions."""
    node = await api.get_node(call, id)
    found = await revisions.get_diff(call, id, query)
    return page(call, "diff.html", node=node, diff=found, old=query.old, new=query.new)


@table("POST", "/p/{id}/revert", scope="write")
async def revert_form(call: Call, id: UUID) -> Response:
    """Goes back to a version."""
    given = await fields(call)
    await revisions.restore_revision(
        call, id, number(given, "version"), RevertIn(number(given, "base_version"))
    )
    return see(f"/p/{id}")


@table("POST", "/p/{id}/favourite", scope="write")
async def favourite_form(call: Call, id: UUID) -> Response:
    """Makes a page a favourite, or no more."""
    wanted = (await fields(call)).get("favourite") == "yes"
    await (around.put_favourite if wanted else around.delete_favourite)(call, id)
    return see(f"/p/{id}")


@table("POST", "/p/{id}/move", scope="write")
async def move_form(call: Call, id: UUID) -> Response:
    """Moves a page."""
    given = await fields(call)
    await tree.move_node(
        call, id, MoveIn(identifier(given, "parent_id"), identifier(given, "after_id"))
    )
    return see(f"/p/{id}")


@table("POST", "/p/{id}/trash", scope="write")
async def trash_form(call: Call, id: UUID) -> Response:
    """Puts a page in the trash."""
    node = await api.get_node(call, id)
    await tree.delete_node(call, id, DeleteQuery())
    return see(f"/spaces/{node.space_id}")


@table("POST", "/p/{id}/restore", scope="write")
async def restore_form(call: Call, id: UUID) -> Response:
    """Takes a page out of the trash."""
    await tree.restore_node(call, id)
    return see(f"/p/{id}")


@table("POST", "/p/{id}/files", scope="write", raw=RawBody(("multipart/form-data",)))
async def file_form(call: Call, id: UUID) -> Response:
    """Uploads a file."""
    await whole(call, id)
    return see(f"/p/{id}#files")


@table("POST", "/p/{id}/comments", scope="write")
async def comment_form(call: Call, id: UUID) -> Response:
    """Comments on a page."""
    given = await fields(call)
    await comments.post_comment(call, id, convert({"body": given.get("body", "")}, CommentIn))
    return see(f"/p/{id}#comments")


@table("POST", "/p/{id}/comments/{comment_id}/resolve", scope="write")
async def comment_resolve_form(call: Call, id: UUID, comment_id: UUID) -> Response:
    """Resolves a comment."""
    await comments.patch_comment(call, comment_id, CommentPatch(resolved=True))
    return see(f"/p/{id}#comments")


@table("POST", "/p/{id}/shares", scope="write")
async def share_form(call: Call, id: UUID) -> Response:
    """Makes a link."""
    given = await fields(call)
    body = {"include_children": given.get("include_children") == "on"}
    if given.get("password"):
        body["password"] = given["password"]  # type: ignore[assignment]
    await links.post_share(call, id, convert(dict(body), ShareIn))
    return see(f"/p/{id}#shares")


@table("POST", "/p/{id}/shares/{share_id}/revoke", scope="write")
async def share_revoke_form(call: Call, id: UUID, share_id: UUID) -> Response:
    """Revokes a link."""
    await links.delete_share(call, share_id)
    return see(f"/p/{id}#shares")
