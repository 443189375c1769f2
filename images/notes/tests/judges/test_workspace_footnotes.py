"""Makes footnotes in Chromium's editor: by menu, key and palette, alone and together."""

import json

import pytest

from tests.judges.programs import front, node
from tests.judges.two_people import Start, two_people

pytestmark = pytest.mark.judge
SCENARIOS = 18


@pytest.mark.timeout(300)
def test_footnotes_are_made_in_the_editor(own_replica: Start) -> None:
    pages = {
        "notes": ("Notes", "words\n"),
        "both": ("Both", "one\n\ntwo\n"),
        "odd": ("Odd", "cut [^old]\n\n```\ncode\n```\n\n[^old]: other\n"),
    }
    one, other, given = two_people(own_replica, pages)
    with front(one) as first, front(other) as second:
        done = node("workspace_footnotes.mjs", first, second, json.dumps(given), timeout_s=250)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
