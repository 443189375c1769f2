"""Doubtful places, edits that the server has lost, tabs without locks: Chromium on two replicas."""

import json

import pytest

from tests.judges.programs import front, node
from tests.judges.two_people import Start, two_people

pytestmark = pytest.mark.judge
SCENARIOS = 15


@pytest.mark.timeout(500)
def test_doubtful_places_wait_for_a_decision(own_replica: Start) -> None:
    pages = {
        "places": ("Places", "first\n\nsecond\n\nthird\n\nfourth\n"),
        "files": ("Files", ""),
        "forgotten": ("Forgotten", "first\n"),
    }
    one, other, given = two_people(own_replica, pages)
    with front(one, other) as first, front(other, one) as second:
        done = node("workspace_doubts.mjs", first, second, json.dumps(given), timeout_s=450)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
