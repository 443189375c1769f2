"""Tests the lookup of people whom one knows, and what is shown of one of them."""

from collections.abc import Callable
from typing import Any

from tests.replica import Client, Replica
from tests.test_gained_access import give, group
from tests.test_site_look import site, visitor
from tests.workspace import grant, page, space

Person = Callable[[str], Client]
UNKNOWN = "00000000-0000-4000-8000-000000000000"


def id_of(client: Client) -> str:
    return str(client.ok("GET", "/api/v1/me")["id"])


def found(client: Client, typed: str) -> list[str]:
    answer = client.get("/api/v1/people", params={"q": typed})
    assert answer.status_code == 200, answer.text
    return [one["name"] for one in answer.json()]


def shown(client: Client, one: Client) -> dict[str, Any]:
    answer: dict[str, Any] = client.ok("GET", f"/api/v1/people/{id_of(one)}")
    return answer


def test_one_finds_whom_one_shares_a_space_or_a_group_with(admin: Client, person: Person) -> None:
    bob, eve, kim = person("Bobknown"), person("Eveknown"), person("Kimknown")
    zoe = person("Zoeknown")
    home = space(admin)
    grant(admin, f"/api/v1/spaces/{home}/members", viewer=bob, editor=eve)
    group(admin, bob, kim)
    assert found(bob, "bobk") == ["Bobknown"]
    assert (found(bob, "evek"), found(bob, "kimk"), found(bob, "zoek")) == (
        ["Eveknown"], ["Kimknown"], [],
    )  # fmt: skip
    assert (found(eve, "kimk"), found(zoe, "bobk")) == ([], [])
    # A space that is open to everybody makes nobody known.
    space(admin, everyone_role="editor")
    assert found(zoe, "evek") == []
    assert found(admin, "zoek") == ["Zoeknown"]
    email = zoe.ok("GET", "/api/v1/me")["email"]
    assert found(admin, email[:10]) == ["Zoeknown"]
    assert found(bob, eve.ok("GET", "/api/v1/me")["email"][:14]) == []
    for short in ("e", "%_", " "):
        bob.problem(422, "GET", "/api/v1/people", params={"q": short})
    admin.ok("PATCH", f"/api/v1/users/{id_of(eve)}", {"disabled": True})
    assert found(bob, "evek") == []


def test_an_address_is_for_administrators(admin: Client, person: Person) -> None:
    bob, eve = person("Bobaddress"), person("Eveaddress")
    grant(admin, f"/api/v1/spaces/{space(admin)}/members", viewer=bob, editor=eve)
    assert shown(bob, eve)["email"] is None
    assert bob.ok("GET", "/api/v1/people?q=evea")[0]["email"] is None
    assert shown(admin, eve)["email"] == eve.ok("GET", "/api/v1/me")["email"]


def test_a_person_is_shown_with_what_both_may_see(admin: Client, person: Person) -> None:
    bob, eve = person("Bobshown"), person("Eveshown")
    both, hers, public = space(admin, name="Both"), space(admin, name="Hers"), space(admin)
    grant(admin, f"/api/v1/spaces/{both}/members", viewer=bob, editor=eve)
    grant(admin, f"/api/v1/spaces/{hers}/members", editor=eve)
    grant(admin, f"/api/v1/spaces/{public}/members", editor=eve)
    admin.ok("PATCH", f"/api/v1/spaces/{public}", {"public": True})
    open_, closed = page(eve, both, "Open"), page(eve, both, "Closed")
    page(eve, hers, "Of hers")
    page(eve, public, "Of the public")
    page(admin, both, "Of somebody else")
    trashed = page(eve, both, "Trashed")
    eve.ok("DELETE", f"/api/v1/nodes/{trashed}")
    grant(admin, f"/api/v1/nodes/{closed}/permissions", editor=eve)
    seen = shown(bob, eve)
    assert seen["name"] == "Eveshown"
    assert [one["name"] for one in seen["spaces"]] == ["Both"]
    assert [(one["id"], one["title"]) for one in seen["pages"]] == [(open_, "Open")]
    titles = {one["title"] for one in shown(admin, eve)["pages"]}
    assert titles == {"Open", "Closed", "Of hers", "Of the public"}
    # Of a page that somebody else has changed since, it is not the last change.
    admin.ok("PUT", f"/api/v1/nodes/{open_}", {"base_version": 1, "markdown": "later\n"})
    assert shown(bob, eve)["pages"] == []
    assert [one["name"] for one in shown(eve, eve)["spaces"]] == [
        "A space", "Both", "Hers",
    ]  # fmt: skip


def test_a_group_of_strangers_shows_no_member_of_a_space(admin: Client, person: Person) -> None:
    """Eve is in a space through a group; Bob knows her from elsewhere, but not that group."""
    bob, eve = person("Bobgroup"), person("Evegroup")
    grant(
        admin, f"/api/v1/spaces/{space(admin, name='Known from')}/members", viewer=bob, editor=eve
    )
    home = space(admin, name="Through a group", everyone_role="viewer")
    give(admin, f"/api/v1/spaces/{home}/members", group(admin, eve))
    assert [one["name"] for one in shown(bob, eve)["spaces"]] == ["Known from"]
    assert {one["name"] for one in shown(admin, eve)["spaces"]} == {"Known from", "Through a group"}


def test_a_stranger_is_as_one_who_does_not_exist(
    replica: Replica, admin: Client, person: Person, anybody: Client
) -> None:
    bob, zoe = person("Bobstranger"), person("Zoestranger")
    unknown = bob.problem(404, "GET", f"/api/v1/people/{UNKNOWN}")
    hidden = bob.problem(404, "GET", f"/api/v1/people/{id_of(zoe)}")
    assert (unknown["title"], unknown["detail"]) == (hidden["title"], hidden["detail"])
    anybody.problem(401, "GET", "/api/v1/people?q=zoes")
    anybody.problem(401, "GET", f"/api/v1/people/{id_of(zoe)}")
    domain = "persons.example.org"
    site(admin, domain)
    with visitor(replica, domain) as there:
        there.log_in(bob.ok("GET", "/api/v1/me")["email"], "password of mine")
        for path in ("/api/v1/people?q=bobs", f"/api/v1/people/{id_of(bob)}"):
            assert there.get(path).status_code == 404, "it is a part of the main site"
            assert bob.get(path).status_code == 200
