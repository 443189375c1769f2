"""Reads all that the HTML view of a page shows, in one statement."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

import msgspec
from psycopg.rows import DictRow

from notes.files.attachments import Attachment
from notes.http.context import Call
from notes.pages import access, window
from notes.pages.comments import Comment
from notes.pages.roles import Role
from notes.pages.window import Place, Title
from notes.share import links
from notes.share.links import Share

LINKS_SHOWN = 20  # the statement asks for one more


class Home(msgspec.Struct, frozen=True):
    """The space of a page; `domain` is that of its public site."""

    id: UUID
    title: str
    domain: str | None


@dataclass(frozen=True, slots=True)
class Page:
    """A page with everything around it that the viewer may see."""

    row: DictRow
    space: Home | None
    ancestors: list[Title]
    before: list[Place]
    after: list[Place]
    children: list[Place]
    files: list[Attachment]
    comments: list[Comment]
    backlinks: list[Title]
    shares: list[Share]

    @property
    def parent_is_visible(self) -> bool:
        parent = self.row["parent_id"]
        return bool(self.ancestors) and self.ancestors[-1].id == parent


class _Around(msgspec.Struct, frozen=True):
    space: Home | None
    ancestors: list[Title]
    before: list[Place]
    after: list[Place]
    children: list[Place]
    files: list[Attachment]
    comments: list[Comment]
    backlinks: list[Title]
    shares: list[dict[str, Any]]


_decode = msgspec.json.Decoder(_Around).decode
_SPACE: LiteralString = (
    "(SELECT json_build_object('id', s.id, 'title', s.name, 'domain', CASE WHEN s.public"
    " AND s.site_enabled AND s.domain = s.approved_domain THEN s.domain END) FROM spaces s"
    " WHERE s.id = p.space_id AND p.in_space > 0)"
)
_FILES: LiteralString = (
    "(SELECT coalesce(json_agg(f ORDER BY f.name, f.id), '[]') FROM (SELECT id, node_id, name,"
    " media_type AS type, size, encode(sha256, 'hex') AS sha256, created_at, NULL AS created_by"
    " FROM attachments WHERE node_id = p.id) f)"
)
_COMMENTS: LiteralString = (
    "(SELECT coalesce(json_agg(c ORDER BY c.created_at, c.id), '[]') FROM (SELECT c.id, c.node_id,"
    " c.parent_id, c.author_id, coalesce(u.name, c.author_name) AS author_name, c.body, c.quote,"
    " c.created_at, c.edited_at, c.resolved_at FROM comments c LEFT JOIN users u"
    " ON u.id = c.author_id WHERE c.node_id = p.id AND p.inside) c)"
)
_BACKLINKS: LiteralString = (
    "(SELECT coalesce(json_agg(b ORDER BY b.title, b.id), '[]') FROM (SELECT b.id, b.title"
    " FROM links l JOIN nodes b ON b.id = l.from_node WHERE l.to_node = p.id"
    " AND b.trashed_at IS NULL AND CASE WHEN b.access_root IS NULL AND b.space_id = p.space_id"
    " THEN p.in_space > 0 ELSE "
    + window.ROLE.format("b")
    + " > 0 END ORDER BY b.title, b.id LIMIT 21) b)"
)
_SHARES: LiteralString = (
    "(SELECT coalesce(json_agg(h ORDER BY h.created_at, h.id), '[]') FROM ("
    + links.SHARE
    + " WHERE s.node_id = p.id AND p.role >= 3) h)"
)
_PAGE: LiteralString = (
    "WITH p AS MATERIALIZED (SELECT n.id, n.space_id, n.parent_id, n.position, n.title, n.version,"
    " n.doc, n.updated_at, n.trashed_at, n.access_root, "
    + window.ROLE.format("n")
    + " AS role, space_role(n.space_id, %(person)s, %(groups)s, %(admin)s) AS in_space,"
    " page_insider(n.space_id, n.access_root, %(person)s, %(groups)s, %(admin)s) AS inside,"
    " EXISTS (SELECT 1 FROM favourites f WHERE f.node_id = n.id AND f.user_id = %(person)s)"
    " AS is_favourite FROM nodes n WHERE n.id = %(id)s)"
    " SELECT p.*, CASE WHEN p.role > 0 AND p.trashed_at IS NULL THEN json_build_object("
    "'space', " + _SPACE + ", 'ancestors', " + window.ANCESTORS
    + ", 'before', " + window.SIBLINGS_BEFORE + ", 'after', " + window.SIBLINGS_AFTER
    + ", 'children', " + window.CHILDREN + ", 'files', " + _FILES + ", 'comments', " + _COMMENTS
    + ", 'backlinks', " + _BACKLINKS + ", 'shares', " + _SHARES + ") END AS around FROM p"
)  # fmt: skip


async def row_of(call: Call, id: UUID) -> DictRow:
    """The page's row with the rest as JSON in `around`; that is null in the trash.

    Raises a 404 for a page that the user may not see; one in the trash is shown to editors.
    """
    row = await call.app.db.one(_PAGE, {**call.viewer.rights, "id": id})
    is_editor = row is not None and row["role"] >= Role.EDITOR
    return access.admit(call, row, Role.VIEWER, trashed=is_editor)


def read(call: Call, row: DictRow) -> Page:
    """The page of a row that is not in the trash."""
    around = _decode(row["around"])
    shares = [links.view(call, {**share, **_unpacked(share)}) for share in around.shares]
    return Page(
        row,
        around.space,
        around.ancestors[::-1],
        around.before,
        around.after,
        around.children,
        around.files,
        around.comments,
        around.backlinks,
        shares,
    )


def _unpacked(share: dict[str, Any]) -> dict[str, Any]:
    """The columns of a link that JSON has only as text."""
    return {
        "id": UUID(share["id"]),
        "token_sealed": bytes.fromhex(share["token_sealed"].removeprefix("\\x")),
        "created_at": msgspec.convert(share["created_at"], datetime),
    }
