"""Tests single sign-on with a real OpenID provider, with the steps of a browser."""

import re
import time
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.judges.programs import HERE, answers, process
from tests.postgres import Postgres, free_port
from tests.replica import Client, Replica
from tests.workspace import space

pytestmark = pytest.mark.judge
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


@pytest.fixture(scope="module")
def single(postgres: Postgres, provider: str) -> Iterator[Replica]:
    env = {
        "ORIGIN": "https://notes.example.org",
        "OIDC_ISSUER": provider,
        "OIDC_CLIENT_ID": "notes",
        "OIDC_CLIENT_SECRET": SECRET,
        "OIDC_GROUPS_CLAIM": "groups",
        "OIDC_ADMIN_GROUP": "admins",
    }
    with Replica(postgres.database("single"), env).running() as replica:
        with replica.client() as client:
            client.set_up()
        yield replica
        assert "Traceback" not in replica.log
        assert SECRET not in replica.log


def sign_on(client: Client, person: str) -> str:
    """Signs on at the provider like a user; returns the address that it redirects to."""
    away = client.get("/auth/oidc/start?return_to=/settings").headers["location"]
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
