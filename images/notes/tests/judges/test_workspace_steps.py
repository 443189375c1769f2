"""Uses the first steps, and what an administrator sets, in Chromium."""

import json

import pytest

from tests.judges.programs import front, node
from tests.judges.test_accessibility import PLAIN
from tests.judges.two_people import Start, team
from tests.workspace import page

pytestmark = pytest.mark.judge
SCENARIOS = 21
#: Four screens in four looks, and a question.
CHECKED = 17


@pytest.mark.timeout(600)
def test_the_first_steps_and_an_administrators_settings_in_a_browser(own_replica: Start) -> None:
    replica = own_replica(ORIGIN="", PROTOCOL_HEADER="x-forwarded-proto")
    with replica.client(headers=PLAIN) as client:
        home, people = team(client, "editor", ("read", "write", "admin"))
        made = page(client, home, "Plan")
        page(client, home, "Other")
        client.ok("PUT", f"/api/v1/nodes/{made}", {"base_version": 1, "markdown": "Later.\n"})
        given = {
            **people,
            "page": made,
        }
        with front(replica) as base:
            done = node("workspace_steps.mjs", base, base, json.dumps(given), timeout_s=550)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS + CHECKED, done.stdout
