"""Uses the workspace in Chromium: reading, palette, live update, offline, sign-out, axe-core."""

import json
from collections.abc import Callable

import pytest

from tests.judges.programs import front, node
from tests.judges.screen_world import TEXT, furnish
from tests.judges.screens import WORKSPACE
from tests.judges.test_accessibility import PLAIN
from tests.replica import ADMIN, PASSWORD, Replica
from tests.workspace import page, space

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
SCENARIOS = 17
#: Screens that axe checks in light, and in dark with another language.
WIDE = sum(not screen.is_narrow for screen in WORKSPACE)


@pytest.mark.timeout(900)
def test_the_workspace_in_a_browser(own_replica: Start) -> None:
    replica = own_replica(ORIGIN="", PROTOCOL_HEADER="x-forwarded-proto")
    with replica.client(headers=PLAIN) as client:
        client.set_up()
        home = space(client, name="Team")
        made = page(client, home, "Page", markdown=TEXT)
        ids = {
            "space": home,
            "page": made,
            "below": page(client, home, "Below", parent_id=made, markdown=f"[up](/p/{made})\n"),
            "unread": page(client, home, "Unread", markdown="never opened\n"),
        }
        world = furnish(client)
        screens = [screen.at(world) for screen in WORKSPACE]
        with front(replica) as base:
            person = json.dumps({"email": ADMIN, "password": PASSWORD})
            given = json.dumps({**ids, "screens": screens})
            done = node("workspace.mjs", base, person, given, timeout_s=800)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS + 2 * WIDE, done.stdout
