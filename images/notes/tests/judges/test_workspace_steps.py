"""Uses the first steps, and what an administrator sets, in Chromium."""

import json
from collections.abc import Callable

import pytest

from tests.judges.programs import front, node
from tests.judges.test_accessibility import PLAIN
from tests.replica import ADMIN, PASSWORD, Replica
from tests.workspace import grant, page, space

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
SCENARIOS = 21
#: Four screens in four looks, and a question.
CHECKED = 17


@pytest.mark.timeout(600)
def test_the_first_steps_and_an_administrators_settings_in_a_browser(own_replica: Start) -> None:
    replica = own_replica(ORIGIN="", PROTOCOL_HEADER="x-forwarded-proto")
    with replica.client(headers=PLAIN) as client:
        client.set_up()
        bob = {"email": "bob@example.org", "name": "Bob", "password": PASSWORD}
        client.user_id = client.ok("POST", "/api/v1/users", bob)["id"]  # type: ignore[attr-defined]
        home = space(client, name="Team")
        grant(client, f"/api/v1/spaces/{home}/members", editor=client)
        made = page(client, home, "Plan")
        page(client, home, "Other")
        client.ok("PUT", f"/api/v1/nodes/{made}", {"base_version": 1, "markdown": "Later.\n"})
        body = {"name": "test", "scopes": ["read", "write", "admin"]}
        given = {
            "ada": {"email": ADMIN, "password": PASSWORD},
            "bob": bob,
            "token": client.ok("POST", "/api/v1/tokens", body)["secret"],
            "page": made,
        }
        with front(replica) as base:
            done = node("workspace_steps.mjs", base, base, json.dumps(given), timeout_s=550)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS + CHECKED, done.stdout
