"""What jobs there are, and the housekeeping that every replica may do at any time.

Invariant: housekeeping is one statement a table, so that replicas doing it together do no harm.
"""

import logging
from functools import partial
from typing import TYPE_CHECKING, LiteralString

import psycopg

from notes.db.connect import Conn, take_time
from notes.db.failures import may_repeat
from notes.db.pool import Database
from notes.log import say

if TYPE_CHECKING:
    from notes.jobs.runner import Job

logger = logging.getLogger(__name__)

TRASH_DAYS = 30
EVENT_HOURS = 24
JOB_DAYS = 30

_STATEMENTS: tuple[LiteralString, ...] = (
    # An unfinished upload lives 24 hours (spec: notes-app §8); its chunks go with it.
    "DELETE FROM uploads WHERE expires_at < now()",
    "DELETE FROM sessions WHERE expires_at < now()",
    "DELETE FROM rate_limits WHERE window_ends < now()",
    "DELETE FROM oidc_logins WHERE expires_at < now()",
    "WITH gone AS (DELETE FROM events"
    f" WHERE at < now() - interval '{EVENT_HOURS} hours' RETURNING timeline, xid)"
    " UPDATE event_epochs SET pruned_timeline = g.timeline, pruned_xid = g.last FROM"
    " (SELECT timeline, xid::text::bigint AS last FROM gone ORDER BY 1 DESC, 2 DESC LIMIT 1) g"
    " WHERE (g.timeline, g.last) > (pruned_timeline, pruned_xid)",
    f"DELETE FROM jobs WHERE finished_at < now() - interval '{JOB_DAYS} days'",
    f"DELETE FROM nodes WHERE trashed_at < now() - interval '{TRASH_DAYS} days'",
)


async def housekeeping(db: Database) -> None:
    """Deletes what has run out. What cannot be deleted now holds up neither the rest nor jobs."""
    for statement in _STATEMENTS:
        try:
            await db.transact(partial(_delete, statement=statement))
        except psycopg.Error as error:
            if may_repeat(error):
                raise
            say(logger, "housekeeping put off", logging.WARNING, reason=str(error))


async def _delete(conn: Conn, statement: LiteralString) -> None:
    await take_time(conn)
    # What another replica deletes just now it deletes alone.
    await conn.execute("SET LOCAL lock_timeout = '1s'")
    await conn.execute(statement)


async def do(job: "Job") -> None:
    """Runs a claimed job by its kind."""
    from notes.jobs.runner import JobFailedError

    if job.kind == "import":
        from notes.transfer.importing import run_import

        await run_import(job)
        return
    if job.kind == "sum-files":
        from notes.files.summing import sum_files

        await sum_files(job)
        return
    raise JobFailedError(f"This version knows no job of the kind {job.kind!r}.")
