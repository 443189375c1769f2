"""Tests spaces with domains, and share links."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import psycopg
import pytest
from argon2 import PasswordHasher

from tests.postgres import Postgres
from tests.replica import Client, Replica
from tests.workspace import grant, page, space

Start = Callable[..., Replica]
Person = Callable[[str], Client]


def until(what: Callable[[], bool], timeout_s: float = 5) -> float:
    begun = time.monotonic()
    while not what():
        assert time.monotonic() - begun < timeout_s
        time.sleep(0.02)
    return time.monotonic() - begun


@pytest.mark.quiet
def test_a_domain_is_served_by_every_replica_within_moments(own_replica: Start) -> None:
    first = own_replica()
    second = own_replica(first.database_url)
    with first.client() as admin, second.client(host="team.example.org") as visitor:
        admin.set_up()
        home = space(admin)
        other = page(admin, space(admin), "elsewhere")
        here = page(admin, home, "here")
        ask = "/internal/tls-ask?domain=Team.Example.org."
        assert visitor.get("/api/v1/setup").status_code == 404
        assert visitor.get(ask).status_code == 404
        change = {"domain": "TEAM.example.org.", "site_enabled": True}
        assert admin.ok("PATCH", f"/api/v1/spaces/{home}", change)["domain"] == "team.example.org"
        took = until(lambda: visitor.get(ask).status_code == 200)
        assert took < 2
        visitor.log_in()
        assert [s["id"] for s in visitor.ok("GET", "/api/v1/spaces")] == [home]
        visitor.ok("GET", f"/api/v1/nodes/{here}")
        visitor.problem(404, "GET", f"/api/v1/nodes/{other}")
        visitor.problem(404, "GET", "/api/v1/users")
        admin.ok("PATCH", f"/api/v1/spaces/{home}", {"site_enabled": False})
        until(lambda: visitor.get("/api/v1/spaces").status_code == 404)
        assert visitor.get(ask).status_code == 404


def test_domains_are_checked(admin: Client) -> None:
    home = space(admin)
    for domain in ("not a domain", "localhost", "10.0.0.1", "notes.example.org", "a/b", "[::1]"):
        refused = admin.problem(422, "PATCH", f"/api/v1/spaces/{home}", json={"domain": domain})
        assert refused["errors"][0]["field"] == "domain"
    admin.ok("PATCH", f"/api/v1/spaces/{home}", {"domain": "bücher.example.org"})
    clash = {"domain": "xn--bcher-kva.example.org"}
    admin.problem(409, "PATCH", f"/api/v1/spaces/{space(admin)}", json=clash)
    admin.problem(422, "PATCH", f"/api/v1/spaces/{space(admin)}", json={"site_enabled": True})
    admin.ok("PATCH", f"/api/v1/spaces/{home}", {"domain": ""})
    admin.problem(409, "POST", "/api/v1/spaces", json={"slug": home_slug(admin, home), "name": "x"})


def home_slug(admin: Client, home: str) -> str:
    return str(admin.ok("GET", f"/api/v1/spaces/{home}")["slug"])


def test_a_space_is_renamed_with_its_slug(admin: Client, person: Person) -> None:
    home, other = space(admin), space(admin)
    changed = admin.ok("PATCH", f"/api/v1/spaces/{home}", {"slug": "renamed-1", "name": "Renamed"})
    assert (changed["slug"], changed["name"]) == ("renamed-1", "Renamed")
    taken = admin.problem(409, "PATCH", f"/api/v1/spaces/{other}", json={"slug": "renamed-1"})
    assert taken["errors"][0]["field"] == "slug"
    for slug in ("", "Large", "a--b", "-a", "a\n"):
        admin.problem(422, "PATCH", f"/api/v1/spaces/{other}", json={"slug": slug})
    grant(admin, f"/api/v1/spaces/{home}/members", editor=(writer := person("slug-writer")))
    writer.problem(403, "PATCH", f"/api/v1/spaces/{home}", json={"slug": "renamed-2"})


def test_members_are_listed_by_name_and_can_be_sent_back(admin: Client, person: Person) -> None:
    home, writer, stranger = space(admin), person("member-writer"), person("member-stranger")
    group = admin.ok("POST", "/api/v1/groups", {"name": "Named group"}, 201)["id"]
    path = f"/api/v1/spaces/{home}/members"
    grant(admin, path, editor=writer)
    members = writer.ok("GET", path)
    me = writer.ok("GET", "/api/v1/me")
    assert {"principal": me["id"], "kind": "user", "role": "editor", "name": me["name"]} in members
    listed = [*members, {"principal": group, "kind": "group", "role": "viewer"}]
    back = admin.ok("PUT", path, {"grants": listed})
    assert back == admin.ok("GET", path)
    assert [(one["kind"], one["name"]) for one in back] == [
        ("group", "Named group"),
        *sorted(("user", one["name"]) for one in members),
    ]
    # A name that is sent is not stored.
    spoofed = [{**one, "name": "Somebody"} for one in back]
    assert admin.ok("PUT", path, {"grants": spoofed}) == back
    stranger.problem(404, "GET", path)
    admin.ok("PATCH", f"/api/v1/spaces/{home}", {"public": True})
    stranger.problem(403, "GET", path)


def test_links_show_a_page_and_what_they_include(
    admin: Client, anybody: Client, postgres: Postgres
) -> None:
    home = space(admin)
    top = page(admin, home, "Shared", markdown="open words\n")
    below = page(admin, home, "Below", parent_id=top)
    hidden = page(admin, home, "Hidden", parent_id=top)
    me = admin.ok("GET", "/api/v1/me")["id"]
    grants = [{"principal": me, "kind": "user", "role": "viewer"}]
    admin.ok("PUT", f"/api/v1/nodes/{hidden}/permissions", {"grants": grants})
    share = admin.ok("POST", f"/api/v1/nodes/{top}/shares", {"include_children": True}, 201)
    assert share["url"].startswith("https://notes.example.org/s/")
    path = share["url"].removeprefix("https://notes.example.org")
    shown = anybody.get(path, headers={"referer": "https://from.example/x?secret=1"})
    assert shown.status_code == 200
    assert "open words" in shown.text
    assert anybody.get(f"{path}/p/{below}").status_code == 200
    assert anybody.get(f"{path}/p/{hidden}").status_code == 404
    assert anybody.get(f"/p/{top}").status_code in {303, 401}
    numbers = admin.ok("GET", f"/api/v1/shares/{share['id']}/statistics")
    assert (numbers["views"], numbers["visitors"]) == (2, 1)
    rows = postgres.sql("SELECT visitor, referrer FROM share_views", "main")
    address = anybody.headers["x-forwarded-for"]
    assert all(address.encode() not in bytes(row[0]) for row in rows)  # type: ignore[arg-type]
    assert {row[1] for row in rows} <= {"from.example", None}
    code = admin.get(f"/api/v1/shares/{share['id']}/qr.svg")
    assert code.headers["content-type"] == "image/svg+xml"
    assert b"<path" in code.content
    admin.ok("DELETE", f"/api/v1/shares/{share['id']}")
    assert anybody.get(path).status_code == 404
    assert anybody.get("/s/unknown").status_code == 404


def test_links_expire_and_ask_for_their_password(admin: Client, anybody: Client) -> None:
    made = page(admin, space(admin), "Guarded", markdown="guarded words\n")
    url = f"/api/v1/nodes/{made}/shares"
    gone = {"expires_at": (datetime.now(UTC) - timedelta(minutes=1)).isoformat()}
    expired = admin.ok("POST", url, gone, 201)["url"].removeprefix("https://notes.example.org")
    assert anybody.get(expired).status_code == 410
    admin.problem(422, "POST", url, json={"password": "seven77"})
    share = admin.ok("POST", url, {"password": "open sesame"}, 201)
    path = share["url"].removeprefix("https://notes.example.org")
    asked = anybody.get(path)
    assert asked.status_code == 401
    assert "guarded words" not in asked.text
    assert anybody.post(path, data={"password": "wrong"}).status_code == 403
    forged = anybody.get(path, headers={"cookie": f"share-{share['id']}=0000"})
    assert "guarded words" not in forged.text
    assert anybody.post(path, data={"password": "open sesame"}).status_code == 303
    assert "guarded words" in anybody.get(path).text


def test_a_short_password_of_before_still_opens_its_link(
    replica: Replica, admin: Client, anybody: Client
) -> None:
    made = page(admin, space(admin), "Guarded", markdown="guarded words\n")
    share = admin.ok("POST", f"/api/v1/nodes/{made}/shares", {"password": "open sesame"}, 201)
    with psycopg.connect(replica.database_url, autocommit=True) as conn:
        hashed = PasswordHasher().hash("four")
        conn.execute("UPDATE shares SET password_hash = %s WHERE id = %s", (hashed, share["id"]))
    path = share["url"].removeprefix("https://notes.example.org")
    assert anybody.post(path, data={"password": "four"}).status_code == 303
    assert "guarded words" in anybody.get(path).text
    admin.ok("PATCH", f"/api/v1/shares/{share['id']}", {"include_children": True})
    assert anybody.get(path).status_code == 200


def test_a_link_is_changed_at_its_address(admin: Client, anybody: Client, person: Person) -> None:
    home = space(admin)
    made = page(admin, home, "Changed", markdown="top words\n")
    below = page(admin, home, "Below", parent_id=made)
    share = admin.ok("POST", f"/api/v1/nodes/{made}/shares", {}, 201)
    url = f"/api/v1/shares/{share['id']}"
    path = share["url"].removeprefix("https://notes.example.org")
    assert anybody.get(f"{path}/p/{below}").status_code == 404
    changed = admin.ok("PATCH", url, {"include_children": True, "password": "open sesame"})
    assert changed == {**share, "include_children": True, "has_password": True}
    assert anybody.get(path).status_code == 401
    assert anybody.post(path, data={"password": "open sesame"}).status_code == 303
    assert anybody.get(f"{path}/p/{below}").status_code == 200
    admin.ok("PATCH", url, {"password": "another one"})
    assert anybody.get(path).status_code == 401, "the former password is of no use"
    gone = (datetime.now(UTC) - timedelta(minutes=1)).isoformat()
    assert admin.ok("PATCH", url, {"expires_at": gone})["holds"] is False
    assert anybody.get(path).status_code == 410
    changed = admin.ok("PATCH", url, {"expires_at": None, "password": None})
    assert changed == {**share, "include_children": True}
    assert admin.ok("PATCH", url, {}) == changed
    assert anybody.get(path).status_code == 200
    person("Ann").problem(404, "PATCH", url, json={"password": None})
    for wrong in ({"password": "seven77"}, {"expires_at": "0001-01-01T00:00:00Z"}, {"more": 1}):
        admin.problem(422, "PATCH", url, json=wrong)
    admin.problem(404, "PATCH", f"/api/v1/shares/{uuid4()}", json={})
    entries = admin.ok("GET", f"/api/v1/audit?node_id={made}")
    noted = [one for one in entries if one["action"] == "share.changed"]
    assert noted[-1]["detail"] == {"fields": ["include_children", "password"]}


def test_guesses_at_a_links_password_are_limited(admin: Client, anybody: Client) -> None:
    made = page(admin, space(admin), "Guessed at", markdown="guarded words\n")
    share = admin.ok("POST", f"/api/v1/nodes/{made}/shares", {"password": "open sesame"}, 201)
    path = share["url"].removeprefix("https://notes.example.org")
    assert anybody.post(path, data={"password": "open sesame"}).status_code == 303
    for _ in range(20):
        assert anybody.post(path, data={"password": "wrong"}).status_code == 403
    assert anybody.post(path, data={"password": "open sesame"}).status_code == 429


def test_the_log_does_not_give_links_away(replica: Replica, admin: Client, anybody: Client) -> None:
    made = page(admin, space(admin), "Logged")
    share = admin.ok("POST", f"/api/v1/nodes/{made}/shares", {"include_children": True}, 201)
    path = share["url"].removeprefix("https://notes.example.org")
    for below in ("", f"/p/{made}"):
        assert anybody.get(path + below).status_code == 200
    assert anybody.post(path, data={"password": "x"}).status_code == 403
    assert path.removeprefix("/s/") not in replica.log
    until(lambda: f"/s/…/p/{made}" in replica.log)


def test_files_of_a_shared_page_come_with_it(admin: Client, anybody: Client) -> None:
    made = page(admin, space(admin), "With file")
    answer = admin.post(
        f"/api/v1/nodes/{made}/uploads", files={"file": ("a.txt", b"file words", "text/plain")}
    )
    file = answer.json()["id"]
    share = admin.ok("POST", f"/api/v1/nodes/{made}/shares", {}, 201)
    path = share["url"].removeprefix("https://notes.example.org")
    assert anybody.get(f"{path}/attachments/{file}").content == b"file words"
    for unseen in (file, str(uuid4())):
        assert anybody.get(f"/api/v1/attachments/{unseen}").status_code == 401
