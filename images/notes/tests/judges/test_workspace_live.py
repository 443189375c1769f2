"""Edits and people at a page in two Chromium browsers on two replicas, without a reload."""

import json
import subprocess
from collections.abc import Callable

import pytest

from tests.judges.programs import front, node
from tests.judges.test_accessibility import PLAIN
from tests.replica import ADMIN, PASSWORD, Replica
from tests.workspace import grant, page, space

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
SCENARIOS = 12


def live(one: Replica, other: Replica, edits: int) -> subprocess.CompletedProcess[str]:
    """Runs the scenarios on two replicas of an empty database."""
    with one.client(headers=PLAIN) as client:
        ada = client.set_up().ok("GET", "/api/v1/me")["id"]
        bob = {"email": "bob@example.org", "name": "Bob", "password": PASSWORD}
        client.user_id = client.ok("POST", "/api/v1/users", bob)["id"]  # type: ignore[attr-defined]
        home = space(client, name="Team")
        grant(client, f"/api/v1/spaces/{home}/members", viewer=client)
        body = {"name": "test", "scopes": ["read", "write", "admin"]}
        token = client.ok("POST", "/api/v1/tokens", body)["secret"]
        given = {
            "ada": {"id": ada, "email": ADMIN, "password": PASSWORD, "token": token},
            "bob": bob,
            "page": page(client, home, "Shared", markdown="a line\n\n" * 50),
            "space": home,
            "edits": edits,
        }
    with front(one) as first, front(other) as second:
        return node("workspace_live.mjs", first, second, json.dumps(given), timeout_s=600)


@pytest.mark.timeout(900)
def test_edits_and_people_appear_on_another_replica(own_replica: Start) -> None:
    env = {"ORIGIN": "", "PROTOCOL_HEADER": "x-forwarded-proto"}
    one = own_replica(**env)
    done = live(one, own_replica(one.database_url, **env), edits=60)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
