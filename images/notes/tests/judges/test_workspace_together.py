"""Two people at one page in Chromium, on two replicas: carets, uploads, sign-out, places."""

import json

import pytest

from tests.judges.programs import front, node
from tests.judges.two_people import Start, two_people

pytestmark = pytest.mark.judge
SCENARIOS = 31


@pytest.mark.timeout(900)
def test_two_people_see_each_other_and_lose_nothing(own_replica: Start) -> None:
    pages = {
        "carets": ("Carets", "first\n\nlast\n"),
        "leave": ("Leave", "start\n"),
        "files": ("Files", ""),
    }
    one, other, given = two_people(own_replica, pages)
    with front(one, other) as first, front(other, one) as second:
        done = node("workspace_together.mjs", first, second, json.dumps(given), timeout_s=600)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
