"""A person types in Chromium while somebody else writes at the same page without a pause."""

import json
from collections.abc import Callable

import pytest

from tests.judges.programs import front, node
from tests.judges.test_accessibility import PLAIN
from tests.replica import ADMIN, PASSWORD, Replica
from tests.workspace import page, space

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
LINES = "\n\n".join(f"line {at}:" for at in range(16)) + "\n"
SCENARIOS = 2


@pytest.mark.timeout(600)
def test_what_is_typed_stands_where_its_person_clicked(own_replica: Start) -> None:
    replica = own_replica(ORIGIN="", PROTOCOL_HEADER="x-forwarded-proto")
    with replica.client(headers=PLAIN) as client:
        client.set_up()
        body = {"name": "test", "scopes": ["read", "write"]}
        given = {
            "ada": {"email": ADMIN, "password": PASSWORD},
            "token": client.ok("POST", "/api/v1/tokens", body)["secret"],
            "writing": page(client, space(client, name="Team"), "Writing", markdown=LINES),
        }
    with front(replica, replica) as first:
        done = node("workspace_caret.mjs", first, first, json.dumps(given), timeout_s=500)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
