"""Pictures of other sites in Chromium's editor: never loaded, offered to be kept here as files."""

import json

import pytest

from tests.judges.programs import front, node
from tests.judges.two_people import Start, two_people

pytestmark = pytest.mark.judge
SCENARIOS = 16


@pytest.mark.timeout(300)
def test_pictures_of_other_sites_are_offered_for_upload(own_replica: Start) -> None:
    one, other, given = two_people(own_replica, {"home": ("Home", "words\n")})
    with front(one) as first, front(other) as second:
        done = node("workspace_foreign.mjs", first, second, json.dumps(given), timeout_s=250)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
