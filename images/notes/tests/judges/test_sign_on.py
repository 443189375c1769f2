"""Tests single sign-on with a real OpenID provider, with the steps of a browser."""

import json
import re
import time
from collections.abc import Callable, Iterator
from typing import LiteralString
from urllib.parse import parse_qs, urlsplit

import httpx
import psycopg
import pytest

from tests.judges.programs import HERE, answers, process
from tests.postgres import Postgres, free_port
from tests.replica import Client, Replica
from tests.workspace import space

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
SECRET = "the client's secret of this test"


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    port = free_port()
    issuer = f"http://127.0.0.1:{port}"
    uris = [f"https://{h}/auth/oidc/callback" for h in ("notes.example.org", "team.example.org")]
    with process(
        "node", str(HERE / "identity_provider.mjs"), str(port), "notes", SECRET, *uris,
        until=answers(f"{issuer}/.well-known/openid-configuration"),
    ):  # fmt: skip
        yield issuer


def configured(provider: str) -> dict[str, str]:
    return {
        "ORIGIN": "https://notes.example.org",
        "OIDC_ISSUER": provider,
        "OIDC_CLIENT_ID": "notes",
        "OIDC_CLIENT_SECRET": SECRET,
        "OIDC_GROUPS_CLAIM": "groups",
        "OIDC_ADMIN_GROUP": "admins",
    }


@pytest.fixture(scope="module")
def single(postgres: Postgres, provider: str) -> Iterator[Replica]:
    with Replica(postgres.database("single"), configured(provider)).running() as replica:
        with replica.client() as client:
            client.set_up()
        yield replica
        assert "Traceback" not in replica.log
        assert SECRET not in replica.log


def sign_on(
    client: Client, person: str, start: str = "/auth/oidc/start?return_to=/settings"
) -> str:
    """Signs on at the provider like a user; returns the address that it redirects to."""
    away = client.get(start).headers["location"]
    with httpx.Client(follow_redirects=False, timeout=20) as browser:
        answer = browser.get(away)
        for _ in range(12):
            if answer.is_redirect:
                url = str(answer.next_request.url) if answer.next_request else ""
                if "/auth/oidc/callback" in url:
                    return url.partition("example.org")[2]
                answer = browser.get(url)
                continue
            action = re.search(r'action="([^"]+)"', answer.text)
            prompt = re.search(r'name="prompt" value="([^"]+)"', answer.text)
            assert action, answer.text
            assert prompt, answer.text
            form = {"prompt": prompt[1], "login": person, "password": "x"}
            answer = browser.post(httpx.URL(str(answer.url)).join(action[1]), data=form)
    raise AssertionError("the provider never came back")


def test_single_sign_on_with_groups_and_administrators(single: Replica) -> None:
    for person, is_admin in (("ada", True), ("bob", False)):
        with single.client() as client:
            back = sign_on(client, person)
            landed = client.get(back)
            assert (landed.status_code, landed.headers["location"]) == (303, "/settings")
            me = client.ok("GET", "/api/v1/me")
            assert me["email"] == f"{person}@id.example"
            assert me["is_admin"] is is_admin
            replayed = client.get(back, headers={"accept": "application/json"})
            assert replayed.status_code == 400
            assert "used before" in replayed.json()["detail"]
            if is_admin:
                names = {g["name"]: g["members"] for g in client.ok("GET", "/api/v1/groups")}
                assert me["id"] in names["admins"]


def test_a_sign_on_belongs_to_its_browser(single: Replica) -> None:
    with single.client() as one, single.client() as other:
        back = sign_on(one, "bob")
        stolen = other.get(back, headers={"accept": "application/json"})
        assert stolen.status_code == 400
        assert "another browser" in stolen.json()["detail"]
        forged = one.get(
            "/auth/oidc/callback?state=forged&code=x", headers={"accept": "application/json"}
        )
        assert forged.status_code == 400
        assert forged.json()["errors"][0]["field"] == "state"


def test_sign_on_from_a_spaces_domain(single: Replica) -> None:
    with single.client() as admin:
        admin.log_in()
        home = space(admin)
        change = {"domain": "team.example.org", "site_enabled": True, "everyone_role": "viewer"}
        admin.ok("PATCH", f"/api/v1/spaces/{home}", change)
    with single.client(host="team.example.org") as client:
        deadline = time.monotonic() + 5
        while client.get("/login").status_code == 404:
            assert time.monotonic() < deadline
        away = client.get("/auth/oidc/start").headers["location"]
        uri = parse_qs(urlsplit(away).query)["redirect_uri"]
        assert uri == ["https://team.example.org/auth/oidc/callback"]
        assert client.get(sign_on(client, "bob")).status_code == 303
        assert client.ok("GET", "/api/v1/me")["email"] == "bob@id.example"


def test_a_sign_on_tells_of_what_its_groups_may_read(own_replica: Start, provider: str) -> None:
    replica = own_replica(**configured(provider))
    with replica.client() as admin, replica.client() as bob:
        admin.set_up().log_in()
        writers, old = (
            admin.ok("POST", "/api/v1/groups", {"name": name, "members": []}, 201)["id"]
            for name in ("writers", "old")
        )
        home = space(admin, name="Home")
        body = {"kind": "group", "role": "editor"}
        for one in (writers, old):
            admin.ok("PUT", f"/api/v1/spaces/{home}/members/{one}", body)
        for _ in range(2):
            assert bob.get(sign_on(bob, "bob")).status_code == 303
        found = bob.ok("GET", "/api/v1/notifications")["notifications"]
        assert [(one["kind"], one["title"], one["times"]) for one in found] == [
            ("access", "Home", 1)
        ]
        assert found[0]["actor_name"] is None
        # From one group to another with the same access: nothing is gained.
        bob.ok("POST", "/api/v1/notifications/read", {"until": found[0]["seq"]})
        with psycopg.connect(replica.database_url, autocommit=True) as conn:
            conn.execute("UPDATE notifications SET at = now() - interval '2 hours'")
            conn.execute("UPDATE group_members SET group_id = %s", (old,))
        assert bob.get(sign_on(bob, "bob")).status_code == 303
        assert bob.ok("GET", "/api/v1/notifications/unread")["unread"] == 0


def people(replica: Replica) -> list[tuple[str, ...]]:
    """Every row that a sign-on writes, without the sessions' times."""
    with psycopg.connect(replica.database_url) as conn:
        statements: list[LiteralString] = [
            "SELECT id::text, email, name, is_admin::text FROM users",
            "SELECT encode(token_hash, 'hex'), user_id::text FROM sessions",
            "SELECT issuer, subject FROM identities",
            "SELECT name FROM groups",
            "SELECT user_id::text, group_id::text FROM group_members",
            "SELECT name, encode(sealed, 'hex') FROM credentials",
        ]
        return [row for one in statements for row in sorted(conn.execute(one).fetchall())]


def test_a_trial_shows_the_account_and_changes_nothing(own_replica: Start, provider: str) -> None:
    replica = own_replica()
    settings = {"issuer": provider, "client_id": "notes", "client_secret": SECRET}
    settings |= {"groups_claim": "groups", "admin_group": "admins"}
    trials = "/api/v1/settings/oidc/trials"
    with replica.client() as admin, replica.client() as other, replica.client() as nobody:
        admin.set_up()
        for name, is_admin in (("Eve", True), ("Bob", False)):
            more = {"name": name, "password": "password of mine", "is_admin": is_admin}
            email = f"{name.lower()}@id.example"
            admin.ok("POST", "/api/v1/users", {"email": email, **more})
        other.log_in("eve@id.example", "password of mine")
        trial = admin.ok("POST", trials, settings, 201)
        assert (trial["state"], trial["result"]) == ("waiting", None)
        admin.problem(409, "POST", f"{trials}/{trial['id']}/use")
        before = people(replica)
        # Nobody else can start it, see it, use it, or bring back its result.
        assert other.get(trial["start"]).status_code == 404
        assert nobody.get(trial["start"]).status_code == 404
        other.problem(404, "GET", f"{trials}/{trial['id']}")
        other.problem(404, "POST", f"{trials}/{trial['id']}/use")
        back = sign_on(admin, "ada", trial["start"])
        assert other.get(back).status_code == 400
        back = sign_on(admin, "ada", trial["start"])
        session = dict(admin.jar)
        landed = admin.get(back)
        assert landed.headers["location"] == f"/w/admin/sign-on?trial={trial['id']}"
        assert admin.jar["__Host-notes"] == session["__Host-notes"]
        assert people(replica) == before
        tried = admin.ok("GET", f"{trials}/{trial['id']}")
        account = tried["result"]["account"]
        assert (tried["state"], account["kind"], account["is_admin"]) == ("done", "new", True)
        assert account["email"] == "ada@id.example"
        assert account["groups"] == ["admins", "writers"]
        assert tried["result"]["claims"]["name"] == "Ada Id"
        assert "nonce" not in tried["result"]["claims"]
        other.problem(404, "GET", f"{trials}/{trial['id']}")
        # An account with the same confirmed address would be adopted; a disabled one refused.
        assert admin.get(sign_on(admin, "bob", trial["start"])).status_code == 303
        account = admin.ok("GET", f"{trials}/{trial['id']}")["result"]["account"]
        assert (account["kind"], account["is_admin"]) == ("adopted", False)
        bob = next(u for u in admin.ok("GET", "/api/v1/users") if u["name"] == "Bob")
        admin.ok("PATCH", f"/api/v1/users/{bob['id']}", {"disabled": True})
        admin.get(sign_on(admin, "bob", trial["start"]))
        account = admin.ok("GET", f"{trials}/{trial['id']}")["result"]["account"]
        assert (account["kind"], account["problem"]) == ("refused", "This account is disabled.")
        assert admin.ok("GET", "/api/v1/settings/oidc")["configured"] is False
        used = admin.ok("POST", f"{trials}/{trial['id']}/use")
        assert (used["configured"], used["issuer"]) == (True, provider)
        assert SECRET not in json.dumps([trial, tried, used])
        admin.problem(404, "GET", f"{trials}/{trial['id']}")
        assert nobody.get(sign_on(nobody, "ada")).status_code == 303
        assert nobody.ok("GET", "/api/v1/me")["email"] == "ada@id.example"
        # The stored secret goes to the stored provider alone.
        kept = {"issuer": provider, "client_id": "notes", "groups_claim": "groups"}
        assert admin.ok("POST", trials, kept, 201)["state"] == "waiting"
        for wrong in ({**kept, "issuer": "https://evil.example"}, {**kept, "client_id": "other"}):
            refused = admin.problem(422, "POST", trials, json=wrong)
            assert refused["errors"][0]["field"] == "client_secret"
            admin.problem(422, "PUT", "/api/v1/settings/oidc", json=wrong)
        actions = [entry["action"] for entry in admin.ok("GET", "/api/v1/audit")]
        made = ["user.groups", "user.changed", "user.signed_on_first"]
        assert actions[:5] == ["oidc.tried", *made, "oidc.set"]
        assert SECRET not in replica.log


def test_a_trial_with_a_wrong_secret_tells_its_owner(own_replica: Start, provider: str) -> None:
    replica = own_replica()
    settings = {"issuer": provider, "client_id": "notes", "client_secret": "a wrong secret"}
    with replica.client() as admin:
        admin.set_up()
        trial = admin.ok("POST", "/api/v1/settings/oidc/trials", settings, 201)
        assert admin.get(sign_on(admin, "ada", trial["start"])).status_code == 303
        path = f"/api/v1/settings/oidc/trials/{trial['id']}"
        failed = admin.ok("GET", path)
        assert (failed["state"], failed["result"]["account"]) == ("failed", None)
        assert "does not accept it" in failed["result"]["problem"]
        admin.problem(409, "POST", f"{path}/use")


def test_a_provider_of_the_environment_is_not_tried(single: Replica, provider: str) -> None:
    with single.client() as admin:
        admin.log_in()
        settings = {"issuer": provider, "client_id": "notes", "client_secret": SECRET}
        admin.problem(409, "POST", "/api/v1/settings/oidc/trials", json=settings)
