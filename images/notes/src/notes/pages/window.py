"""SQL for the pages around a page: ancestors, siblings and children, each list with a limit.

Every part expects `p`, the row of a page or space, with `space_id` and `in_space` (the role in the
space); siblings also need its `id`, `parent_id` and `position`. Invariant: each listed row is
checked for the viewer's rights, and no part reads a whole tree.
"""

from typing import LiteralString
from uuid import UUID

import msgspec

NEAR = 8  # siblings that a page shows on each side
BELOW = 20  # children that a page shows
ABOVE = 8  # ancestors that a page shows
PART = 100  # children in one part of a list
# One more than shown tells that there are more.
_NEAR: LiteralString = "9"
_BELOW: LiteralString = "21"
_ABOVE: LiteralString = "9"
_PART: LiteralString = "101"

ROLE: LiteralString = "page_role({0}.space_id, {0}.access_root, %(person)s, %(groups)s, %(admin)s)"
# The rule of `page_role` for a page in the space of `p`, whose role there is found once. With the
# function itself at every place, the database would set up a large plan for each request.
SEEN: LiteralString = (
    "({0}.space_id = p.space_id AND {0}.trashed_at IS NULL AND CASE WHEN {0}.access_root IS NULL"
    " THEN p.in_space > 0 ELSE p.in_space = 4 OR EXISTS (SELECT 1 FROM node_permissions q"
    " WHERE q.node_id = {0}.access_root AND (q.principal = %(person)s"
    " OR q.principal = ANY (%(groups)s))) END)"
)


class Place(msgspec.Struct, frozen=True, gc=False):
    """A page in a list of its parent's children."""

    id: UUID
    title: str
    position: int
    is_template: bool
    is_restricted: bool
    has_children: bool


class Title(msgspec.Struct, frozen=True, gc=False):
    """A page that is named as an ancestor or as a source of a link."""

    id: UUID
    title: str


_PLACE: LiteralString = (
    "SELECT s.id, s.title, s.position, s.is_template, s.access_root IS NOT NULL AS is_restricted,"
    " s.space_id, s.access_root FROM nodes s"
    " WHERE s.space_id = p.space_id AND s.trashed_at IS NULL AND "
)
_HAS_CHILDREN: LiteralString = (
    "EXISTS (SELECT 1 FROM nodes c WHERE c.parent_id = s.id AND "
    + SEEN.format("c")
    + ") AS has_children"
)


def _listed(rows: LiteralString) -> LiteralString:
    """A JSON list of the rows of `rows` in the order of the tree."""
    return (
        "(SELECT coalesce(json_agg(w ORDER BY w.position, w.id), '[]') FROM (SELECT s.id, s.title,"
        " s.position, s.is_template, s.is_restricted, "
        + _HAS_CHILDREN
        + " FROM ("
        + rows
        + ") s) w)"
    )


def _under(parent: LiteralString, rest: LiteralString, turn: LiteralString) -> LiteralString:
    """Pages with the given parent, in the order of the index.

    Separate for the top: the index needs IS NULL there, and `parent_id` in the order.
    """
    order: LiteralString = "s.position" + turn + ", s.id" + turn
    first: LiteralString = "s.parent_id" + turn + ", "
    top: LiteralString = _PLACE + parent + " IS NULL AND s.parent_id IS NULL AND "
    below: LiteralString = _PLACE + "s.parent_id = " + parent + " AND "
    return (
        "(" + top + rest.format(first + order) + ") UNION ALL (" + below + rest.format(order) + ")"
    )


def _one_way(
    parent: LiteralString,
    position: LiteralString,
    id: LiteralString,
    limit: LiteralString,
    *,
    back: bool,
) -> LiteralString:
    """The pages with the given parent before or after a place."""
    sign: LiteralString = "<" if back else ">"
    rest: LiteralString = (
        SEEN.format("s") + " AND (s.position, s.id) " + sign + " (" + position + ", " + id + ")"
        " ORDER BY {0} LIMIT " + limit
    )
    return _under(parent, rest, " DESC" if back else "")


# The limits are literals: for a parameter the database would expect a tenth of all rows.
SIBLINGS_BEFORE: LiteralString = _listed(
    _one_way("p.parent_id", "p.position", "p.id", _NEAR, back=True)
)
SIBLINGS_AFTER: LiteralString = _listed(
    _one_way("p.parent_id", "p.position", "p.id", _NEAR, back=False)
)
CHILDREN: LiteralString = _listed(
    _PLACE
    + "s.parent_id = p.id AND "
    + SEEN.format("s")
    + " ORDER BY s.position, s.id LIMIT "
    + _BELOW
)
# From the nearest upwards; an invisible ancestor is left out, those above it are not.
ANCESTORS: LiteralString = (
    "(WITH RECURSIVE up AS (SELECT a.id, a.parent_id, a.title, a.space_id, a.access_root,"
    " a.trashed_at, 1 AS height FROM nodes a WHERE a.id = p.parent_id UNION ALL"
    " SELECT a.id, a.parent_id, a.title, a.space_id, a.access_root, a.trashed_at, up.height + 1"
    " FROM up JOIN nodes a ON a.id = up.parent_id WHERE up.height < " + _ABOVE + ")"
    " SELECT coalesce(json_agg(json_build_object('id', up.id, 'title', up.title)"
    " ORDER BY up.height), '[]') FROM up WHERE " + SEEN.format("up") + ")"
)


def part(parent: LiteralString, *, back: bool) -> LiteralString:
    """One part of the list of a parent's children, from a place on."""
    return _listed(_one_way(parent, "%(position)s", "%(after)s", _PART, back=back))
