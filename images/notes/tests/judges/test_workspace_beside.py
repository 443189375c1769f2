"""Uses comments, permissions and moving of a page in Chromium, on two replicas."""

import json
from collections.abc import Callable

import pytest

from tests.judges.programs import front, node
from tests.judges.test_accessibility import PLAIN
from tests.judges.two_people import two_people
from tests.replica import PASSWORD, Replica
from tests.workspace import space

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
SCENARIOS = 54
#: The panel, its form and two dialogs in six looks.
CHECKED = 24
PAGES = {
    "plan": ("Plan", "We release on Tuesday.\n\nThe kitchen is cleaned on Tuesday, too.\n"),
    "notes": ("Notes", "A line.\n\n" * 20),
    "board": ("Board", "Only for some.\n"),
    "readme": ("Read me first", "Read me before you start.\n\nWe meet every day.\n"),
}


@pytest.mark.timeout(900)
def test_comments_permissions_and_moving_on_two_replicas(own_replica: Start) -> None:
    one, other, given = two_people(own_replica, PAGES)
    with one.client(headers=PLAIN) as client:
        client.log_in()
        carl = {"email": "carl@example.org", "name": "Carl", "password": PASSWORD}
        reader = client.ok("POST", "/api/v1/users", carl)["id"]
        client.ok("POST", "/api/v1/users", {"email": "dora@example.org", "name": "Dora"})
        home = client.ok("GET", "/api/v1/spaces")[0]["id"]
        members = f"/api/v1/spaces/{home}/members"
        grants = client.ok("GET", members)
        grants.append({"principal": reader, "kind": "user", "role": "viewer"})
        client.ok("PUT", members, {"grants": grants})
        more = {"carl": carl, "home": home, "archive": space(client, name="Archive")}
    with front(one) as first, front(other) as second:
        texts = json.dumps(given | more)
        done = node("workspace_beside.mjs", first, second, texts, timeout_s=850)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS + CHECKED, done.stdout
