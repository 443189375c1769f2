"""Finds pages in one space, and people, in Chromium."""

import json
from collections.abc import Callable

import pytest

from tests.judges.programs import front, node
from tests.judges.test_accessibility import PLAIN
from tests.replica import ADMIN, PASSWORD, Replica
from tests.workspace import grant, page, space

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
SCENARIOS = 27
#: The palette twice, and two screens in four looks.
CHECKED = 10


@pytest.mark.timeout(600)
def test_pages_of_a_space_and_people_are_found_in_a_browser(own_replica: Start) -> None:
    replica = own_replica(ORIGIN="", PROTOCOL_HEADER="x-forwarded-proto")
    with replica.client(headers=PLAIN) as client, replica.client(headers=PLAIN) as carol:
        client.set_up()
        who = {
            name: {"email": f"{name.lower()}@example.org", "name": name, "password": PASSWORD}
            for name in ("Bob", "Carol", "Eve")
        }
        ids = {name: client.ok("POST", "/api/v1/users", one)["id"] for name, one in who.items()}
        team, lab = space(client, name="Team"), space(client, name="Lab")
        client.user_id, carol.user_id = ids["Bob"], ids["Carol"]  # type: ignore[attr-defined]
        grant(client, f"/api/v1/spaces/{team}/members", editor=carol, viewer=client)
        carol.log_in(who["Carol"]["email"])
        page(carol, team, "Of Carol", markdown="Written by her.\n")
        secret = page(carol, team, "Secret of Carol", markdown="For nobody else.\n")
        grant(client, f"/api/v1/nodes/{secret}/permissions", editor=carol)
        body = {"name": "test", "scopes": ["read", "write"]}
        given = {
            "ada": {"email": ADMIN, "password": PASSWORD},
            "bob": who["Bob"],
            "token": client.ok("POST", "/api/v1/tokens", body)["secret"],
            "team": team,
            "lab": lab,
            "page": page(client, team, "Fields", markdown="The harvest of the fields.\n"),
            "other": page(client, lab, "Greenhouse", markdown="The harvest under glass.\n"),
            "carol": ids["Carol"],
            "eve": ids["Eve"],
        }
        with front(replica) as base:
            done = node("workspace_find.mjs", base, base, json.dumps(given), timeout_s=550)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS + CHECKED, done.stdout
