"""Uses the settings of a space and of the installation in Chromium: members, domains, sign-on."""

import json
from collections.abc import Callable

import pytest

from tests.judges.programs import HERE, answers, front, node, process
from tests.judges.test_accessibility import PLAIN
from tests.postgres import free_port
from tests.replica import ADMIN, PASSWORD, Replica
from tests.workspace import page, space

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
SCENARIOS = 38
SECRET = "the client's secret of this test"


@pytest.mark.timeout(600)
def test_spaces_and_the_installation_are_managed_in_a_browser(own_replica: Start) -> None:
    replica = own_replica(ORIGIN="", PROTOCOL_HEADER="x-forwarded-proto")
    with replica.client(headers=PLAIN) as client:
        client.set_up()
        bob = {"email": "bob@example.org", "name": "Bob", "password": "password of mine"}
        bob_id = client.ok("POST", "/api/v1/users", bob)["id"]
        client.ok("POST", "/api/v1/groups", {"name": "Writers", "members": [bob_id]})
        ids = {"team": space(client, name="Team"), "gone": space(client, name="Old. (2024)")}
        page(client, ids["gone"], "Lost")
        space(client, slug="taken")
        port = free_port()
        issuer = f"http://127.0.0.1:{port}"
        given = {"ada": {"email": ADMIN, "password": PASSWORD}, "bob": bob, **ids}
        given |= {"issuer": issuer, "secret": SECRET}
        with (
            front(replica) as base,
            process(
                "node", str(HERE / "identity_provider.mjs"), str(port), "notes", SECRET,
                f"{base}/auth/oidc/callback",
                until=answers(f"{issuer}/.well-known/openid-configuration"),
            ),
        ):  # fmt: skip
            done = node("workspace_manage.mjs", base, json.dumps(given), timeout_s=500)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("holds: ") == SCENARIOS, done.stdout
    assert SECRET not in replica.log
