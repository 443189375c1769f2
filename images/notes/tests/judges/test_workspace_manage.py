"""Uses the settings of a space and of the installation in Chromium: members, site, deletion."""

import json
from collections.abc import Callable

import pytest

from tests.judges.programs import front, node
from tests.judges.test_accessibility import PLAIN
from tests.replica import ADMIN, PASSWORD, Replica
from tests.workspace import page, space

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
SCENARIOS = 20


@pytest.mark.timeout(600)
def test_spaces_and_the_installation_are_managed_in_a_browser(own_replica: Start) -> None:
    replica = own_replica(ORIGIN="", PROTOCOL_HEADER="x-forwarded-proto")
    with replica.client(headers=PLAIN) as client:
        client.set_up()
        bob = {"email": "bob@example.org", "name": "Bob", "password": "password of mine"}
        bob_id = client.ok("POST", "/api/v1/users", bob)["id"]
        client.ok("POST", "/api/v1/groups", {"name": "Writers", "members": [bob_id]})
        ids = {"team": space(client, name="Team"), "gone": space(client, name="Old. (2024)")}
        page(client, ids["gone"], "Lost")
        space(client, slug="taken")
        given = {"ada": {"email": ADMIN, "password": PASSWORD}, "bob": bob, **ids}
        with front(replica) as base:
            done = node("workspace_manage.mjs", base, json.dumps(given), timeout_s=500)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
