"""API of presence: a tab reports that it shows a page, and learns of its edits and its people."""

from uuid import UUID

import msgspec

from notes.db.connect import Conn
from notes.edits.live import first_id
from notes.http.context import Call
from notes.http.problems import Problem
from notes.http.routing import Table
from notes.pages import access
from notes.pages.roles import Role
from notes.presence.meeting import CaretOf, Here, Person
from notes.presence.seats import Caret, Place

table = Table("presence")


class PresenceIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tab that shows the page, or does not any more; with a caret, it edits the page."""

    tab: UUID
    is_here: bool = True
    caret: Caret | None = None


class Presence(msgspec.Struct, frozen=True):
    """The page's last edit, if it is saved as a version, and the people who have the page open.

    `people` and `carets` are empty for a reader who may not see who works in the space, and if
    nobody else is there. The caller's own caret is among them.
    """

    seq: int
    id: UUID
    is_saved: bool
    people: list[Person]
    carets: list[CaretOf]


@table("POST", "/api/v1/nodes/{id}/presence", scope="write")
async def post_presence(call: Call, id: UUID, body: PresenceIn) -> Presence:
    """Report that a tab shows a page; repeat it every 12 seconds.

    Your event stream gets `page.edited`, `page.people` and `page.carets` of the page for 30 seconds
    after that. A caret needs the role editor.
    """
    person = call.viewer.person
    if not call.app.meeting.admits(person):
        raise Problem(429, "These are too many reports.", headers={"retry-after": "2"})

    async def work(conn: Conn) -> tuple[Presence, bool]:
        row = await access.page(conn, call, id, Role.EDITOR if body.caret else Role.VIEWER)
        is_insider = await access.is_insider(conn, call, row)
        cursor = await conn.execute(
            "SELECT seq, edit_id, seq = saved_seq AS is_saved FROM page_logs WHERE node_id = %s",
            (id,),
        )
        log = await cursor.fetchone()
        if log is None:
            first = first_id(row["version"], row["updated_at"])
            found = Presence(0, first, is_saved=True, people=[], carets=[])
        else:
            seq, edit_id, is_saved = log["seq"], log["edit_id"], log["is_saved"]
            found = Presence(seq, edit_id, is_saved=is_saved, people=[], carets=[])
        return found, is_insider

    found, is_insider = await call.app.db.run(work)
    place = Place(id, person, body.tab)
    here = await call.app.meeting.report(place, is_here=body.is_here, caret=body.caret)
    shown = here if is_insider else Here([], [])
    return msgspec.structs.replace(found, people=shown.people, carets=shown.carets)
