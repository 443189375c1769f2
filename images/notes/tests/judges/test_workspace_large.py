"""The editor of a large page in Chromium: what it draws, stores, copies and prints."""

import json
from collections.abc import Callable

import pytest

from tests.judges.programs import front, node
from tests.judges.test_accessibility import PLAIN
from tests.replica import ADMIN, PASSWORD, Replica
from tests.workspace import grant, page, space

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
SCENARIOS = 13


@pytest.mark.timeout(900)
def test_a_large_page_is_edited_like_a_small_one(own_replica: Start) -> None:
    env = {"ORIGIN": "", "PROTOCOL_HEADER": "x-forwarded-proto"}
    one = own_replica(**env)
    other = own_replica(one.database_url, **env)
    with one.client(headers=PLAIN) as client:
        client.set_up()
        bob = {"email": "bob@example.org", "name": "Bob", "password": PASSWORD}
        client.user_id = client.ok("POST", "/api/v1/users", bob)["id"]  # type: ignore[attr-defined]
        home = space(client, name="Team")
        grant(client, f"/api/v1/spaces/{home}/members", editor=client)
        body = {"name": "test", "scopes": ["read", "write"]}
        given = {
            "ada": {"email": ADMIN, "password": PASSWORD},
            "bob": bob,
            "token": client.ok("POST", "/api/v1/tokens", body)["secret"],
            "page": page(client, home, "Large"),
        }
    with front(one) as first, front(other) as second:
        done = node("workspace_large.mjs", first, second, json.dumps(given), timeout_s=600)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
