"""Tests access: pages and those below, what the public sees, and share links."""

import io
import time
import zipfile
from collections.abc import Callable

import pytest

from tests.postgres import Postgres
from tests.replica import Client, Replica
from tests.test_events import Stream
from tests.uploads import attach
from tests.workspace import grant, page, space

Way = Callable[[Client, Client, str, str], None]
Person = Callable[[str], Client]
Start = Callable[..., Replica]


def path_of(share: dict[str, str]) -> str:
    return share["url"].removeprefix("https://notes.example.org")


def test_a_page_takes_no_hidden_one_along(admin: Client, person: Person) -> None:
    bob = person("Bob")
    home, his = space(admin), space(bob)
    grant(admin, f"/api/v1/spaces/{home}/members", editor=bob)
    top = page(admin, home, "Top")
    hidden = page(admin, home, "Hidden", parent_id=top, markdown="a secret\n")
    grant(admin, f"/api/v1/nodes/{hidden}/permissions")
    url = f"/api/v1/nodes/{top}"
    refused = bob.problem(403, "POST", f"{url}/move", json={"space_id": his})
    assert "every page below" in refused["detail"]
    bob.problem(403, "DELETE", url)
    bob.problem(404, "GET", f"/api/v1/nodes/{hidden}")
    admin.ok("DELETE", url)
    bob.problem(403, "POST", f"{url}/restore")
    bob.problem(403, "DELETE", f"{url}?forever=true")
    admin.ok("POST", f"{url}/restore")
    # A page may move among its siblings, whatever pages are below it.
    other = page(admin, home, "Other")
    bob.ok("POST", f"{url}/move", {"after_id": other})
    # A user may move a page if they may edit it and all below it.
    bob.ok("POST", f"/api/v1/nodes/{other}/move", {"space_id": his})


def test_an_editor_lifts_no_restriction_by_moving(admin: Client, person: Person) -> None:
    bob, eve = person("Bob"), person("Eve")
    home, his = space(admin), space(bob)
    grant(admin, f"/api/v1/spaces/{home}/members", editor=bob, viewer=eve)
    top = page(admin, home, "Board")
    inside = page(admin, home, "Inside", parent_id=top)
    grant(admin, f"/api/v1/nodes/{top}/permissions", editor=bob)
    for body in ({}, {"space_id": his}):
        bob.problem(403, "POST", f"/api/v1/nodes/{inside}/move", json=body)
        bob.problem(403, "POST", f"/api/v1/nodes/{top}/move", json={"space_id": his})
    eve.problem(404, "GET", f"/api/v1/nodes/{inside}")
    admin.ok("POST", f"/api/v1/nodes/{inside}/move", {})
    eve.ok("GET", f"/api/v1/nodes/{inside}")


def test_the_end_of_a_hidden_page_is_told_to_its_readers_alone(
    admin: Client, person: Person, postgres: Postgres
) -> None:
    bob, eve = person("Bob"), person("Eve")
    home = space(admin)
    grant(admin, f"/api/v1/spaces/{home}/members", viewer=eve)
    hidden = page(admin, home, "Hidden")
    grant(admin, f"/api/v1/nodes/{hidden}/permissions", viewer=bob)
    began = postgres.sql("SELECT epoch FROM event_epochs", "main")[0][0]
    admin.ok("DELETE", f"/api/v1/nodes/{hidden}")
    admin.ok("DELETE", f"/api/v1/nodes/{hidden}?forever=true")
    for one, hears in ((bob, True), (eve, False)):
        headers = {"last-event-id": f"{began}.0.1.0"}
        with one.stream("GET", "/api/v1/events", headers=headers) as response:
            stream = Stream(response)
            time.sleep(1.5)
            told = [e["event"] for e in stream.events if e["data"].get("node_id") == hidden]
            stream.close()
        assert ("page.deleted" in told) is hears, told


def test_the_public_is_not_told_who_works_in_a_space(
    admin: Client, person: Person, anybody: Client
) -> None:
    eve, bob = person("Outsider"), person("Insider")
    home = space(admin)
    grant(admin, f"/api/v1/spaces/{home}/members", viewer=bob)
    admin.ok("PATCH", f"/api/v1/spaces/{home}", {"public": True})
    made = page(admin, home, "Open", markdown="words\n")
    attach(admin, made, "a.txt", b"abc", "text/plain")
    admin.ok("POST", f"/api/v1/nodes/{made}/comments", {"body": "not for the public"})
    me = admin.ok("GET", "/api/v1/me")
    url = f"/api/v1/nodes/{made}"
    for shown in (anybody.get(f"/p/{made}"), eve.get(f"/p/{made}")):
        assert shown.status_code == 200
        assert "not for the public" not in shown.text
        assert me["name"] not in shown.text
    assert "not for the public" in bob.get(f"/p/{made}").text
    assert eve.ok("GET", f"{url}/comments") == []
    for path in (url, f"{url}/revisions", f"{url}/attachments"):
        assert me["id"] not in eve.get(path).text
        assert me["name"] not in eve.get(path).text
        assert me["id"] in bob.get(path).text
    (file,) = bob.ok("GET", f"{url}/attachments")
    assert file["created_by_name"] == me["name"]
    for reader, is_told in ((eve, False), (bob, True)):
        whole = reader.get(f"{url}/export?comments=true&history=true")
        with zipfile.ZipFile(io.BytesIO(whole.content)) as packed:
            texts = b"".join(packed.read(name) for name in packed.namelist())
        assert (b"not for the public" in texts, me["name"].encode() in texts) == (is_told, is_told)
    eve.problem(403, "GET", f"/api/v1/spaces/{home}/members")
    bob.ok("GET", f"/api/v1/spaces/{home}/members")
    with eve.stream("GET", "/api/v1/events") as his, bob.stream("GET", "/api/v1/events") as hers:
        outside, inside = Stream(his), Stream(hers)
        outside.wait("hello")
        inside.wait("hello")
        admin.ok("POST", f"{url}/comments", {"body": "another"})
        admin.ok("PUT", url, {"base_version": 1, "markdown": "new\n"})
        outside.wait("page.saved")
        inside.wait("comment.made")
        assert not [e for e in outside.events if e["event"] == "comment.made"]
        for stream in (outside, inside):
            stream.close()


def _demote(admin: Client, _: Client, home: str, __: str) -> None:
    grant(admin, f"/api/v1/spaces/{home}/members")


def _disable(admin: Client, bob: Client, _: str, __: str) -> None:
    admin.ok("PATCH", f"/api/v1/users/{bob.user_id}", {"disabled": True})  # type: ignore[attr-defined]


def _restrict(admin: Client, bob: Client, _: str, made: str) -> None:
    grant(admin, f"/api/v1/nodes/{made}/permissions", editor=bob)


def _restrict_above(admin: Client, _: Client, home: str, made: str) -> None:
    top = page(admin, home, "Top")
    grant(admin, f"/api/v1/nodes/{top}/permissions")
    admin.ok("POST", f"/api/v1/nodes/{made}/move", {"parent_id": top})


def _move(admin: Client, _: Client, __: str, made: str) -> None:
    admin.ok("POST", f"/api/v1/nodes/{made}/move", {"space_id": space(admin)})


def _trash(admin: Client, _: Client, __: str, made: str) -> None:
    admin.ok("DELETE", f"/api/v1/nodes/{made}")


@pytest.mark.parametrize("way", [_demote, _disable, _restrict, _restrict_above, _move, _trash])
def test_a_link_ends_with_its_makers_right(
    admin: Client, person: Person, anybody: Client, way: Way
) -> None:
    bob = person("Bob")
    home = space(admin)
    grant(admin, f"/api/v1/spaces/{home}/members", editor=bob)
    made = page(admin, home, "Shared", markdown="open words\n")
    file = attach(admin, made, "a.txt", b"abc", "text/plain")["id"]
    path = path_of(bob.ok("POST", f"/api/v1/nodes/{made}/shares", {"include_children": True}))
    ways = [path, f"{path}/p/{made}", f"{path}/attachments/{file}"]
    assert [anybody.get(p).status_code for p in ways] == [200] * 3
    way(admin, bob, home, made)
    assert [anybody.get(p).status_code for p in ways] == [404] * 3
    if way is not _trash:
        (listed,) = admin.ok("GET", f"/api/v1/nodes/{made}/shares")
        assert listed["holds"] is False


def test_a_link_made_under_restrictions_holds_under_them(
    admin: Client, person: Person, anybody: Client
) -> None:
    bob = person("Bob")
    home = space(admin)
    made = page(admin, home, "Shared")
    grant(admin, f"/api/v1/nodes/{made}/permissions", editor=bob)
    path = path_of(bob.ok("POST", f"/api/v1/nodes/{made}/shares", {}))
    assert anybody.get(path).status_code == 200
    grant(admin, f"/api/v1/nodes/{made}/permissions", viewer=bob)
    assert anybody.get(path).status_code == 404
