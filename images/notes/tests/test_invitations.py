"""Tests invitations: the rights that they give, their secret, and who may make and list them."""

import contextlib
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from notes.jobs.housekeeping import _STATEMENTS
from tests.invited import OWN, accept, invite, joined, listed, stranger
from tests.postgres import Postgres
from tests.replica import ADMIN, Client, Replica
from tests.test_gained_access import group, told
from tests.test_site_look import site, visitor
from tests.workspace import page, space

Person = Callable[[str], Client]
Start = Callable[..., Replica]
URL = "/api/v1/invitations"
UNKNOWN = "00000000-0000-4000-8000-000000000000"


def test_the_account_has_exactly_the_rights_of_the_invitation(
    replica: Replica, admin: Client, person: Person
) -> None:
    read, write, closed = (space(admin, name=name) for name in ("Read", "Write", "Closed"))
    team, other = group(admin), group(admin)
    by_group = space(admin, name="By group")
    member = {"kind": "group", "role": "commenter"}
    admin.ok("PUT", f"/api/v1/spaces/{by_group}/members/{team['id']}", member)
    roles = [{"space_id": read, "role": "viewer"}, {"space_id": write, "role": "editor"}]
    made = invite(admin, name="Robert", groups=[team["id"]], spaces=roles)
    assert sorted(made["spaces"], key=str) == sorted(roles, key=str)
    with stranger(replica) as bob:
        made_id = joined(bob, made, "Bob")
        me = bob.ok("GET", "/api/v1/me")
        assert (me["email"], me["name"], me["is_admin"]) == (made["email"], "Bob", False)
        assert me["scopes"] == ["read", "write"]
        bob.problem(403, "GET", "/api/v1/users")
        found = {one["id"]: one["role"] for one in bob.ok("GET", "/api/v1/spaces")}
        wanted = {read: "viewer", write: "editor", by_group: "commenter"}
        assert {one: found.get(one) for one in (*wanted, closed)} == {**wanted, closed: None}
        page(bob, write)
        bob.problem(403, "POST", f"/api/v1/spaces/{read}/nodes", json={"title": "x"})
        # The administrator has given it: the person learns where to begin.
        assert {title for _, title, _ in told(bob)} == {"Read", "Write", "By group"}
    groups = {one["id"]: one["members"] for one in admin.ok("GET", "/api/v1/groups")}
    assert (groups[team["id"]], groups[other["id"]]) == ([made_id], [])
    with stranger(replica) as again:
        again.log_in(made["email"], OWN)


def test_an_administrator_can_be_invited(replica: Replica, admin: Client) -> None:
    with stranger(replica) as eve:
        joined(eve, invite(admin, is_admin=True))
        assert eve.ok("GET", "/api/v1/me")["is_admin"] is True
        eve.ok("GET", "/api/v1/users")
        joined_by_her = invite(eve)
        assert joined_by_her["made_by_name"] == "Bob"
    with stranger(replica) as plain:
        joined(plain, invite(admin, is_admin=False))
        plain.problem(403, "POST", URL, json={"email": "x@example.org"})


def test_the_list_tells_who_invited_whom_until_when(replica: Replica, admin: Client) -> None:
    made = invite(admin, email="Capital@Example.org", name="Cara", days=1)
    longest = invite(admin, days=30)
    one, later = listed(admin, made), listed(admin, longest)
    assert one is not None
    assert later is not None
    assert (one["email"], one["name"]) == ("capital@example.org", "Cara")
    assert (one["made_by_name"], one["accepted_at"], one["holds"]) == ("Ada", None, True)
    assert one["made_at"] < one["expires_at"] < later["expires_at"]
    with stranger(replica) as cara:
        joined(cara, made)
    after = listed(admin, made)
    assert after is not None
    assert after["accepted_at"] is not None
    assert after["holds"] is False
    admin.problem(409, "DELETE", f"{URL}/{made['id']}")
    admin.problem(404, "DELETE", f"{URL}/{UNKNOWN}")


def test_the_secret_is_nowhere_but_in_the_answer(
    replica: Replica, postgres: Postgres, admin: Client
) -> None:
    made = invite(admin, spaces=[{"space_id": space(admin), "role": "viewer"}])
    secret = made["secret"]
    assert len(secret) >= 32
    with stranger(replica) as bob:
        shown = bob.get(made["path"])
        # A request for a file of the page would have the address of the page as its Referer.
        assert shown.headers["referrer-policy"] == "strict-origin"
        assert shown.headers["cache-control"] == "no-store"
        assert secret not in shown.text
        answer = accept(bob, made)
        assert secret not in str(answer.headers)
        joined(bob, invite(admin))
        # What the database has: hashes.
        for form in (secret, secret.encode().hex()):
            assert form not in content(postgres), form
        assert secret not in str(admin.ok("GET", URL))
        assert secret not in str(admin.ok("GET", "/api/v1/audit?limit=200"))
        assert bob.get(made["path"] + "?x=1").status_code == 404
    assert secret not in replica.log
    assert '"path":"/s/…/invitation"' in replica.log


def content(postgres: Postgres) -> str:
    """All rows of all tables, as text."""
    with psycopg.connect(postgres.url("main"), autocommit=True) as conn:
        tables = conn.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        rows = [
            conn.execute(f"SELECT to_jsonb(x)::text FROM {name} x").fetchall()  # type: ignore[call-overload]
            for (name,) in tables.fetchall()
        ]
    text = "\n".join(line for found in rows for (line,) in found)
    assert ADMIN in text
    return text


def test_everything_is_in_the_audit_log(replica: Replica, admin: Client) -> None:
    home = space(admin, name="Audited")
    made = invite(admin, spaces=[{"space_id": home, "role": "editor"}])
    with stranger(replica) as bob:
        made_id = joined(bob, made, "Bob")
    gone = invite(admin)
    admin.ok("DELETE", f"{URL}/{gone['id']}", status=204)
    entries = admin.ok("GET", "/api/v1/audit?limit=200")
    found = [
        (one["action"], one["actor_name"], one["subject"])
        for one in entries
        if one["subject"] in {made["email"], gone["email"]}
    ]
    assert found == [
        ("invitation.revoked", "Ada", gone["email"]),
        ("invitation.made", "Ada", gone["email"]),
        ("invitation.accepted", "Bob", made["email"]),
        ("invitation.made", "Ada", made["email"]),
    ]
    of_space = admin.ok("GET", f"/api/v1/audit?space_id={home}")[0]
    assert (of_space["action"], of_space["detail"]["principal"]) == ("space.members", made_id)
    accepted = next(one for one in entries if one["action"] == "invitation.accepted")
    assert accepted["detail"]["made_by"] == admin.ok("GET", "/api/v1/me")["id"]


def test_only_administrators_have_anything_to_do_with_invitations(
    replica: Replica, admin: Client, anybody: Client, person: Person
) -> None:
    bob = person("Bob")
    made = invite(admin)
    scopes = {"name": "no admin", "scopes": ["read", "write"]}
    secret = admin.ok("POST", "/api/v1/tokens", scopes)["secret"]
    bearer = {"authorization": f"Bearer {secret}"}
    with replica.client(headers=bearer) as program:
        for client, status in ((bob, 403), (anybody, 401), (program, 403)):
            client.problem(status, "GET", URL)
            client.problem(status, "POST", URL, json={"email": "x@example.org"})
            client.problem(status, "DELETE", f"{URL}/{made['id']}")
    assert listed(admin, made) is not None


def test_a_space_s_own_domain_serves_nothing_of_it(replica: Replica, admin: Client) -> None:
    site(admin, "invites.example.org")
    made = invite(admin, is_admin=True)
    with visitor(replica, "invites.example.org") as client:
        assert client.get(made["path"]).status_code == 404
        assert client.post(made["path"], data={"name": "E", "password": OWN}).status_code == 404
        client.log_in()
        client.problem(404, "GET", URL)
        client.problem(404, "POST", URL, json={"email": "x@example.org"})
        client.problem(404, "DELETE", f"{URL}/{made['id']}")
    # The link is of the main site, and still there.
    assert made["url"].startswith("https://notes.example.org/s/")
    with stranger(replica) as bob:
        joined(bob, made)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("groups", [UNKNOWN]),
        ("spaces", [{"space_id": UNKNOWN, "role": "viewer"}]),
        ("days", 0),
        ("days", 31),
        ("email", "nobody"),
        ("name", "two\nlines"),
    ],
)
def test_an_invitation_that_cannot_be_is_refused(admin: Client, field: str, value: Any) -> None:
    body = {"email": "refused@example.org", field: value}
    errors = admin.problem(422, "POST", URL, json=body)["errors"]
    assert errors[0]["field"] == field
    assert "refused@example.org" not in str(admin.ok("GET", URL))


def test_a_refused_invitation_leaves_the_one_before(replica: Replica, admin: Client) -> None:
    home = space(admin)
    made = invite(admin)
    twice = [{"space_id": home, "role": "viewer"}, {"space_id": home, "role": "manager"}]
    for wrong in ({"groups": [UNKNOWN]}, {"spaces": twice}):
        admin.problem(422, "POST", URL, json={"email": made["email"], **wrong})
    with stranger(replica) as bob:
        joined(bob, made)
    taken = admin.problem(409, "POST", URL, json={"email": made["email"]})
    assert taken["errors"][0]["field"] == "email"


def test_invitations_are_deleted_a_month_after_their_end(postgres: Postgres, admin: Client) -> None:
    old, new = invite(admin, days=1), invite(admin, days=1)
    statement = next(one for one in _STATEMENTS if "DELETE FROM invitations" in one)
    with contextlib.closing(psycopg.connect(postgres.url("main"), autocommit=True)) as conn:
        for one, days in ((old, 31), (new, 29)):
            conn.execute(
                "UPDATE invitations SET expires_at = now() - make_interval(days => %s)"
                " WHERE id = %s",
                (days, one["id"]),
            )
        conn.execute(statement)
    kept = listed(admin, new)
    assert kept is not None
    assert kept["holds"] is False
    assert listed(admin, old) is None
