"""The editor of a large page in Chromium: what it draws, stores, copies and prints."""

import json

import pytest

from tests.judges.programs import front, node
from tests.judges.two_people import Start, two_people

pytestmark = pytest.mark.judge
SCENARIOS = 21


@pytest.mark.timeout(900)
def test_a_large_page_is_edited_like_a_small_one(own_replica: Start) -> None:
    one, other, given = two_people(own_replica, {"page": ("Large", "")})
    with front(one) as first, front(other) as second:
        done = node("workspace_large.mjs", first, second, json.dumps(given), timeout_s=600)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
