"""Begins to edit stored pages without a network in Chromium: rebased on return, listed if gone."""

import json

import pytest

from tests.judges.programs import front, node
from tests.judges.two_people import Start, two_people

pytestmark = pytest.mark.judge
SCENARIOS = 23


@pytest.mark.timeout(500)
def test_stored_pages_are_edited_without_a_network(own_replica: Start) -> None:
    pages = {
        "plain": ("Plain", "first\n\nmiddle\n\nlast\n"),
        "edited": ("Edited", "first\n\nlast\n"),
        "gone": ("Gone", "words\n"),
        "other": ("Other", "words\n"),
        "old": ("Old", "words\n"),
    }
    one, other, given = two_people(own_replica, pages)
    with front(one) as first, front(other) as second:
        done = node("workspace_stored.mjs", first, second, json.dumps(given), timeout_s=450)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
