"""Mentions people and reads notifications in Chromium, two people on two replicas."""

import json
from collections.abc import Callable

import psycopg
import pytest

from tests.judges.programs import front, node
from tests.judges.two_people import two_people
from tests.replica import Replica

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
SCENARIOS = 17
#: The list of people in a text and in a comment, and the notifications, in three looks.
CHECKED = 9
#: Of the first person, all read: more than two answers of the server have.
OLDER = 250
PAGES = {"plan": ("Plan", "We release on Tuesday.\n"), "notes": ("Notes", "A line.\n")}


@pytest.mark.timeout(600)
def test_mentions_and_notifications_on_two_replicas(own_replica: Start) -> None:
    one, other, given = two_people(own_replica, PAGES)
    with psycopg.connect(one.database_url) as conn:
        conn.execute(
            "INSERT INTO notifications (user_id, kind, place, space_id, node_id, read_at)"
            " SELECT u.id, 'edit', gen_random_uuid(), n.space_id, n.id, now() FROM users u"
            " JOIN nodes n ON n.id = %s, generate_series(1, %s) WHERE u.is_admin",
            (given["plan"], OLDER),
        )
    with front(one) as first, front(other) as second:
        done = node("workspace_told.mjs", first, second, json.dumps(given), timeout_s=550)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS + CHECKED, done.stdout
