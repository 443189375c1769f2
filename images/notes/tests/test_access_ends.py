"""Tests the end of access: of administrators, tokens, sessions and open streams."""

import threading
import time
from collections.abc import Callable, Iterator

import psycopg
import pytest

from notes.auth.oidc_claims import Person as Known
from notes.auth.oidc_routes import _account
from notes.db.pool import Database
from tests.postgres import Postgres
from tests.replica import ADMIN, PASSWORD, Client, Replica
from tests.test_events import Stream
from tests.test_spaces_share import until
from tests.workspace import grant, page, space

Person = Callable[[str], Client]
Start = Callable[..., Replica]
OWN = "password of mine"


def test_two_administrators_at_once_leave_one(own_replica: Start) -> None:
    """Each disables the other, by the API and by SQL, many times."""
    replica = own_replica()
    with replica.client() as ada, replica.client() as eve:
        ada.set_up()
        body = {"email": "eve@example.org", "name": "E", "password": OWN, "is_admin": True}
        eve_id = ada.ok("POST", "/api/v1/users", body)["id"]
        ada_id = ada.ok("GET", "/api/v1/me")["id"]
        eve.log_in("eve@example.org", OWN)
        count = "SELECT count(*) FROM users WHERE is_admin AND disabled_at IS NULL"
        with psycopg.connect(replica.database_url, autocommit=True) as conn:
            for number in range(10):
                change = [{"is_admin": False}, {"disabled": True}][number % 2]
                codes = list[int]()

                def send(client: Client, other: str, change: dict[str, bool]) -> None:
                    answer = client.patch(f"/api/v1/users/{other}", json=change)
                    codes.append(answer.status_code)  # noqa: B023 - joined below

                threads = [
                    threading.Thread(target=send, args=(c, o, change))
                    for c, o in ((ada, eve_id), (eve, ada_id))
                ]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                assert conn.execute(count).fetchone() == (1,)
                # One request is refused: no administrator would remain, or its sender is none.
                assert codes.count(200) == 1
                assert set(codes) <= {200, 401, 403, 409}
                conn.execute("UPDATE users SET is_admin = true, disabled_at = NULL")
                for client, email, word in ((ada, ADMIN, PASSWORD), (eve, "eve@example.org", OWN)):
                    client.log_in(email, word)
            for statement in ("UPDATE users SET is_admin = false", "DELETE FROM users"):
                with pytest.raises(psycopg.errors.RestrictViolation):
                    conn.execute(statement)


def bearer(replica: Replica, secret: str) -> Client:
    return replica.client(headers={"authorization": f"Bearer {secret}"})


def token(client: Client, *scopes: str) -> dict[str, str]:
    made: dict[str, str] = client.ok(
        "POST", "/api/v1/tokens", {"name": "t", "scopes": list(scopes)}, 201
    )
    return made


def test_tokens_end_with_the_password(replica: Replica, admin: Client, person: Person) -> None:
    bob = person("Bob")
    first, second = token(bob, "read"), token(bob, "read", "write")
    with bearer(replica, first["secret"]) as one, bearer(replica, second["secret"]) as two:
        one.ok("GET", "/api/v1/me")
        change = {"password": "a new password", "current_password": OWN}
        two.ok("PATCH", "/api/v1/me", change)
        # The session that made the change remains; the others began with the old password.
        two.ok("GET", "/api/v1/me")
        one.problem(401, "GET", "/api/v1/me")
        bob.problem(401, "GET", "/api/v1/me")
        path = f"/api/v1/users/{bob.user_id}"  # type: ignore[attr-defined]
        admin.ok("PATCH", path, {"password": "one that is given"})
        two.problem(401, "GET", "/api/v1/me")


def test_what_was_let_in_before_does_not_come_back(
    replica: Replica, admin: Client, person: Person
) -> None:
    bob = person("Bob")
    path = f"/api/v1/users/{bob.user_id}"  # type: ignore[attr-defined]
    made = token(bob, "read")
    admin.ok("PATCH", path, {"disabled": True})
    admin.ok("PATCH", path, {"disabled": False})
    with bearer(replica, made["secret"]) as program:
        program.problem(401, "GET", "/api/v1/me")
    bob.problem(401, "GET", "/api/v1/me")
    admin.ok("PATCH", path, {"is_admin": True})
    bob.log_in(bob_email(admin, bob), OWN)
    both, alone = token(bob, "read", "admin"), token(bob, "admin")
    for is_admin in (False, True):
        admin.ok("PATCH", path, {"is_admin": is_admin})
    with bearer(replica, both["secret"]) as program:
        program.ok("GET", "/api/v1/me")
        program.problem(403, "GET", "/api/v1/users")
    with bearer(replica, alone["secret"]) as program:
        program.problem(401, "GET", "/api/v1/users")


def bob_email(admin: Client, bob: Client) -> str:
    users = admin.ok("GET", "/api/v1/users")
    return next(str(u["email"]) for u in users if u["id"] == bob.user_id)  # type: ignore[attr-defined]


def test_a_token_takes_those_along_that_it_made(replica: Replica, person: Person) -> None:
    bob = person("Bob")
    made = token(bob, "read", "write")
    with bearer(replica, made["secret"]) as program:
        child = token(program, "read", "write")
    with bearer(replica, child["secret"]) as program:
        grandchild = token(program, "read")
    bob.ok("DELETE", f"/api/v1/tokens/{made['id']}")
    for one in (made, child, grandchild):
        with bearer(replica, one["secret"]) as program:
            program.problem(401, "GET", "/api/v1/me")


def test_nothing_is_made_at_the_moment_of_being_sent_out(
    replica: Replica, person: Person, postgres: Postgres
) -> None:
    """A request that was authenticated before its session ended creates no token after it."""
    bob = person("Bob")
    with psycopg.connect(postgres.url("main")) as conn:
        conn.execute("DELETE FROM sessions WHERE user_id = %s", (bob.user_id,))  # type: ignore[attr-defined]
        answers = list[int]()

        def ask() -> None:
            body = {"name": "late", "scopes": ["read"]}
            answers.append(bob.post("/api/v1/tokens", json=body).status_code)

        thread = threading.Thread(target=ask)
        thread.start()
        waits = "SELECT 1 FROM pg_locks WHERE NOT granted"
        until(lambda: bool(postgres.sql(waits, "main")))
        conn.commit()
        thread.join()
    assert answers == [401]
    assert not postgres.sql("SELECT 1 FROM api_tokens WHERE name = 'late'", "main")


def ends(stream: Stream, timeout_s: float = 10) -> float:
    """The seconds until the server ended a stream."""
    begun = time.monotonic()
    stream._thread.join(timeout_s)
    assert not stream._thread.is_alive(), "it is still open"
    return time.monotonic() - begun


@pytest.fixture(scope="module")
def two(postgres: Postgres) -> Iterator[tuple[Replica, Replica]]:
    """Two replicas of one database."""
    url = postgres.database("ends")
    env = {"ORIGIN": "https://notes.example.org"}
    with Replica(url, env).running() as first, Replica(url, env).running() as second:
        with first.client() as client:
            client.set_up()
        yield first, second


@pytest.mark.quiet
@pytest.mark.parametrize(
    "way",
    [
        "sign-out", "password", "given password", "disabled", "one session", "other sessions",
        "token", "space", "group", "everyone",
    ],
)  # fmt: skip
def test_a_stream_ends_with_what_opened_it_on_every_replica(
    two: tuple[Replica, Replica], way: str
) -> None:
    first, second = two
    with first.client() as admin, first.client() as bob, second.client() as reader:
        admin.log_in()
        email = f"bob-{way.replace(' ', '-')}@example.org"
        body = {"email": email, "name": "Bob", "password": OWN}
        bob.user_id = admin.ok("POST", "/api/v1/users", body)["id"]  # type: ignore[attr-defined]
        bob.log_in(email, OWN)
        path = f"/api/v1/users/{bob.user_id}"  # type: ignore[attr-defined]
        home = space(admin)
        group = {"name": f"g {way}", "members": [bob.user_id]}  # type: ignore[attr-defined]
        group_id = admin.ok("POST", "/api/v1/groups", group)["id"]
        if way == "group":
            me = admin.ok("GET", "/api/v1/me")["id"]
            grants = [{"principal": me, "kind": "user", "role": "manager"},
                      {"principal": group_id, "kind": "group", "role": "viewer"}]  # fmt: skip
            admin.ok("PUT", f"/api/v1/spaces/{home}/members", {"grants": grants})
        elif way == "everyone":
            admin.ok("PATCH", f"/api/v1/spaces/{home}", {"everyone_role": "viewer"})
        else:
            grant(admin, f"/api/v1/spaces/{home}/members", viewer=bob)
        made = token(bob, "read")
        reader.log_in(email, OWN)
        if way == "token":
            reader.jar.clear()
            reader.headers["authorization"] = f"Bearer {made['secret']}"
        with reader.stream("GET", "/api/v1/events") as response:
            stream = Stream(response)
            stream.wait("hello")
            time.sleep(0.5)
            {
                "sign-out": lambda: first_of(reader, first).ok("DELETE", "/api/v1/session"),
                "password": lambda: bob.ok(
                    "PATCH", "/api/v1/me", {"password": "x" * 12, "current_password": OWN}
                ),
                "given password": lambda: admin.ok("PATCH", path, {"password": "x" * 12}),
                "disabled": lambda: admin.ok("PATCH", path, {"disabled": True}),
                "one session": lambda: bob.ok("DELETE", f"/api/v1/sessions/{session_of(reader)}"),
                "other sessions": lambda: bob.ok("DELETE", "/api/v1/sessions"),
                "token": lambda: bob.ok("DELETE", f"/api/v1/tokens/{made['id']}"),
                "space": lambda: grant(admin, f"/api/v1/spaces/{home}/members"),
                "group": lambda: admin.ok(
                    "PUT", f"/api/v1/groups/{group_id}", {"name": f"g {way}"}
                ),
                "everyone": lambda: admin.ok(
                    "PATCH", f"/api/v1/spaces/{home}", {"everyone_role": "none"}
                ),
            }[way]()
            took = ends(stream)
        print(f"{way}: {took:.2f} s")
        assert took < 2


def session_of(client: Client) -> str:
    """The id of the session that a client uses."""
    listed = client.ok("GET", "/api/v1/sessions")
    return next(str(one["id"]) for one in listed if one["is_current"])


def first_of(client: Client, replica: Replica) -> Client:
    """The same browser at another replica."""
    other = replica.client()
    other.jar.update(client.jar)
    return other


@pytest.mark.quiet
def test_a_stream_goes_on_where_nothing_was_lost(admin: Client, person: Person) -> None:
    bob = person("Bob")
    home, other = space(admin), space(admin)
    grant(admin, f"/api/v1/spaces/{home}/members", viewer=bob)
    with bob.stream("GET", "/api/v1/events") as response:
        stream = Stream(response)
        stream.wait("hello")
        grant(admin, f"/api/v1/spaces/{other}/members", viewer=bob)
        grant(admin, f"/api/v1/spaces/{home}/members", editor=bob)
        token_of = token(bob, "read")
        assert token_of
        bob.ok("PATCH", "/api/v1/me", {"password": "x" * 12, "current_password": OWN})
        time.sleep(1)
        page(admin, home)
        stream.wait("page.made")
        # A space that it got access to later counts too.
        begun = time.monotonic()
        grant(admin, f"/api/v1/spaces/{other}/members")
        ends(stream)
        assert time.monotonic() - begun < 2
        stream.close()


async def test_single_sign_on_keeps_the_last_administrator(own_replica: Start) -> None:
    """With any groups from the provider, or none."""
    replica = own_replica()
    with replica.client() as ada:
        ada.set_up()
        known = Known("https://id.example", "ada", ADMIN, True, "Ada", frozenset(), False)
        db = Database(replica.database_url)
        await db.open()
        try:
            await db.transact(lambda conn: _account(conn, known))
            me = ada.ok("GET", "/api/v1/me")
            assert me["is_admin"] is True
            kinds = [entry["action"] for entry in ada.ok("GET", "/api/v1/audit")]
            assert "user.last_administrator_kept" in kinds
            body = {"email": "eve@example.org", "name": "E", "password": OWN, "is_admin": True}
            ada.ok("POST", "/api/v1/users", body)
            await db.transact(lambda conn: _account(conn, known))
            assert ada.ok("GET", "/api/v1/me")["is_admin"] is False
        finally:
            await db.close()
