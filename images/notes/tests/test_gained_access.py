"""Tests who gets a notification of access to a space or a page: directly, and through groups."""

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import psycopg

from notes.notifications import gained
from tests.replica import Client, Replica
from tests.workspace import grant, page, space

Person = Callable[[str], Client]
_numbers = itertools.count(1)


def group(admin: Client, *members: Client) -> dict[str, Any]:
    """A new group with members; the body with which it is changed has its name."""
    body = {"name": f"group {next(_numbers)}", "members": [one.user_id for one in members]}  # type: ignore[attr-defined]
    made: dict[str, Any] = admin.ok("POST", "/api/v1/groups", body, 201)
    return made


def fill(admin: Client, made: dict[str, Any], *members: Client) -> None:
    """Sets the members of a group."""
    body = {"name": made["name"], "members": [one.user_id for one in members]}  # type: ignore[attr-defined]
    admin.ok("PUT", f"/api/v1/groups/{made['id']}", body)


def give(admin: Client, what: str, *groups: dict[str, Any], **roles: Client) -> None:
    """Makes groups viewers of a page or a space, beside users and the administrator."""
    me = admin.ok("GET", "/api/v1/me")["id"]
    grants = [{"principal": me, "kind": "user", "role": "manager"}]
    grants += [{"principal": one["id"], "kind": "group", "role": "viewer"} for one in groups]
    grants += [
        {"principal": one.user_id, "kind": "user", "role": role}  # type: ignore[attr-defined]
        for role, one in roles.items()
    ]
    admin.ok("PUT", what, {"grants": grants})


def told(client: Client) -> list[tuple[str, str, int]]:
    """The kinds, titles and counts of all notifications of a user, in order of titles."""
    found = client.ok("GET", "/api/v1/notifications")["notifications"]
    return sorted((one["kind"], one["title"], one["times"]) for one in found)


def test_one_member_who_is_added_gets_one(admin: Client, person: Person) -> None:
    bob, cid = person("Bob"), person("Cid")
    home = space(admin, name="Given")
    path = f"/api/v1/spaces/{home}/members"
    body = {"kind": "user", "role": "viewer", "base_role": "none"}
    one = f"{path}/{bob.user_id}"  # type: ignore[attr-defined]
    admin.problem(409, "PUT", one, json={**body, "base_role": "editor"})
    assert told(bob) == [], "a refused change tells nobody"
    for _ in range(2):
        admin.ok("PUT", one, body)
    admin.ok("PUT", one, {**body, "role": "editor", "base_role": "viewer"})
    assert told(bob) == [("access", "Given", 1)]
    found = bob.ok("GET", "/api/v1/notifications")["notifications"][0]
    assert (found["space_id"], found["node_id"], found["actor_name"]) == (home, None, "Ada")
    # Neither the administrator, who made the space, nor somebody else.
    assert ("access", "Given", 1) not in told(admin)
    assert told(cid) == []


def test_the_people_of_a_group_get_one_of_its_space(admin: Client, person: Person) -> None:
    ann, bob, cid, eve = person("Ann"), person("Bob"), person("Cid"), person("Eve")
    home = space(admin, name="Given")
    grant(admin, f"/api/v1/spaces/{home}/members", viewer=ann)
    first, second = group(admin, ann, bob), group(admin, bob, cid)
    give(admin, f"/api/v1/spaces/{home}/members", first, second, viewer=ann)
    assert told(ann) == told(bob) == told(cid) == [("access", "Given", 1)]
    assert told(eve) == []
    # One group at a time, and again: it has access.
    third = group(admin, cid, eve)
    one = f"/api/v1/spaces/{home}/members/{third['id']}"
    for role in ("viewer", "editor"):
        admin.ok("PUT", one, {"kind": "group", "role": role})
    assert told(cid) == told(eve) == [("access", "Given", 1)]


def test_the_people_of_a_group_get_one_of_its_page(admin: Client, person: Person) -> None:
    ann, bob, cid = person("Ann"), person("Bob"), person("Cid")
    home = space(admin, name="Home")
    node = page(admin, home, "Shared")
    grant(admin, f"/api/v1/spaces/{home}/members", viewer=ann)
    cid_off = {"access": False}
    cid.ok("PUT", "/api/v1/notification-settings", cid_off)
    give(admin, f"/api/v1/nodes/{node}/permissions", group(admin, ann, bob, cid))
    # Ann could read the page before; Cid has turned the kind off.
    assert told(ann) == [("access", "Home", 1)]
    assert told(bob) == [("access", "Shared", 1)]
    assert told(cid) == []


def test_who_comes_to_a_group_gets_those_of_its_places(admin: Client, person: Person) -> None:
    ann, bob, cid = person("Ann"), person("Bob"), person("Cid")
    made = group(admin, ann)
    home, other = space(admin, name="Home"), space(admin, name="Other")
    inner, outer = page(admin, home, "Inner"), page(admin, other, "Outer")
    gone, hidden = page(admin, other, "Gone"), page(admin, home, "Hidden")
    give(admin, f"/api/v1/spaces/{home}/members", made)
    for node in (inner, outer, gone):
        give(admin, f"/api/v1/nodes/{node}/permissions", made)
    grant(admin, f"/api/v1/nodes/{hidden}/permissions")
    admin.ok("DELETE", f"/api/v1/nodes/{gone}")
    grant_outer = {"kind": "user", "role": "viewer"}
    admin.ok("PUT", f"/api/v1/spaces/{other}/members/{cid.user_id}", grant_outer)  # type: ignore[attr-defined]
    for _ in range(2):
        fill(admin, made, ann, bob, cid)
    # The notification of the space is also for its page, not for one in another space.
    assert told(bob) == [("access", "Home", 1), ("access", "Outer", 1)]
    assert told(cid) == [("access", "Home", 1), ("access", "Other", 1), ("access", "Outer", 1)]
    # Ann was there when the group got it: nobody gets a second one.
    assert told(ann) == sorted([("access", "Home", 1), ("access", "Outer", 1)])


def test_a_refused_change_of_a_group_tells_nobody(admin: Client, person: Person) -> None:
    bob = person("Bob")
    made = group(admin)
    home = space(admin)
    give(admin, f"/api/v1/spaces/{home}/members", made)
    body = {"name": made["name"], "members": [bob.user_id, str(uuid4())]}  # type: ignore[attr-defined]
    admin.problem(422, "PUT", f"/api/v1/groups/{made['id']}", json=body)
    assert told(bob) == []


def test_a_group_with_many_people_gets_none(
    admin: Client, person: Person, replica: Replica
) -> None:
    bob, cid = person("Bob"), person("Cid")
    made = group(admin, bob)
    with psycopg.connect(replica.database_url, autocommit=True) as conn:
        conn.execute(
            "WITH made AS (INSERT INTO users (email, name)"
            " SELECT 'many' || n || %(group)s::text || '@example.org', 'Many'"
            " FROM generate_series(1, %(n)s) n RETURNING id)"
            " INSERT INTO group_members (group_id, user_id) SELECT %(group)s::uuid, id FROM made",
            {"group": made["id"], "n": gained.MOST_OF_GROUPS},
        )
        home, other = space(admin, name="Home"), space(admin, name="Other")
        give(admin, f"/api/v1/spaces/{home}/members", made)
        assert told(bob) == []
        # Somebody who is named beside it gets one.
        give(admin, f"/api/v1/spaces/{other}/members", made, viewer=cid)
        assert told(cid) == [("access", "Other", 1)]
        assert told(bob) == []
        # One fewer are few enough.
        conn.execute("DELETE FROM users WHERE id = (SELECT min(user_id::text)::uuid"
                     " FROM group_members WHERE group_id = %s AND user_id <> %s)",
                     (made["id"], bob.user_id))  # type: ignore[attr-defined]  # fmt: skip
        node = page(admin, space(admin), "Few")
        give(admin, f"/api/v1/nodes/{node}/permissions", made)
        assert told(bob) == [("access", "Few", 1)]
        count = conn.execute(
            "SELECT count(*) FROM notifications WHERE node_id = %s", (node,)
        ).fetchone()
        assert count == (gained.MOST_OF_GROUPS,)
        conn.execute("DELETE FROM users WHERE email LIKE 'many%'")


def test_a_group_that_grows_while_it_gets_access_misses_none(admin: Client, person: Person) -> None:
    for number in range(4):
        bob = person(f"Bob{number}")
        made = group(admin)
        home = space(admin, name="Raced")
        one = f"/api/v1/spaces/{home}/members/{made['id']}"
        with ThreadPoolExecutor(2) as pool:
            sent = [
                pool.submit(fill, admin, made, bob),
                pool.submit(admin.ok, "PUT", one, {"kind": "group", "role": "viewer"}),
            ]
            for done in sent:
                done.result()
        assert told(bob) == [("access", "Raced", 1)]
