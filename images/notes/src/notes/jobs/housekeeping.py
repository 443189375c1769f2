"""The housekeeping that every replica may do at any time.

Invariant: housekeeping is one statement per table, so that replicas may do it at the same time.
"""

import logging
from functools import partial
from typing import LiteralString

import psycopg

from notes.db.connect import Conn, take_time
from notes.db.failures import may_repeat
from notes.db.pool import Database
from notes.log import say
from notes.pages.repeats import REQUEST_DAYS
from notes.share.links import DAYS_SHOWN

logger = logging.getLogger(__name__)

ACTOR = "housekeeping"  # in the audit log
TRASH_DAYS = 30
EVENT_HOURS = 24
JOB_DAYS = 30
PREVIEW_HOURS = 24
NOTIFICATION_DAYS = 90
PRUNED_DAYS = 365  # so long a browser may come back whose edit the log has no more
INVITATION_DAYS = 30  # after its end an invitation is listed for so long
MOST_NOTIFICATIONS = 1_000  # of one person
MOST_EDITS = 20_000  # in one statement, so that each ends in time and its work stays
MOST_SNAPSHOTS = 200

_STATEMENTS: tuple[LiteralString, ...] = (
    # An unfinished upload lives 24 hours (spec: notes-app §8); its chunks go with it.
    # A preview that nobody has begun ends like an unfinished upload; what it has read goes with it.
    "DELETE FROM jobs WHERE kind = 'import-preview' AND state = 'done'"
    f" AND finished_at < now() - interval '{PREVIEW_HOURS} hours'",
    # A waiting or running job still needs its upload, and so does a preview.
    "DELETE FROM uploads u WHERE expires_at < now() AND NOT EXISTS (SELECT 1 FROM jobs j"
    " WHERE j.id = u.job_id AND (j.state IN ('queued', 'running')"
    " OR j.kind = 'import-preview' AND j.state = 'done'))",
    "DELETE FROM sessions WHERE expires_at < now()",
    "DELETE FROM rate_limits WHERE window_ends < now()",
    "DELETE FROM oidc_logins WHERE expires_at < now()",
    "DELETE FROM oidc_trials WHERE expires_at < now()",
    "WITH gone AS (DELETE FROM events"
    f" WHERE at < now() - interval '{EVENT_HOURS} hours' RETURNING timeline, xid)"
    " UPDATE event_epochs SET pruned_timeline = g.timeline, pruned_xid = g.last FROM"
    " (SELECT timeline, xid::text::bigint AS last FROM gone ORDER BY 1 DESC, 2 DESC LIMIT 1) g"
    " WHERE (g.timeline, g.last) > (pruned_timeline, pruned_xid)",
    f"DELETE FROM notifications WHERE at < now() - interval '{NOTIFICATION_DAYS} days'",
    "DELETE FROM notifications o USING (SELECT id FROM (SELECT id, row_number() OVER"
    " (PARTITION BY user_id ORDER BY seq DESC) AS number FROM notifications) n"
    f" WHERE number > {MOST_NOTIFICATIONS}) old WHERE o.id = old.id",
    f"DELETE FROM pruned_edits WHERE at < now() - interval '{PRUNED_DAYS} days'",
    f"DELETE FROM client_requests WHERE at < now() - interval '{REQUEST_DAYS} days'",
    f"DELETE FROM invitations WHERE expires_at < now() - interval '{INVITATION_DAYS} days'",
    # The link keeps the numbers: a visitor's who has not been there since, too.
    f"WITH gone AS (DELETE FROM share_views WHERE at < now() - interval '{DAYS_SHOWN} days'"
    " RETURNING share_id, visitor, views), past AS (SELECT share_id, sum(views) AS views,"
    " NOT EXISTS (SELECT 1 FROM share_views v WHERE v.share_id = g.share_id"
    f" AND v.visitor = g.visitor AND v.at >= now() - interval '{DAYS_SHOWN} days') AS is_left"
    " FROM gone g GROUP BY share_id, visitor)"
    " UPDATE shares s SET past_views = past_views + p.views,"
    " past_visitors = past_visitors + p.visitors FROM (SELECT share_id, sum(views) AS views,"
    " count(*) FILTER (WHERE is_left) AS visitors FROM past GROUP BY share_id) p"
    " WHERE s.id = p.share_id",
    f"DELETE FROM jobs WHERE finished_at < now() - interval '{JOB_DAYS} days'",
    # A page that is not edited any more: a snapshot of its last state takes the edits' place.
    "INSERT INTO page_snapshots (node_id, seq, at, title, doc)"
    " SELECT l.node_id, l.seq, l.at, n.title, coalesce(l.doc, n.doc) FROM settings s, page_logs l"
    " JOIN nodes n ON n.id = l.node_id WHERE l.seq = l.saved_seq"
    " AND l.at < now() - make_interval(days => s.edit_log_days) AND EXISTS"
    " (SELECT 1 FROM page_edits e WHERE e.node_id = l.node_id AND e.seq <= l.seq)"
    f" LIMIT {MOST_SNAPSHOTS} ON CONFLICT DO NOTHING",
    # The newest snapshot of an older time is kept: the edits after it are applied to it.
    # It begins with the snapshots: most old edits stay until there is a later one.
    "DELETE FROM page_edits WHERE ctid = ANY (ARRAY(SELECT e.ctid FROM (SELECT p.node_id,"
    " max(p.seq) AS seq FROM page_snapshots p, settings s"
    " WHERE p.at < now() - make_interval(days => s.edit_log_days) GROUP BY p.node_id) old"
    " JOIN page_edits e ON e.node_id = old.node_id AND e.seq <= old.seq"
    f" LIMIT {MOST_EDITS}))",
    "DELETE FROM page_snapshots p USING settings s WHERE EXISTS (SELECT 1 FROM page_snapshots q"
    " WHERE q.node_id = p.node_id AND q.seq > p.seq"
    " AND q.at < now() - make_interval(days => s.edit_log_days))",
    # An entry of the audit log for each page that somebody had put in the trash, not those below.
    f"WITH gone AS (DELETE FROM nodes WHERE trashed_at < now() - interval '{TRASH_DAYS} days'"
    " RETURNING id, space_id, title, trash_root, trashed_at)"
    " INSERT INTO audit (actor_name, action, subject, space_id, node_id, detail)"
    f" SELECT '{ACTOR}', 'page.deleted', title, space_id, id,"
    " jsonb_build_object('trashed_at', trashed_at) FROM gone WHERE trash_root = id",
)


async def housekeeping(db: Database) -> None:
    """Deletes expired rows. A statement that fails stops neither the others nor the jobs."""
    for statement in _STATEMENTS:
        try:
            while await db.transact(partial(_delete, statement=statement)) >= MOST_EDITS:
                pass
        except psycopg.Error as error:
            if may_repeat(error):
                raise
            say(logger, "housekeeping statement failed", logging.WARNING, reason=str(error))


async def _delete(conn: Conn, statement: LiteralString) -> int:
    """Returns how many rows it has deleted."""
    await take_time(conn)
    # Do not wait for rows that another replica is deleting.
    await conn.execute("SET LOCAL lock_timeout = '1s'")
    # What is deleted may first take room (0012_edit_log_usage.sql).
    await conn.execute("SET LOCAL notes.housekeeping = 'on'")
    return (await conn.execute(statement)).rowcount
