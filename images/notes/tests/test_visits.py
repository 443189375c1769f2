"""Tests that visits of share links are counted and not kept for all time."""

from typing import Any

import psycopg

from notes.db.migrate import migrations
from notes.jobs.housekeeping import _STATEMENTS
from tests.postgres import Postgres
from tests.replica import Client
from tests.test_access import path_of
from tests.workspace import page, space


def linked(admin: Client) -> tuple[str, str]:
    """The id and the path of a link to a new page."""
    made = page(admin, space(admin), "Visited")
    share = admin.ok("POST", f"/api/v1/nodes/{made}/shares", {})
    return str(share["id"]), path_of(share)


def numbers(admin: Client, share: str) -> tuple[int, int, list[Any]]:
    """The sums of a link, and the visits and visitors of each day."""
    found = admin.ok("GET", f"/api/v1/shares/{share}/statistics")
    days = [(one["views"], one["visitors"]) for one in found["days"]]
    return found["views"], found["visitors"], days


def visit(client: Client, path: str, address: str, times: int = 1) -> None:
    for _ in range(times):
        assert client.get(path, headers={"x-forwarded-for": address}).status_code == 200


def tidy(conn: psycopg.Connection[Any]) -> None:
    [statement] = [one for one in _STATEMENTS if "share_views" in one]
    conn.execute(statement)


def test_a_visitor_of_an_hour_is_one_row(
    admin: Client, anybody: Client, postgres: Postgres
) -> None:
    share, path = linked(admin)
    with psycopg.connect(postgres.url("main"), autocommit=True) as conn:
        visit(anybody, path, "203.0.113.1", 5)
        visit(anybody, path, "203.0.113.2", 2)
        rows = "SELECT count(*), max(views) FROM share_views WHERE share_id = %s"
        count, most = conn.execute(rows, (share,)).fetchone() or (0, 0)
        # Two hours, if one ends meanwhile.
        assert 2 <= count <= 4
        assert 3 <= most <= 5
    views, visitors, days = numbers(admin, share)
    assert (views, visitors, sum(one[0] for one in days)) == (7, 2, 7)


def test_visits_are_deleted_and_their_sums_stay(
    admin: Client, anybody: Client, postgres: Postgres
) -> None:
    share, path = linked(admin)
    visit(anybody, path, "203.0.113.1", 3)
    visit(anybody, path, "203.0.113.2", 2)
    older = "UPDATE share_views SET at = at - interval '%s days' WHERE share_id = %%s"
    with psycopg.connect(postgres.url("main"), autocommit=True) as conn:
        conn.execute(older % 91, (share,))
        # The first of them comes again, and another.
        visit(anybody, path, "203.0.113.1")
        visit(anybody, path, "203.0.113.3")
        for _ in range(2):
            tidy(conn)
            assert numbers(admin, share)[:2] == (7, 3)
        kept = "SELECT count(*) FROM share_views WHERE share_id = %s"
        assert conn.execute(kept, (share,)).fetchone() == (2,)
        conn.execute(older % 89, (share,))
        tidy(conn)
        assert conn.execute(kept, (share,)).fetchone() == (2,), "they are still shown"
        conn.execute(older % 2, (share,))
        tidy(conn)
    assert numbers(admin, share) == (7, 3, [])


def test_visits_of_before_the_upgrade_are_counted(admin: Client, postgres: Postgres) -> None:
    """Each was a row; many of one visitor, and two of one moment, become one of an hour."""
    [file] = [one.sql for one in migrations() if one.name == "links_and_visits"]
    moves = file[file.index("WITH gone") :]
    share, _ = linked(admin)
    with psycopg.connect(postgres.url("main")) as conn:
        conn.execute("DROP INDEX share_views_hour")
        conn.execute("DROP INDEX share_views_at_idx")
        conn.execute("DELETE FROM share_views")
        for moment in ("08:00:01", "08:00:01", "08:59", "09:00"):
            conn.execute(
                "INSERT INTO share_views (share_id, visitor, at, referrer)"
                " VALUES (%s, 'v', ('2026-01-02 ' || %s || '+0')::timestamptz, 'from')",
                (share, moment),
            )
        conn.execute(moves.encode())
        found = conn.execute("SELECT views, referrer FROM share_views ORDER BY at").fetchall()
        conn.rollback()
    assert found == [(3, "from"), (1, "from")]
