"""Sets the look of a space's site in Chromium, and visits the site as anybody may."""

import json
from collections.abc import Callable

import pytest

from tests.judges.programs import front, node
from tests.judges.test_accessibility import PLAIN
from tests.replica import ADMIN, PASSWORD, Replica
from tests.workspace import grant, page, space

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
SCENARIOS = 29
DOMAIN = "handbook.example.org"
TEXT = "# One\n\nWords and a [link](https://a.example/).\n\n# Two\n\nMore.\n\n# Three\n\nMore.\n"


@pytest.mark.timeout(400)
def test_a_site_has_a_look_in_a_browser(own_replica: Start) -> None:
    replica = own_replica(ORIGIN="", PROTOCOL_HEADER="x-forwarded-proto")
    with replica.client(headers=PLAIN) as client:
        client.set_up()
        bob = {"email": "bob@example.org", "name": "Bob", "password": "password of mine"}
        client.user_id = client.ok("POST", "/api/v1/users", bob)["id"]  # type: ignore[attr-defined]
        home = space(client, name="Handbook", description="How we work")
        grant(client, f"/api/v1/spaces/{home}/members", manager=client)
        above = page(client, home, "First days")
        made = page(client, home, "Welcome", parent_id=above, markdown=TEXT)
        for title in ("Holidays", "Writing"):
            page(client, home, title, parent_id=above)
        body = {"domain": DOMAIN, "site_enabled": True, "public": True}
        client.ok("PATCH", f"/api/v1/spaces/{home}", body)
        given = {"ada": {"email": ADMIN, "password": PASSWORD}, "bob": bob}
        given |= {"space": home, "made": made, "domain": DOMAIN}
        with front(replica) as base:
            done = node("workspace_site.mjs", base, json.dumps(given), timeout_s=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
