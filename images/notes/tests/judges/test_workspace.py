"""Uses the workspace in Chromium: reading, palette, live update, offline, sign-out, axe-core."""

import json
from collections.abc import Callable

import pytest

from tests.judges.programs import front, node
from tests.judges.test_accessibility import PLAIN, TEXT
from tests.replica import Replica
from tests.workspace import page, space

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
SCENARIOS = 31


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
        with front(replica) as base:
            done = node("workspace.mjs", base, client.jar["notes"], json.dumps(ids), timeout_s=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
