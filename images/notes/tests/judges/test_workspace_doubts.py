"""Two people who change the same place, and two tabs without locks, in Chromium on two replicas."""

import json

import pytest

from tests.judges.programs import front, node
from tests.judges.two_people import Start, two_people

pytestmark = pytest.mark.judge
SCENARIOS = 13


@pytest.mark.timeout(400)
def test_doubtful_places_wait_for_a_decision(own_replica: Start) -> None:
    pages = {"places": ("Places", "first\n\nsecond\n\nthird\n\nfourth\n"), "files": ("Files", "")}
    one, other, given = two_people(own_replica, pages)
    with front(one, other) as first, front(other, one) as second:
        done = node("workspace_doubts.mjs", first, second, json.dumps(given), timeout_s=350)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
