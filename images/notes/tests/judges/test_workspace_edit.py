"""The editor in Chromium: two people on two replicas, offline, paste; blocks, tables, files."""

import json
import os
from collections.abc import Callable

import pytest

from tests.judges.programs import front, node
from tests.judges.test_accessibility import PLAIN
from tests.replica import ADMIN, PASSWORD, Replica
from tests.workspace import grant, page, space

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
SCENARIOS = 23
BLOCK_SCENARIOS = 33


def pictures() -> list[str]:
    """The folder for pictures of the editor, if one is named."""
    found = os.environ.get("PICTURES")
    return [found] if found else []


@pytest.mark.timeout(900)
def test_two_people_write_at_one_page(own_replica: Start) -> None:
    env = {"ORIGIN": "", "PROTOCOL_HEADER": "x-forwarded-proto"}
    one = own_replica(**env)
    other = own_replica(one.database_url, **env)
    with one.client(headers=PLAIN) as client:
        client.set_up()
        bob = {"email": "bob@example.org", "name": "Bob", "password": PASSWORD}
        client.user_id = client.ok("POST", "/api/v1/users", bob)["id"]  # type: ignore[attr-defined]
        home = space(client, name="Team")
        grant(client, f"/api/v1/spaces/{home}/members", editor=client)
        body = {"name": "test", "scopes": ["read", "write", "admin"]}
        given = {
            "ada": {"email": ADMIN, "password": PASSWORD},
            "bob": bob,
            "token": client.ok("POST", "/api/v1/tokens", body)["secret"],
            "page": page(client, home, "Shared", markdown="first\n\nlast\n"),
            "rules": page(client, home, "Rules", markdown=""),
        }
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
