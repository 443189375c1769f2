"""Pages are dragged in the tree, in Chromium; changes are seen before the server has done them."""

import json

import pytest

from tests.judges.programs import front, node
from tests.judges.two_people import Start, two_people

pytestmark = pytest.mark.judge
PAGES = ("Apple", "Banana", "Cherry", "Date")
RULES = 30


@pytest.mark.timeout(300)
def test_pages_are_dragged_and_changes_are_seen_at_once(own_replica: Start) -> None:
    one, other, given = two_people(own_replica, {name: (name, "text\n") for name in PAGES})
    with front(one) as first, front(other) as second:
        done = node("workspace_tree.mjs", first, second, json.dumps(given), timeout_s=250)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == RULES, done.stdout
