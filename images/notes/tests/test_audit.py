"""Tests that the audit log says who got which role, and what was set to which value."""

from collections.abc import Callable
from typing import Any

import psycopg

from notes.db.pool import Database
from notes.jobs.housekeeping import _STATEMENTS
from tests.postgres import Postgres
from tests.replica import Client
from tests.test_gained_access import fill, group
from tests.test_signed_on import ISSUER, db, known, sign_on
from tests.workspace import grant, page, space

__all__ = ["db"]  # the fixture

Person = Callable[[str], Client]


def entry(admin: Client, action: str, query: str = "limit=20") -> dict[str, Any]:
    """The newest entry of an action."""
    found = admin.ok("GET", f"/api/v1/audit?{query}")
    return next(one for one in found if one["action"] == action)


def email(admin: Client, client: Client) -> str:
    users = admin.ok("GET", "/api/v1/users")
    return next(str(one["email"]) for one in users if one["id"] == client.user_id)  # type: ignore[attr-defined]


def roles(detail: dict[str, Any]) -> dict[str, str]:
    return {one["name"]: one["role"] for one in detail["roles"]}


def test_roles_that_change_are_in_the_log(admin: Client, person: Person) -> None:
    bob, cid = person("Bob"), person("Cid")
    home = space(admin)
    made = page(admin, home)
    ada, bob_is, cid_is = "ada@example.org", email(admin, bob), email(admin, cid)
    for action, what, query in (
        ("page.permissions", f"/api/v1/nodes/{made}/permissions", f"node_id={made}"),
        ("space.members", f"/api/v1/spaces/{home}/members", f"space_id={home}"),
    ):
        grant(admin, what, editor=bob)
        found = roles(entry(admin, action, query)["detail"])
        # The administrator is a member of the space before.
        assert {ada: "manager", **found} == {ada: "manager", bob_is: "editor"}
        grant(admin, what, viewer=cid)
        detail = entry(admin, action, query)["detail"]
        assert roles(detail) == {bob_is: "none", cid_is: "viewer"}
        assert {one["principal"] for one in detail["roles"]} == {bob.user_id, cid.user_id}  # type: ignore[attr-defined]
        grant(admin, what, viewer=cid)
        assert entry(admin, action, query)["detail"]["roles"] == []
    one = f"/api/v1/spaces/{home}/members/{bob.user_id}"  # type: ignore[attr-defined]
    for method, role in (("PUT", "commenter"), ("DELETE", "none")):
        admin.ok(method, one, {"kind": "user", "role": role} if method == "PUT" else None)
        detail = entry(admin, "space.members", f"space_id={home}")["detail"]
        assert (detail["name"], detail["role"], detail["kind"]) == (bob_is, role, "user")


def test_values_are_in_the_log_and_secrets_are_not(admin: Client, person: Person) -> None:
    bob = person("Bob")
    path = f"/api/v1/users/{bob.user_id}"  # type: ignore[attr-defined]
    admin.ok("PATCH", path, {"is_admin": True, "password": "a secret of bob's"})
    detail = entry(admin, "user.changed")["detail"]
    assert detail == {"fields": ["password", "is_admin"], "is_admin": True}
    admin.ok("PATCH", path, {"is_admin": False, "disabled": True})
    detail = entry(admin, "user.changed")["detail"]
    assert (detail["is_admin"], detail["disabled"]) == (False, True)
    home = space(admin)
    admin.ok("PATCH", f"/api/v1/spaces/{home}", {"public": True, "description": "A long text"})
    detail = entry(admin, "space.changed", f"space_id={home}")["detail"]
    assert detail == {"fields": ["description", "public"], "public": True}
    admin.ok("PATCH", f"/api/v1/spaces/{home}", {"everyone_role": "editor", "domain": ""})
    detail = entry(admin, "space.changed", f"space_id={home}")["detail"]
    assert (detail["everyone_role"], detail["domain"]) == ("editor", None)


def test_members_of_a_group_are_in_the_log(admin: Client, person: Person) -> None:
    bob, cid = person("Bob"), person("Cid")
    made = group(admin, bob)
    detail = entry(admin, "group.set")["detail"]
    assert detail == {"members": 1, "added": [email(admin, bob)], "removed": []}
    fill(admin, made, cid)
    detail = entry(admin, "group.set")["detail"]
    assert (detail["added"], detail["removed"]) == ([email(admin, cid)], [email(admin, bob)])


async def test_a_single_sign_on_is_in_the_log_with_what_it_changes(
    admin: Client, person: Person, db: Database
) -> None:
    bob = person("Bob")
    address = email(admin, bob)
    name = group(admin)["name"]

    async def noted(*groups: str, is_admin: bool) -> list[tuple[str, dict[str, Any]]]:
        last = admin.ok("GET", "/api/v1/audit?limit=1")[0]["id"]
        them = known("Audited", *groups, is_admin=is_admin, email=address)
        assert await sign_on(db, them) == bob.user_id  # type: ignore[attr-defined]
        found = [one for one in admin.ok("GET", "/api/v1/audit") if one["id"] > last]
        assert {(one["actor_id"], one["subject"]) for one in found} <= {(bob.user_id, address)}  # type: ignore[attr-defined]
        return [(one["action"], one["detail"]) for one in reversed(found)]

    by_oidc = {"fields": ["is_admin"], "via": "oidc"}
    assert await noted(name, "Made by it", is_admin=True) == [
        ("user.identity_linked", {"issuer": ISSUER, "identity": "Audited"}),
        ("user.changed", {**by_oidc, "is_admin": True}),
        (
            "user.groups",
            {"added": ["Made by it", name], "removed": [], "made": ["Made by it"]},
        ),
    ]
    assert await noted(name, "Made by it", is_admin=True) == []
    assert await noted("Made by it", is_admin=False) == [
        ("user.changed", {**by_oidc, "is_admin": False}),
        ("user.groups", {"added": [], "removed": [name], "made": []}),
    ]


def test_what_the_trash_gives_up_is_in_the_log(admin: Client, postgres: Postgres) -> None:
    home = space(admin)
    top = page(admin, home, "Old")
    page(admin, home, "Below", parent_id=top)
    page(admin, home, "Stays")
    admin.ok("DELETE", f"/api/v1/nodes/{top}")
    [statement] = [one for one in _STATEMENTS if "DELETE FROM nodes" in one]
    with psycopg.connect(postgres.url("main"), autocommit=True) as conn:
        older = "UPDATE nodes SET trashed_at = now() - interval '%s days' WHERE trash_root = %%s"
        for days in (29, 31, 31):
            conn.execute(older % days, (top,))
            conn.execute(statement)
    found = admin.ok("GET", f"/api/v1/audit?space_id={home}")
    gone = [one for one in found if one["action"] == "page.deleted"]
    assert [(one["subject"], one["node_id"]) for one in gone] == [("Old", top)]
    assert (gone[0]["actor_id"], gone[0]["actor_name"]) == (None, "housekeeping")
    assert "trashed_at" in gone[0]["detail"]
    assert [one["title"] for one in admin.ok("GET", f"/api/v1/spaces/{home}/tree")] == ["Stays"]
