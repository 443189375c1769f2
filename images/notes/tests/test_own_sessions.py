"""Tests the list of one's sessions, and their end."""

from collections.abc import Callable

import pytest

from notes.auth.user_agents import device_of
from tests.replica import Client, Replica

Person = Callable[[str], Client]
OWN = "password of mine"
WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"


@pytest.mark.parametrize(
    ("user_agent", "device"),
    [
        (FIREFOX, ("Firefox", "Linux")),
        (
            f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {WEBKIT} Chrome/142.0 Safari/537.36",
            ("Chrome", "Windows"),
        ),
        (
            f"Mozilla/5.0 (Windows NT 10.0) {WEBKIT} Chrome/142.0 Safari/537.36 Edg/142.0",
            ("Edge", "Windows"),
        ),
        (
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15"
            " (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
            ("Safari", "macOS"),
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15"
            " (KHTML, like Gecko) CriOS/142.0 Mobile/15E148 Safari/604.1",
            ("Chrome", "iPhone"),
        ),
        (
            f"Mozilla/5.0 (Linux; Android 14; K) {WEBKIT} SamsungBrowser/28.0 Chrome/130.0"
            " Mobile Safari/537.36",
            ("Samsung Internet", "Android"),
        ),
        ("curl/8.9", (None, None)),
        ("", (None, None)),
        ("x" * 100_000 + "Firefox/1", (None, None)),
        ("<script>alert(1)</script>", (None, None)),
    ],
)
def test_a_user_agent_has_names(user_agent: str, device: tuple[str | None, str | None]) -> None:
    assert device_of(user_agent) == device


def email_of(client: Client) -> str:
    return str(client.ok("GET", "/api/v1/me")["email"])


def test_sessions_are_listed_and_ended_by_their_user_alone(
    replica: Replica, admin: Client, person: Person
) -> None:
    bob, eve = person("session-bob"), person("session-eve")
    email = email_of(bob)
    with replica.client() as laptop, replica.client() as phone:
        laptop.headers["user-agent"] = FIREFOX
        laptop.log_in(email, OWN)
        phone.headers["user-agent"] = "curl/8.9"
        phone.log_in(email, OWN)
        listed = laptop.ok("GET", "/api/v1/sessions")
        assert [(one["browser"], one["system"]) for one in listed if one["is_current"]] == [
            ("Firefox", "Linux")
        ]
        assert len(listed) == 3
        assert all(one["created_at"] <= one["last_seen_at"] for one in listed)
        assert set(listed[0]) == {
            "id", "browser", "system", "created_at", "last_seen_at", "expires_at", "is_current",
        }  # fmt: skip
        phones = next(o for o in phone.ok("GET", "/api/v1/sessions") if o["is_current"])["id"]
        for other in (eve, admin):
            assert phones not in {one["id"] for one in other.ok("GET", "/api/v1/sessions")}
            other.problem(404, "DELETE", f"/api/v1/sessions/{phones}")
        assert phone.ok("GET", "/api/v1/me")["email"] == email
        assert laptop.delete(f"/api/v1/sessions/{phones}").status_code == 204
        phone.problem(401, "GET", "/api/v1/me")
        laptop.problem(404, "DELETE", f"/api/v1/sessions/{phones}")
        # A token stays, and has no session of its own.
        token = laptop.ok("POST", "/api/v1/tokens", {"name": "T", "scopes": ["read"]}, 201)
        assert laptop.ok("DELETE", "/api/v1/sessions") == {"ended": 1}
        bob.problem(401, "GET", "/api/v1/me")
        assert laptop.ok("DELETE", "/api/v1/sessions") == {"ended": 0}
        with replica.client() as program:
            program.headers["authorization"] = f"Bearer {token['secret']}"
            assert [o["is_current"] for o in program.ok("GET", "/api/v1/sessions")] == [False]
            program.problem(403, "DELETE", "/api/v1/sessions")
    noted = [(e["action"], e["detail"]) for e in admin.ok("GET", "/api/v1/audit?limit=5")]
    assert ("sessions.ended", {"ended": 1}) in noted
    assert ("session.ended", {"browser": None, "system": None}) in noted


def test_a_cookie_without_an_origin_ends_no_session(replica: Replica, person: Person) -> None:
    bob = person("session-origin")
    own = bob.ok("GET", "/api/v1/sessions")[0]["id"]
    with replica.client() as other:
        other.jar.update(bob.jar)
        other.headers["origin"] = "https://evil.example"
        for path in ("/api/v1/sessions", f"/api/v1/sessions/{own}"):
            other.problem(403, "DELETE", path)
    assert [one["id"] for one in bob.ok("GET", "/api/v1/sessions")] == [own]
