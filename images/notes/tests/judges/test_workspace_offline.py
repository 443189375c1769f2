"""Makes pages without a network in Chromium: sent on return, or listed if they are refused."""

import json

import pytest

from tests.judges.programs import front, node
from tests.judges.two_people import Start, two_people

pytestmark = pytest.mark.judge
SCENARIOS = 35


@pytest.mark.timeout(500)
def test_pages_are_made_without_a_network(own_replica: Start) -> None:
    pages = {"home": ("Home", "words\n"), "model": ("Model", "agenda\n")}
    one, other, given = two_people(own_replica, pages)
    with front(one) as first, front(other) as second:
        done = node("workspace_offline.mjs", first, second, json.dumps(given), timeout_s=450)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
