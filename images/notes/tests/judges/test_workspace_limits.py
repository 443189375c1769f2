"""Writes at pages that are nearly full in Chromium: told while one types, not refused later."""

import json

import pytest

from tests.judges.programs import front, node
from tests.judges.two_people import Start, two_people

pytestmark = pytest.mark.judge
SCENARIOS = 15


@pytest.mark.timeout(500)
def test_limits_are_told_while_one_types(own_replica: Start) -> None:
    one, other, given = two_people(own_replica, {"home": ("Home", "words\n")})
    with front(one) as first, front(other) as second:
        done = node("workspace_limits.mjs", first, second, json.dumps(given), timeout_s=450)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
