"""Uses the screens around a page in Chromium: share links, history, trash."""

import json
from collections.abc import Callable

import pytest

from tests.judges.programs import front, node
from tests.judges.test_accessibility import PLAIN
from tests.replica import ADMIN, PASSWORD, Replica
from tests.workspace import grant, page, space

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
SCENARIOS = 26
#: Five screens in six looks, the visits of a link, a difference, and the history offline.
CHECKED = 33


@pytest.mark.timeout(600)
def test_links_history_and_trash_in_a_browser(own_replica: Start) -> None:
    replica = own_replica(ORIGIN="", PROTOCOL_HEADER="x-forwarded-proto")
    with replica.client(headers=PLAIN) as client:
        client.set_up()
        bob = {"email": "bob@example.org", "name": "Bob", "password": PASSWORD}
        client.user_id = client.ok("POST", "/api/v1/users", bob)["id"]  # type: ignore[attr-defined]
        home = space(client, name="Team")
        grant(client, f"/api/v1/spaces/{home}/members", viewer=client)
        body = {"name": "test", "scopes": ["read", "write"]}
        plan = page(client, home, "Plan", markdown="We release on Tuesday.\n")
        changed = {"base_version": 1, "markdown": "We release on Friday.\n"}
        client.ok("PUT", f"/api/v1/nodes/{plan}", changed)
        given = {
            "ada": {"email": ADMIN, "password": PASSWORD},
            "bob": bob,
            "token": client.ok("POST", "/api/v1/tokens", body)["secret"],
            "space": home,
            "plan": plan,
            "notes": page(client, home, "Notes", markdown="A line.\n\n" * 20),
            "old": page(client, home, "Old", markdown="Until last year.\n"),
        }
        with front(replica) as base:
            done = node("workspace_around.mjs", base, base, json.dumps(given), timeout_s=550)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS + CHECKED, done.stdout
