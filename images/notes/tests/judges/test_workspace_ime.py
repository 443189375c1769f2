"""Input methods compose letters in Chromium while somebody else writes in the same line."""

import json

import pytest

from tests.judges.programs import front, node
from tests.judges.two_people import Start, two_people

pytestmark = pytest.mark.judge
METHODS = ("chinese", "japanese", "korean", "german")
SCENARIOS = 2 * len(METHODS) + 4


@pytest.mark.timeout(600)
def test_what_is_composed_survives_the_edits_of_others(own_replica: Start) -> None:
    names = (*METHODS, "android", "waiting")
    one, other, given = two_people(own_replica, {name: (name, "one two\n") for name in names})
    with front(one) as first, front(other) as second:
        done = node("workspace_ime.mjs", first, second, json.dumps(given), timeout_s=550)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
