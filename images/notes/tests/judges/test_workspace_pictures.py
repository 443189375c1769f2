"""Pictures that are too large to be kept in the browser: Chromium at a replica."""

import json

import pytest

from tests.judges.programs import front, node
from tests.judges.two_people import Start, two_people

pytestmark = pytest.mark.judge
SCENARIOS = 9


@pytest.mark.timeout(180)
def test_a_picture_that_is_not_kept_holds_nothing_up(own_replica: Start) -> None:
    one, other, given = two_people(own_replica, {"album": ("Album", "first\n")})
    with front(one) as first, front(other) as second:
        done = node("workspace_pictures.mjs", first, second, json.dumps(given), timeout_s=150)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
