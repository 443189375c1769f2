"""Blocks are dragged by their handle in Chromium."""

import json

import pytest

from tests.judges.programs import front, node
from tests.judges.two_people import Start, two_people

pytestmark = pytest.mark.judge
TEXT = "one\n\ntwo\n\nthree\n\n- item\n- second\n"
RULES = 8


@pytest.mark.timeout(300)
def test_blocks_are_dragged(own_replica: Start) -> None:
    one, other, given = two_people(own_replica, {"blocks": ("Blocks", TEXT)})
    with front(one) as first, front(other) as second:
        done = node("workspace_drag.mjs", first, second, json.dumps(given), timeout_s=250)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == RULES, done.stdout
