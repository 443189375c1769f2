"""Uses the workspace in Chromium as two people: lost rights, ends of sign-ins, late answers."""

import json
from collections.abc import Callable

import pytest

from tests.judges.programs import front, node
from tests.judges.test_accessibility import PLAIN
from tests.replica import ADMIN, PASSWORD, Replica
from tests.uploads import attach
from tests.workspace import grant, page, space

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
SCENARIOS = 31
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c63f8ffff3f0005fe02fea7359981"
    "0000000049454e44ae426082"
)


@pytest.mark.timeout(900)
def test_nobody_sees_or_keeps_the_data_of_another_person(own_replica: Start) -> None:
    replica = own_replica(ORIGIN="", PROTOCOL_HEADER="x-forwarded-proto")
    with replica.client(headers=PLAIN) as client:
        ada = client.set_up().ok("GET", "/api/v1/me")["id"]
        bob = {"email": "bob@example.org", "name": "Bob", "password": "password of mine"}
        client.user_id = client.ok("POST", "/api/v1/users", bob)["id"]  # type: ignore[attr-defined]
        shared, lent, own = (space(client, name=name) for name in ("Team", "Lending", "Own"))
        for one in (shared, lent):
            grant(client, f"/api/v1/spaces/{one}/members", viewer=client)
        secret = page(client, own, "Secret", markdown="x\n")
        made = attach(client, secret, "a.png", PIXEL, "image/png")["id"]
        text = f"secret text\n\n![a](/api/v1/attachments/{made})\n"
        client.ok("PUT", f"/api/v1/nodes/{secret}", {"base_version": 1, "markdown": text})
        body = {"name": "test", "scopes": ["read", "write", "admin"]}
        token = client.ok("POST", "/api/v1/tokens", body)["secret"]
        given = {
            "ada": {"email": ADMIN, "password": PASSWORD, "token": token},
            "bob": bob,
            "ids": {
                "ada": ada,
                "bob": client.user_id,  # type: ignore[attr-defined]
                "lentSpace": lent,
                "secret": secret,
                "shared": page(client, shared, "Shared", markdown="shared text\n"),
                "lent": page(client, lent, "Lent", markdown="lent text\n"),
            },
        }
        with front(replica) as base:
            done = node("workspace_people.mjs", base, json.dumps(given), timeout_s=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
