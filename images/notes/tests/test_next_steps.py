"""Tests the steps after the setup: done is what is there; the demo space is made once."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.postgres import Postgres
from tests.replica import Client, Replica
from tests.workspace import space
from tests.zips import finished

Start = Callable[..., Replica]
Person = Callable[[str], Client]
URL = "/api/v1/next-steps"
NONE = {"people": False, "space": False, "sign_on": False, "archive": False, "demo_space": None}


def steps(client: Client) -> dict[str, Any]:
    answer: dict[str, Any] = client.ok("GET", URL)
    return answer


def test_a_step_is_done_when_its_result_is_there(own_replica: Start) -> None:
    with own_replica().client() as client:
        assert steps(client.set_up()) == NONE
        invited = client.ok("POST", "/api/v1/invitations", {"email": "bob@example.org"}, 201)
        assert steps(client) == {**NONE, "people": True}
        client.ok("DELETE", f"/api/v1/invitations/{invited['id']}")
        assert steps(client) == NONE
        body = {"email": "bob@example.org", "name": "Bob", "password": "password of mine"}
        bob = client.ok("POST", "/api/v1/users", body)
        assert steps(client)["people"] is True
        client.ok("PATCH", f"/api/v1/users/{bob['id']}", {"disabled": True})
        assert steps(client)["people"] is False
        made = client.ok("POST", "/api/v1/demo-space", {"language": "de"}, 201)
        assert steps(client) == {**NONE, "demo_space": made["space_id"]}
        space(client)
        assert steps(client)["space"] is True
        client.ok("DELETE", f"/api/v1/spaces/{made['space_id']}")
        assert steps(client)["demo_space"] is None


def test_sign_on_is_done_when_a_provider_is_set(own_replica: Start) -> None:
    provider = {
        "OIDC_ISSUER": "http://127.0.0.1:9",
        "OIDC_CLIENT_ID": "notes",
        "OIDC_CLIENT_SECRET": "s",
    }
    with own_replica(**provider).client() as client:
        assert steps(client.set_up()) == {**NONE, "sign_on": True}


@pytest.mark.parametrize(("command", "is_done"), [("true", True), ("false", False)])
def test_a_backup_is_seen_when_the_database_archives(
    own_replica: Start, command: str, is_done: bool
) -> None:
    settings = {"archive_mode": "on", "archive_command": command, "wal_level": "replica"}
    with Postgres(16, settings).serving() as server:
        replica = own_replica(server.database("archived"))
        with replica.client() as client:
            client.set_up()
            server.sql("SELECT pg_switch_wal()")
            asked = "SELECT archived_count + failed_count FROM pg_stat_archiver"
            begun = time.monotonic()
            while server.sql(asked) == [(0,)] and time.monotonic() - begun < 20:
                time.sleep(0.1)
            assert steps(client)["archive"] is is_done
        replica.end()


def test_the_demo_space_is_made_once_and_has_its_pages(own_replica: Start) -> None:
    replica = own_replica()
    with replica.client() as client:
        client.set_up()

        def ask(language: str) -> int:
            with replica.client() as other:
                answer = other.log_in().post("/api/v1/demo-space", json={"language": language})
                return answer.status_code

        with ThreadPoolExecutor(2) as pool:
            assert sorted(pool.map(ask, ("en", "de"))) == [201, 409]
        (home,) = client.ok("GET", "/api/v1/spaces")
        assert steps(client)["demo_space"] == home["id"]
        (job,) = client.ok("GET", "/api/v1/jobs")
        assert finished(client, job)["state"] == "done"
        assert len(client.ok("GET", f"/api/v1/spaces/{home['id']}/tree")) == 7


def test_the_steps_are_for_administrators(person: Person, anybody: Client) -> None:
    bob = person("Bob")
    bob.problem(403, "GET", URL)
    bob.problem(403, "POST", "/api/v1/demo-space", json={"language": "en"})
    anybody.problem(401, "GET", URL)
