"""Gives an editor whose edit was refused the next turn: the edits of others wait for it a moment.

Why: an editor that writes without a pause is always at the last edit of the page. One that needs
longer to rebase and send again would be refused each time. The turn is in the database, so that it
counts on every replica. A turn that its editor does not use costs the others `HELD_S`, at most each
`AGAIN_S`.
"""

import asyncio
from uuid import UUID

from notes.db.connect import Conn
from notes.db.pool import Database

#: For a browser's rebase, its storing, and a slow network.
HELD_S = 1.0
#: The same editor gets no other turn so soon after one that it did not use.
AGAIN_S = 5.0
LOOK_S = 0.05


async def take(db: Database, node_id: UUID, client: UUID) -> None:
    """Gives an editor the next turn, unless another one has it."""

    async def work(conn: Conn) -> None:
        await conn.execute(
            "UPDATE page_logs SET turn_of = %(client)s,"
            " turn_until = now() + make_interval(secs => %(held)s)"
            " WHERE node_id = %(node)s AND (turn_until IS NULL OR turn_until < now()"
            " AND (turn_of <> %(client)s"
            " OR turn_until < now() - make_interval(secs => %(again)s)))",
            {"node": node_id, "client": client, "held": HELD_S, "again": AGAIN_S},
        )

    await db.transact(work)


async def wait(db: Database, node_id: UUID, client: UUID) -> None:
    """Waits while another editor has the turn, at most a little longer than one turn."""
    clock = asyncio.get_running_loop().time
    end = clock() + HELD_S + LOOK_S
    while clock() < end:
        await asyncio.sleep(LOOK_S)
        rows = await db.all(
            "SELECT 1 FROM page_logs WHERE node_id = %s AND turn_of <> %s AND turn_until > now()",
            (node_id, client),
        )
        if not rows:
            return
