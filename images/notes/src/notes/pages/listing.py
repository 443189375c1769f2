"""Lists the children of a page, or the top level of a space, in parts."""

from dataclasses import dataclass
from typing import Annotated, LiteralString
from uuid import UUID

import msgspec

from notes.http.context import Call
from notes.http.problems import not_found
from notes.pages import access, window
from notes.pages.roles import Role
from notes.pages.window import Place, Title

_FIRST = -(2**63)


class ListQuery(msgspec.Struct, frozen=True):
    """The place in the list that the part follows, or with `back` the one that it precedes."""

    position: Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)] = _FIRST
    id: UUID = UUID(int=0)
    back: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a list; `role` is the viewer's on the page or in the space."""

    space: Title | None
    page: Title | None
    parent_id: UUID | None
    role: Role
    places: list[Place]
    has_earlier: bool
    has_later: bool


NOTHING = Part(None, None, None, Role.NONE, [], has_earlier=False, has_later=False)
_OF_PAGE: LiteralString = (
    "WITH p AS MATERIALIZED (SELECT n.id, n.space_id, n.parent_id, n.title, n.trashed_at, "
    + window.ROLE.format("n")
    + " AS role, space_role(n.space_id, %(person)s, %(groups)s, %(admin)s) AS in_space"
    " FROM nodes n WHERE n.id = %(parent)s)"
    " SELECT p.id, p.title, p.parent_id, p.space_id, p.trashed_at, p.role,"
    " CASE WHEN p.in_space > 0 THEN (SELECT name FROM spaces s WHERE s.id = p.space_id) END"
    " AS space_name, CASE WHEN p.role > 0 THEN {0} END AS places FROM p"
)
_OF_SPACE: LiteralString = (
    "WITH p AS MATERIALIZED (SELECT s.id AS space_id, s.name,"
    " space_role(s.id, %(person)s, %(groups)s, %(admin)s) AS in_space"
    " FROM spaces s WHERE s.id = %(space)s)"
    " SELECT NULL::uuid AS id, NULL::uuid AS parent_id, p.space_id, NULL AS trashed_at,"
    " p.in_space AS role, p.name AS space_name, CASE WHEN p.in_space > 0 THEN {0} END AS places"
    " FROM p"
)
_STATEMENTS: dict[tuple[bool, bool], LiteralString] = {
    (of_page, back): (_OF_PAGE if of_page else _OF_SPACE).format(
        window.part("%(parent)s::uuid", back=back)
    )
    for of_page in (True, False)
    for back in (True, False)
}
_decode = msgspec.json.Decoder(list[Place]).decode


async def of_page(call: Call, id: UUID, query: ListQuery) -> Part:
    """A part of the list of a page's children. Raises a 404 if the user may not see the page."""
    return await _part(call, query, id, None)


async def of_space(call: Call, id: UUID, query: ListQuery) -> Part:
    """A part of the list of a space's top level. Raises a 404 if the user may not see the space."""
    return await _part(call, query, None, id)


async def _part(call: Call, query: ListQuery, parent: UUID | None, space: UUID | None) -> Part:
    given = {
        **call.viewer.rights,
        "parent": parent,
        "space": space,
        "position": query.position,
        "after": query.id,
    }
    row = await call.app.db.one(_STATEMENTS[parent is not None, query.back], given)
    if parent is None and (row is None or row["role"] == Role.NONE):
        raise not_found("space")
    row = access.admit(call, row, Role.VIEWER)
    places = _decode(row["places"])
    is_cut = len(places) > window.PART
    if is_cut:
        places = places[1:] if query.back else places[:-1]
    begins = query.position == _FIRST and not query.back
    return Part(
        Title(row["space_id"], row["space_name"]) if row["space_name"] is not None else None,
        Title(row["id"], row["title"]) if parent is not None else None,
        row["parent_id"],
        Role(row["role"]),
        places,
        has_earlier=is_cut if query.back else not begins,
        has_later=True if query.back else is_cut,
    )
