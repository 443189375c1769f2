"""Pastes what is large or odd in Chromium, and has a change refused: the rest is saved."""

import json

import pytest

from tests.judges.programs import front, node
from tests.judges.two_people import Start, two_people

pytestmark = pytest.mark.judge
SCENARIOS = 14


@pytest.mark.timeout(500)
def test_one_refused_change_holds_up_nothing_else(own_replica: Start) -> None:
    one, other, given = two_people(own_replica, {"home": ("Home", "words\n")})
    with front(one) as first, front(other) as second:
        done = node("workspace_refused.mjs", first, second, json.dumps(given), timeout_s=450)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
