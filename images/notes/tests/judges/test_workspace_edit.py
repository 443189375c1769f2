"""The editor in Chromium: two people on two replicas, offline, paste; blocks, tables, files."""

import json
import os

import pytest

from tests.judges.programs import front, node
from tests.judges.test_accessibility import PLAIN
from tests.judges.two_people import Start, two_people
from tests.replica import ADMIN, PASSWORD
from tests.workspace import page, space

pytestmark = pytest.mark.judge
SCENARIOS = 25
BLOCK_SCENARIOS = 33


def pictures() -> list[str]:
    """The folder for pictures of the editor, if one is named."""
    found = os.environ.get("PICTURES")
    return [found] if found else []


@pytest.mark.timeout(900)
def test_two_people_write_at_one_page(own_replica: Start) -> None:
    pages = {"page": ("Shared", "first\n\nlast\n"), "rules": ("Rules", "")}
    one, other, given = two_people(own_replica, pages, ("read", "write", "admin"))
    with front(one) as first, front(other) as second:
        done = node(
            "workspace_edit.mjs", first, second, json.dumps(given), *pictures(), timeout_s=600
        )
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout


@pytest.mark.timeout(900)
def test_blocks_tables_and_pictures(own_replica: Start) -> None:
    replica = own_replica(ORIGIN="", PROTOCOL_HEADER="x-forwarded-proto")
    with replica.client(headers=PLAIN) as client:
        client.set_up()
        home = space(client, name="Team")
        body = {"name": "test", "scopes": ["read", "write"]}
        given = {
            "ada": {"email": ADMIN, "password": PASSWORD},
            "token": client.ok("POST", "/api/v1/tokens", body)["secret"],
            "menu": page(client, home, "Menu", markdown=""),
            "table": page(client, home, "Table", markdown=""),
            "pictures": page(client, home, "Pictures", markdown=""),
        }
    with front(replica) as base:
        done = node("workspace_blocks.mjs", base, json.dumps(given), timeout_s=600)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == BLOCK_SCENARIOS, done.stdout
