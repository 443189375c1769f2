"""Uses the account and the administration in Chromium: tokens, people, invitations, groups."""

import json
from collections.abc import Callable

import pytest

from tests.judges.programs import front, node
from tests.judges.test_accessibility import PLAIN
from tests.replica import ADMIN, PASSWORD, Replica
from tests.workspace import page, space

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
SCENARIOS = 51
#: More entries of the audit log than one answer has.
PAGES = 60


@pytest.mark.timeout(600)
def test_the_account_and_the_administration_in_a_browser(own_replica: Start) -> None:
    replica = own_replica(ORIGIN="", PROTOCOL_HEADER="x-forwarded-proto")
    with replica.client(headers=PLAIN) as client:
        client.set_up()
        bob = {"email": "bob@example.org", "name": "Bob", "password": "password of mine"}
        client.ok("POST", "/api/v1/users", bob)
        home = space(client, name="Team")
        for number in range(PAGES):
            page(client, home, f"Page {number}")
        space(client, name="Lab")
        del bob["name"]
        given = {"ada": {"email": ADMIN, "password": PASSWORD}, "bob": bob}
        with front(replica) as base:
            done = node("workspace_admin.mjs", base, json.dumps(given), timeout_s=500)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
