"""Comments that others made while a browser heard of nothing: Chromium on two replicas."""

import json

import pytest

from tests.judges.programs import front, node
from tests.judges.two_people import Start, two_people

pytestmark = pytest.mark.judge
SCENARIOS = 16


@pytest.mark.timeout(300)
def test_comments_that_were_made_in_a_gap_are_shown(own_replica: Start) -> None:
    pages = {"plan": ("Plan", "first\n"), "notes": ("Notes", "first\n")}
    one, other, given = two_people(own_replica, pages)
    with front(one) as first, front(other) as second:
        done = node("workspace_gap.mjs", first, second, json.dumps(given), timeout_s=250)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
