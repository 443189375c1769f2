"""Mentions people and reads notifications in Chromium, two people on two replicas."""

import json
from collections.abc import Callable

import pytest

from tests.judges.programs import front, node
from tests.judges.two_people import two_people
from tests.replica import Replica

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
SCENARIOS = 15
#: The list of people in a text and in a comment, and the notifications, in three looks.
CHECKED = 9
PAGES = {"plan": ("Plan", "We release on Tuesday.\n"), "notes": ("Notes", "A line.\n")}


@pytest.mark.timeout(600)
def test_mentions_and_notifications_on_two_replicas(own_replica: Start) -> None:
    one, other, given = two_people(own_replica, PAGES)
    with front(one) as first, front(other) as second:
        done = node("workspace_told.mjs", first, second, json.dumps(given), timeout_s=550)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS + CHECKED, done.stdout
