"""Uses the screens around a page in Chromium: share links, history, trash."""

import json

import pytest

from tests.judges.programs import front, node
from tests.judges.test_accessibility import PLAIN
from tests.judges.two_people import Start, team
from tests.workspace import page

pytestmark = pytest.mark.judge
SCENARIOS = 26
#: Five screens in six looks, the visits of a link, a difference, and the history offline.
CHECKED = 33


@pytest.mark.timeout(600)
def test_links_history_and_trash_in_a_browser(own_replica: Start) -> None:
    replica = own_replica(ORIGIN="", PROTOCOL_HEADER="x-forwarded-proto")
    with replica.client(headers=PLAIN) as client:
        home, people = team(client, "viewer")
        plan = page(client, home, "Plan", markdown="We release on Tuesday.\n")
        changed = {"base_version": 1, "markdown": "We release on Friday.\n"}
        client.ok("PUT", f"/api/v1/nodes/{plan}", changed)
        given = {
            **people,
            "space": home,
            "plan": plan,
            "notes": page(client, home, "Notes", markdown="A line.\n\n" * 20),
            "old": page(client, home, "Old", markdown="Until last year.\n"),
        }
        with front(replica) as base:
            done = node("workspace_around.mjs", base, base, json.dumps(given), timeout_s=550)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS + CHECKED, done.stdout
