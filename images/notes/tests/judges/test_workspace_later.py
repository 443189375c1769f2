"""Writes comments in Chromium without a network: what is kept, shown, sent later, and refused."""

import json

import pytest

from tests.judges.programs import front, node
from tests.judges.two_people import Start, two_people

pytestmark = pytest.mark.judge
SCENARIOS = 15


@pytest.mark.timeout(300)
def test_comments_are_written_without_a_network(own_replica: Start) -> None:
    text = "We release on Tuesday.\n\nThe kitchen is cleaned.\n"
    pages = {"plan": ("Plan", text), "notes": ("Notes", "A line.\n")}
    one, other, given = two_people(own_replica, pages, scopes=("read", "write", "admin"))
    with front(one) as first, front(other) as second:
        done = node("workspace_later.mjs", first, second, json.dumps(given), timeout_s=250)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
