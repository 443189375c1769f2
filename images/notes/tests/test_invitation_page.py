"""Tests the page of an invitation: whom it lets in, once, and all that it refuses."""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest

from tests.invited import GERMAN, OWN, accept, invite, joined, listed, stranger
from tests.postgres import Postgres
from tests.replica import Client, Replica
from tests.test_gained_access import group
from tests.test_tree import until_waiting
from tests.workspace import space

Person = Callable[[str], Client]
Start = Callable[..., Replica]
URL = "/api/v1/invitations"
SHUT = "This invitation does not hold"


def change(postgres: Postgres, made: dict[str, Any], what: str) -> None:
    with psycopg.connect(postgres.url("main"), autocommit=True) as conn:
        conn.execute(f"UPDATE invitations SET {what} WHERE id = %s", (made["id"],))  # type: ignore[call-overload]


@pytest.fixture
def inviter(replica: Replica, admin: Client) -> Client:
    """Another administrator, who came by an invitation."""
    with stranger(replica) as client:
        client.user_id = joined(client, invite(admin, is_admin=True), "Eve")  # type: ignore[attr-defined]
        kept = dict(client.jar), client.user_id  # type: ignore[attr-defined]
    again = replica.client()
    again.jar.update(kept[0])
    again.user_id = kept[1]  # type: ignore[attr-defined]
    return again


def is_shut(replica: Replica, made: dict[str, Any]) -> None:
    """Both the page and the form are refused, with the answer to an unknown secret."""
    with stranger(replica) as client:
        unknown = client.get("/s/unknown/invitation")
        assert unknown.status_code == 404
        assert SHUT in unknown.text
        shown, sent = client.get(made["path"]), accept(client, made)
        assert (shown.status_code, sent.status_code) == (404, 404)
        assert shown.text == sent.text == unknown.text
        assert "__Host-notes" not in client.jar
        client.problem(401, "GET", "/api/v1/me")


def test_the_page_needs_no_script_and_speaks_the_language_of_its_reader(
    replica: Replica, admin: Client
) -> None:
    made = invite(admin, name="<b>&Cara")
    with stranger(replica) as client:
        english, german = client.get(made["path"]), client.get(made["path"], headers=GERMAN)
        for shown, words in (
            (english, ("Ada has invited you.", "Make the account", "Your name")),
            (german, ("Ada hat Sie eingeladen.", "Konto anlegen", "Ihr Name")),
        ):
            assert shown.status_code == 200
            assert made["email"] in shown.text
            assert 'value="&lt;b&gt;&amp;Cara"' in shown.text
            assert "<script" not in shown.text
            for one in words:
                assert one in shown.text, one
        assert '<html lang="de">' in german.text
        for path, word in (("/s/x/invitation", "Diese Einladung gilt nicht"),):
            answer = client.get(path, headers=GERMAN)
            assert word in answer.text
            assert '<html lang="de">' in answer.text


@pytest.mark.parametrize(
    ("form", "word"),
    [
        ({"name": "", "password": OWN}, "Type a name"),
        ({"name": "   ", "password": OWN}, "Type a name"),
        ({"name": "a\nb", "password": OWN}, "Type a name"),
        ({"name": "x" * 121, "password": OWN}, "Type a name"),
        ({"name": "Bob", "password": "9 letters"}, "Choose a password"),
        ({"name": "Bob"}, "Choose a password"),
        ({"name": "Bob", "password": "x" * 1001}, "Choose a password"),
    ],
)
def test_a_wrong_form_is_shown_again_and_uses_nothing_up(
    replica: Replica, admin: Client, form: dict[str, str], word: str
) -> None:
    made = invite(admin)
    with stranger(replica) as client:
        answer = client.post(made["path"], data=form)
        assert answer.status_code == 422
        assert word in answer.text
        assert made["email"] in answer.text
        assert OWN not in answer.text
        joined(client, made)


def test_the_address_is_that_of_the_invitation(
    replica: Replica, admin: Client, person: Person
) -> None:
    bob = person("Bob")
    made = invite(admin)
    with stranger(replica) as client:
        answer = accept(client, made, email="another@example.org", is_admin="on")
        assert answer.status_code == 303
        me = client.ok("GET", "/api/v1/me")
        assert (me["email"], me["is_admin"]) == (made["email"], False)
    # The page says who is signed in; by accepting, that session ends.
    second = invite(admin)
    assert "You are signed in as Bob." in bob.get(second["path"]).text
    former = dict(bob.jar)
    joined(bob, second, "Bobby")
    with stranger(replica) as client:
        client.jar.update(former)
        client.problem(401, "GET", "/api/v1/me")


def test_a_form_of_another_site_is_refused(replica: Replica, admin: Client) -> None:
    made = invite(admin)
    for origin in ("https://evil.example", "null"):
        with stranger(replica, origin=origin) as client:
            assert accept(client, made).status_code == 403
    one = listed(admin, made)
    assert one is not None
    assert one["holds"] is True


def test_of_two_at_once_one_is_let_in(replica: Replica, postgres: Postgres, admin: Client) -> None:
    made = invite(admin, spaces=[{"space_id": space(admin), "role": "viewer"}])
    answers = list[int]()

    def send(name: str) -> None:
        with stranger(replica) as client:
            answers.append(accept(client, made, name).status_code)

    with psycopg.connect(postgres.url("main")) as conn:
        conn.execute("SELECT 1 FROM invitations WHERE id = %s FOR UPDATE", (made["id"],))
        threads = [threading.Thread(target=send, args=(name,)) for name in ("One", "Two", "Three")]
        for thread in threads:
            thread.start()
        until_waiting(postgres, 3)
    for thread in threads:
        thread.join()
    # The others find it used, as they would later.
    assert sorted(answers) == [303, 404, 404]
    people = [one for one in admin.ok("GET", "/api/v1/users") if one["email"] == made["email"]]
    assert len(people) == 1
    is_shut(replica, made)


def test_an_expired_or_revoked_invitation_is_as_an_unknown_one(
    replica: Replica, postgres: Postgres, admin: Client
) -> None:
    expired = invite(admin)
    change(postgres, expired, "expires_at = now() - interval '1 second'")
    is_shut(replica, expired)
    revoked = invite(admin)
    admin.ok("DELETE", f"{URL}/{revoked['id']}", status=204)
    is_shut(replica, revoked)
    admin.problem(404, "DELETE", f"{URL}/{revoked['id']}")
    secrets = ("%00", "x" * 5000, "%F0%9F%92%A9", "..%2F", expired["secret"] + "x", "'--", "%ff")
    with stranger(replica) as client:
        for secret in secrets:
            answer = client.get(f"/s/{secret}/invitation")
            assert answer.status_code == 404, secret


def test_a_new_invitation_replaces_the_open_one(replica: Replica, admin: Client) -> None:
    first = invite(admin, is_admin=True)
    second = invite(admin, email=first["email"].upper())
    assert listed(admin, first) is None
    is_shut(replica, first)
    with stranger(replica) as client:
        joined(client, second)
        assert client.ok("GET", "/api/v1/me")["is_admin"] is False


@pytest.mark.parametrize("end", [{"disabled": True}, {"is_admin": False}])
def test_who_is_no_administrator_any_more_has_invited_nobody(
    replica: Replica, admin: Client, inviter: Client, end: dict[str, bool]
) -> None:
    made = invite(inviter, is_admin=True)
    admin.ok("PATCH", f"/api/v1/users/{inviter.user_id}", end)  # type: ignore[attr-defined]
    one = listed(admin, made)
    assert one is not None
    assert one["holds"] is False
    is_shut(replica, made)


def test_the_inviter_is_checked_when_the_account_is_made(
    replica: Replica, postgres: Postgres, inviter: Client
) -> None:
    """The invitation holds when the form arrives, and not any more when its turn comes."""
    made = invite(inviter, is_admin=True)
    answers = list[int]()

    def send() -> None:
        with stranger(replica) as client:
            answers.append(accept(client, made).status_code)

    with psycopg.connect(postgres.url("main")) as conn:
        change = "UPDATE users SET disabled_at = now() WHERE id = %s"
        conn.execute(change, (inviter.user_id,))  # type: ignore[attr-defined]
        thread = threading.Thread(target=send)
        thread.start()
        until_waiting(postgres, 1)
    thread.join()
    assert answers == [404]


def test_an_address_that_has_an_account_meanwhile_is_refused(
    replica: Replica, admin: Client
) -> None:
    made = invite(admin, is_admin=True)
    body = {"email": made["email"], "name": "Bob", "password": OWN}
    made_id = admin.ok("POST", "/api/v1/users", body)["id"]
    with stranger(replica) as client:
        for answer in (client.get(made["path"]), accept(client, made, "Mallory")):
            assert answer.status_code == 409
            assert "There is an account with this e-mail address already." in answer.text
        client.log_in(made["email"], OWN)
        me = client.ok("GET", "/api/v1/me")
        assert (me["id"], me["name"], me["is_admin"]) == (made_id, "Bob", False)
    one = listed(admin, made)
    assert one is not None
    assert one["holds"] is False


def test_the_rest_is_given_without_a_space_and_a_group_that_are_gone(
    replica: Replica, postgres: Postgres, admin: Client
) -> None:
    gone, kept, full = space(admin), space(admin), space(admin)
    lost, team = group(admin), group(admin)
    roles = [{"space_id": one, "role": "editor"} for one in (gone, kept, full)]
    made = invite(admin, spaces=roles, groups=[lost["id"], team["id"]])
    admin.ok("DELETE", f"/api/v1/spaces/{gone}")
    admin.ok("DELETE", f"/api/v1/groups/{lost['id']}")
    with psycopg.connect(postgres.url("main"), autocommit=True) as conn:
        conn.execute(
            "INSERT INTO space_members SELECT %s, gen_random_uuid(), 'user', 1"
            " FROM generate_series(1, 499)",
            (full,),
        )
    with stranger(replica) as client:
        made_id = joined(client, made)
        found = {one["id"]: one["role"] for one in client.ok("GET", "/api/v1/spaces")}
        assert {kept: "editor"} == {one: found[one] for one in (gone, kept, full) if one in found}
    members = {one["id"]: one["members"] for one in admin.ok("GET", "/api/v1/groups")}
    assert members[team["id"]] == [made_id]
    noted = admin.ok("GET", "/api/v1/audit?limit=1")[0]["detail"]
    assert (noted["spaces"], noted["groups"], noted["full_spaces"]) == (1, 1, 1)


def test_guesses_are_limited_and_right_secrets_do_not_count(
    replica: Replica, admin: Client
) -> None:
    made = invite(admin)
    with stranger(replica) as client:
        for number in range(10):
            assert client.get(f"/s/guess{number}/invitation").status_code == 404
            assert client.get(made["path"]).status_code == 200
            assert client.post(f"/s/guess{number}/invitation", data={"x": "1"}).status_code == 404
        refused = client.get(made["path"])
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) > 0
        assert accept(client, made).status_code == 429
    # From another address the person comes in.
    with stranger(replica) as client:
        joined(client, made)


@pytest.mark.parametrize(("choice", "days"), [({}, 7), ({"days": 1}, 1), ({"days": 30}, 30)])
def test_a_link_is_valid_for_seven_days_or_as_chosen(
    admin: Client, choice: dict[str, int], days: int
) -> None:
    one = invite(admin, **choice)
    made_at, expires_at = (datetime.fromisoformat(one[at]) for at in ("made_at", "expires_at"))
    assert expires_at - made_at == timedelta(days=days)
