"""Tests who has permissions on a page, with names, and the lookup of people who may get some."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.replica import Client
from tests.workspace import grant, page, space

Person = Callable[[str], Client]


def named(client: Client, made: str, typed: str) -> list[str]:
    found = client.get(f"/api/v1/nodes/{made}/people", params={"q": typed})
    assert found.status_code == 200, found.text
    return [one["name"] for one in found.json()]


def named_person(admin: Client, person: Person, name: str) -> Client:
    """A user whose name is not a part of an e-mail address."""
    made = person("Somebody")
    admin.ok("PATCH", f"/api/v1/users/{made.user_id}", {"name": name})  # type: ignore[attr-defined]
    return made


def roles(found: dict[str, Any], key: str = "grants") -> dict[str, str]:
    return {one["name"]: one["role"] for one in found[key]}


def test_the_permissions_of_a_page_have_names_and_an_origin(admin: Client, person: Person) -> None:
    bob, eve = named_person(admin, person, "Bob Origin"), named_person(admin, person, "Eve Origin")
    home = space(admin, name="Where they are", everyone_role="viewer")
    grant(admin, f"/api/v1/spaces/{home}/members", editor=bob)
    top = page(admin, home, "Top")
    below = page(admin, home, "Below", parent_id=top)
    shown = admin.ok("GET", f"/api/v1/nodes/{below}/access")
    assert (shown["origin"], shown["origin_id"], shown["origin_title"]) == (
        "space", home, "Where they are",
    )  # fmt: skip
    assert (shown["everyone_role"], shown["is_public"]) == ("viewer", False)
    assert roles(shown)["Bob Origin"] == "editor"
    grant(admin, f"/api/v1/nodes/{top}/permissions", manager=bob, commenter=eve)
    for made, origin in ((top, "page"), (below, "above")):
        shown = bob.ok("GET", f"/api/v1/nodes/{made}/access")
        assert (shown["origin"], shown["origin_id"], shown["origin_title"]) == (origin, top, "Top")
        assert roles(shown)["Eve Origin"] == "commenter"
        assert "Bob Origin" not in roles(shown, "managers")
        # E-mail addresses are for administrators.
        assert {one["email"] for one in shown["grants"] + shown["managers"]} == {None}
    shown = admin.ok("GET", f"/api/v1/nodes/{top}/access")
    assert all(one["email"] for one in shown["grants"])
    eve.problem(403, "GET", f"/api/v1/nodes/{top}/access")


def test_the_links_that_other_permissions_would_end_are_counted(admin: Client) -> None:
    """Those of the page and the pages below it that have the same permissions, while they work."""
    home = space(admin)
    top = page(admin, home)
    below, other = (page(admin, home, parent_id=top) for _ in range(2))

    def links(of: str) -> int:
        return int(admin.ok("GET", f"/api/v1/nodes/{of}/access")["links"])

    grant(admin, f"/api/v1/nodes/{other}/permissions")
    for one in (top, below, other):
        admin.ok("POST", f"/api/v1/nodes/{one}/shares", {})
    assert (links(top), links(below), links(other)) == (2, 1, 1)
    admin.ok("DELETE", f"/api/v1/nodes/{below}")
    assert links(top) == 1
    grant(admin, f"/api/v1/nodes/{top}/permissions")
    assert (links(top), links(other)) == (0, 1)


def test_a_manager_finds_only_people_whom_they_know(admin: Client, person: Person) -> None:
    mia, tom, ann, lea, zoe = (
        named_person(admin, person, f"{one} Lookup") for one in ("Mia", "Tom", "Ann", "Lea", "Zoë")
    )
    home, team, other = space(mia), space(admin), space(admin, everyone_role="editor")
    made = page(mia, home)
    assert named(mia, made, "Look") == ["Mia Lookup"]
    # A space for everybody makes nobody known: any user may create one.
    mia.ok("PATCH", f"/api/v1/spaces/{home}", {"everyone_role": "editor"})
    page(tom, other)
    assert named(mia, made, "Look") == ["Mia Lookup"]
    grant(admin, f"/api/v1/spaces/{team}/members", viewer=mia, editor=tom)
    assert named(mia, made, "Look") == ["Mia Lookup", "Tom Lookup"]
    writers = {"name": "Lookup writers", "members": [ann.user_id]}  # type: ignore[attr-defined]
    group = admin.ok("POST", "/api/v1/groups", writers)["id"]
    assert named(mia, made, "Look") == ["Mia Lookup", "Tom Lookup"]
    members = admin.ok("GET", f"/api/v1/spaces/{team}/members")
    members.append({"principal": group, "kind": "group", "role": "viewer"})
    admin.ok("PUT", f"/api/v1/spaces/{team}/members", {"grants": members})
    assert named(mia, made, "Look") == [
        "Ann Lookup", "Lookup writers", "Mia Lookup", "Tom Lookup",
    ]  # fmt: skip
    # Whom an administrator gave permissions on the page is known there, and nowhere else.
    shared = page(admin, team)
    grant(admin, f"/api/v1/nodes/{shared}/permissions", manager=mia, viewer=lea)
    assert "Lea Lookup" in named(mia, shared, "Lea")
    assert named(mia, made, "Lea") == []
    for found in mia.get(f"/api/v1/nodes/{made}/people", params={"q": "look"}).json():
        assert found["email"] is None
    # An administrator finds everybody, also by the address, and not who is disabled.
    assert named(admin, made, "zoë") == ["Zoë Lookup"]
    address = admin.get(f"/api/v1/nodes/{made}/people", params={"q": "Zoë"}).json()[0]["email"]
    assert named(admin, made, address) == ["Zoë Lookup"]
    assert named(mia, made, address) == []
    admin.ok("PATCH", f"/api/v1/users/{zoe.user_id}", {"disabled": True})  # type: ignore[attr-defined]
    assert named(admin, made, "zoë") == []


@pytest.mark.parametrize("typed", ["a", " a ", "%%", "__", "..", "%a"])
def test_a_lookup_needs_two_letters(admin: Client, typed: str) -> None:
    made = page(admin, space(admin))
    path = f"/api/v1/nodes/{made}/people"
    refused = admin.problem(422, "GET", path, params={"q": typed})
    assert [one["field"] for one in refused["errors"]] == ["q"]


def test_a_lookup_takes_signs_as_they_are(admin: Client, person: Person) -> None:
    named_person(admin, person, "Percy Wild_card")
    made = page(admin, space(admin))
    assert named(admin, made, "Wild_c") == ["Percy Wild_card"]
    for typed in ("P%y", "Wildxcard", "W%ld_card", "ercy", "Wild\\_card"):
        assert named(admin, made, typed) == []


def test_a_lookup_shows_few_and_is_limited(admin: Client, person: Person) -> None:
    for number in range(10):
        named_person(admin, person, f"Many{number} Crowd")
    made = page(admin, space(admin))
    assert len(named(admin, made, "Crowd")) == 8
    eve = named_person(admin, person, "Eve Curious")
    own = page(eve, space(eve))
    statuses = [
        eve.get(f"/api/v1/nodes/{own}/people", params={"q": "ab"}).status_code for _ in range(301)
    ]
    assert statuses.count(429) == 1
    assert statuses[-1] == 429
    # The limit is the account's.
    assert named(admin, made, "Curious") == ["Eve Curious"]


def test_only_who_manages_the_page_may_look_people_up(admin: Client, person: Person) -> None:
    bob, eve = person("Bob"), person("Eve")
    home = space(admin)
    grant(admin, f"/api/v1/spaces/{home}/members", editor=bob)
    made = page(admin, home)
    for path in (f"/api/v1/nodes/{made}/people?q=ab", f"/api/v1/nodes/{made}/access"):
        bob.problem(403, "GET", path)
        eve.problem(404, "GET", path)


def test_a_space_finds_members_as_its_pages_do(admin: Client, person: Person) -> None:
    mia, tom, lea = (named_person(admin, person, f"{one} Member") for one in ("Mia", "Tom", "Lea"))
    home, team = space(mia), space(admin)
    path = f"/api/v1/spaces/{home}/people"
    typed = {"params": {"q": "member"}}
    assert [one["name"] for one in mia.get(path, **typed).json()] == ["Mia Member"]
    grant(admin, f"/api/v1/spaces/{team}/members", viewer=mia, editor=tom)
    found = mia.get(path, **typed).json()
    assert [(one["name"], one["email"]) for one in found] == [
        ("Mia Member", None), ("Tom Member", None),
    ]  # fmt: skip
    everybody = admin.get(path, **typed).json()
    assert len(everybody) == 3
    assert all(one["email"] for one in everybody)
    grant(mia, f"/api/v1/spaces/{home}/members", editor=tom)
    tom.problem(403, "GET", path, **typed)
    lea.problem(404, "GET", path, **typed)
    mia.problem(422, "GET", path, params={"q": "m"})


def test_nobody_locks_themselves_out_of_a_page(admin: Client, person: Person) -> None:
    bob, eve = person("Bob"), person("Eve")
    home = space(admin)
    made = page(admin, home)
    url = f"/api/v1/nodes/{made}/permissions"
    grant(admin, url, manager=bob)
    his = {"principal": bob.user_id, "kind": "user", "role": "editor"}  # type: ignore[attr-defined]
    hers = {"principal": eve.user_id, "kind": "user", "role": "manager"}  # type: ignore[attr-defined]
    for grants in ([hers], [his, hers]):
        refused = bob.problem(422, "PUT", url, json={"grants": grants})
        assert "would not manage this page" in refused["detail"]
    eve.problem(404, "GET", f"/api/v1/nodes/{made}")
    # By a group one remains a manager too; an administrator and a space's manager always do.
    members = {"name": f"Managers of {made}", "members": [bob.user_id]}  # type: ignore[attr-defined]
    group = admin.ok("POST", "/api/v1/groups", members)["id"]
    ours = {"principal": group, "kind": "group", "role": "manager"}
    bob.ok("PUT", url, {"grants": [ours, his]})
    admin.ok("PUT", url, {"grants": [hers]})
    # Without permissions of its own the page has those of its space again.
    eve.ok("PUT", url, {"grants": []})
    eve.problem(404, "GET", f"/api/v1/nodes/{made}")
