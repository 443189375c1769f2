"""Moves blocks by keys in Chromium, links addresses and pages, pastes and copies Markdown."""

import json

import pytest

from tests.judges.programs import front, node
from tests.judges.two_people import Start, two_people

pytestmark = pytest.mark.judge
SCENARIOS = 46


@pytest.mark.timeout(500)
def test_blocks_move_and_addresses_are_links(own_replica: Start) -> None:
    pages = {
        "blocks": ("Blocks", "one\n\ntwo\n\nthree\n"),
        "pasted": ("Pasted", "words\n"),
        "touched": ("Touched", "one\n\ntwo\n\nthree\n\n- item a\n- item b\n"),
        "marks": ("Marks", "words\n\n![old](https://a.example/x.png)\n"),
        "kept": ("Kept", "words\n"),
        "linking": ("Linking", "words\n"),
    }
    one, other, given = two_people(own_replica, pages)
    with front(one) as first, front(other) as second:
        done = node("workspace_typing.mjs", first, second, json.dumps(given), timeout_s=450)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
