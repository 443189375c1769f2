"""Tests setup, login, sessions, tokens and users, and attempts to bypass their rules."""

import statistics
import threading
import time
from collections.abc import Callable

import psycopg

from tests.postgres import Postgres
from tests.replica import ADMIN, PASSWORD, Client, Replica

Person = Callable[[str], Client]
Start = Callable[..., Replica]


def test_setup_happens_once_however_many_ask_together(own_replica: Start) -> None:
    first = own_replica()
    second = own_replica(first.database_url)
    answers = list[int]()

    def ask(replica: Replica, number: int) -> None:
        with replica.client() as client:
            body = {"email": f"a{number}@example.org", "name": "A", "password": PASSWORD}
            answers.append(client.post("/api/v1/setup", json=body).status_code)

    threads = [threading.Thread(target=ask, args=((first, second)[n % 2], n)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [201, *[409] * 7]
    with first.client() as client:
        assert client.ok("GET", "/api/v1/setup")["done"] is True


def test_login_makes_a_new_session_and_ends_the_old_one(replica: Replica, anybody: Client) -> None:
    anybody.jar["__Host-notes"] = "fixed-by-an-attacker"
    anybody.log_in()
    first = dict(anybody.jar)
    assert first["__Host-notes"] != "fixed-by-an-attacker"
    anybody.log_in()
    with replica.client() as other:
        other.jar.update(first)
        other.problem(401, "GET", "/api/v1/me")
    assert anybody.ok("GET", "/api/v1/me")["email"] == ADMIN
    kept = dict(anybody.jar)
    left = anybody.delete("/api/v1/session")
    assert left.status_code == 204
    assert "storage" in left.headers["clear-site-data"]
    anybody.jar.update(kept)
    anybody.problem(401, "GET", "/api/v1/me")


def test_a_browser_learns_if_its_session_has_expired_or_was_ended(
    replica: Replica, person: Person
) -> None:
    bob = person("Bob")
    kept = dict(bob.jar)

    def said() -> tuple[int, str | None]:
        answer = bob.get("/api/v1/me")
        return answer.status_code, answer.headers.get("x-notes-session")

    assert said() == (200, None)
    # The browser deletes the cookie of a session that has expired, and keeps that of its user.
    del bob.jar["__Host-notes"]
    assert said() == (401, "expired")
    bob.jar.update(kept)
    with psycopg.connect(replica.database_url, autocommit=True) as conn:
        mine = "UPDATE sessions SET expires_at = now() WHERE user_id = %s"
        conn.execute(mine, (bob.user_id,))  # type: ignore[attr-defined]
        assert said() == (401, "expired")
        conn.execute("DELETE FROM sessions WHERE user_id = %s", (bob.user_id,))  # type: ignore[attr-defined]
    assert said() == (401, None)
    # A sign-out deletes both.
    bob.jar.clear()
    assert said() == (401, None)


def test_cookies_are_secure_only_over_https(replica: Replica) -> None:
    body = {"email": ADMIN, "password": PASSWORD}
    for scheme, name in (("https", "__Host-notes"), ("http", "notes")):
        with replica.client() as client:
            origin = {"x-forwarded-proto": scheme, "origin": f"{scheme}://notes.example.org"}
            cookie = client.post("/api/v1/session", json=body, headers=origin).headers["set-cookie"]
        assert cookie.startswith(f"{name}=")
        assert ("Secure" in cookie) is (scheme == "https")
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie


def test_logins_are_limited_by_client_address_on_every_replica(own_replica: Start) -> None:
    env = {"ADDRESS_HEADER": "x-forwarded-for", "XFF_DEPTH": "1"}
    first = own_replica(**env)
    second = own_replica(first.database_url, **env)
    wrong = {"email": "nobody@example.org", "password": "wrong"}
    with first.client() as one, second.client() as two:
        for number in range(10):
            # Addresses in headers that the client itself sends are ignored.
            said = {"x-forwarded-for": f"{number}.1.1.1, 9.9.9.9"}
            (one, two)[number % 2].problem(401, "POST", "/api/v1/session", json=wrong, headers=said)
        for client in (one, two):
            refused = client.post(
                "/api/v1/session", json=wrong, headers={"x-forwarded-for": "9.9.9.9"}
            )
            assert refused.status_code == 429
            assert int(refused.headers["retry-after"]) > 0
        one.problem(
            401, "POST", "/api/v1/session", json=wrong, headers={"x-forwarded-for": "8.8.8.8"}
        )


def test_one_account_is_closed_to_an_address_before_all_of_them_are(replica: Replica) -> None:
    """Users may share an address: ten guesses at one account must not lock out the others."""
    with replica.client(headers={"x-forwarded-for": "172.16.77.9"}) as client:
        codes = [
            client.post(
                "/api/v1/session", json={"email": f"{name}@example.org", "password": "wrong"}
            ).status_code
            for name in ("a",) * 11 + ("b",) * 10 + ("c",) * 10 + ("d",) * 10 + ("e",) * 10
        ]
        # The refused attempt counts too.
        assert codes == [401] * 10 + [429] + [401] * 39 + [429]


def test_signing_in_buys_no_further_guesses(replica: Replica, person: Person) -> None:
    bob = person("Guesser")
    email = bob.ok("GET", "/api/v1/me")["email"]
    with replica.client(headers={"x-forwarded-for": "172.16.77.1"}) as client:
        guess = {"email": ADMIN, "password": "a guess"}
        for _ in range(9):
            client.problem(401, "POST", "/api/v1/session", json=guess)
        for _ in range(3):
            client.log_in(email, "password of mine")
        client.problem(401, "POST", "/api/v1/session", json=guess)
        client.problem(429, "POST", "/api/v1/session", json=guess)


def test_a_login_takes_as_long_for_nobody_as_for_somebody(replica: Replica, person: Person) -> None:
    person("Timed")
    times: dict[str, list[float]] = {ADMIN: [], "nobody@example.org": []}
    for number in range(7):
        for email, taken in times.items():
            with replica.client(headers={"x-forwarded-for": f"172.16.9.{number}"}) as client:
                begun = time.perf_counter()
                client.problem(
                    401, "POST", "/api/v1/session", json={"email": email, "password": "wrong"}
                )
                taken.append(time.perf_counter() - begun)
    somebody, nobody = (statistics.median(taken) for taken in times.values())
    # A hash costs tens of milliseconds; without one the answer comes in one or two.
    assert nobody > somebody / 3


def test_cross_site_forms_are_refused_with_the_contracts_message(anybody: Client) -> None:
    for headers in ({"origin": "https://evil.example"}, {"origin": "http://notes.example.org"}):
        answer = anybody.post("/api/v1/session", data={"email": "x"}, headers=headers)
        assert answer.status_code == 403
        assert "Cross-site POST form submissions are forbidden" in answer.text


def test_a_cookie_alone_changes_nothing(admin: Client) -> None:
    request = admin.build_request("POST", "/api/v1/tokens", json={"name": "x", "scopes": ["read"]})
    del request.headers["origin"]
    assert admin.send(request).status_code == 403


def test_tokens_have_scopes_and_can_be_revoked(replica: Replica, admin: Client) -> None:
    made = admin.ok("POST", "/api/v1/tokens", {"name": "reader", "scopes": ["read"]}, 201)
    bearer = {"authorization": f"Bearer {made['secret']}"}
    with replica.client() as program:
        me = program.get("/api/v1/me", headers=bearer).json()
        assert me["scopes"] == ["read"]
        assert me["is_admin"] is False
        program.problem(
            403, "POST", "/api/v1/spaces", json={"slug": "t", "name": "T"}, headers=bearer
        )
        program.problem(403, "GET", "/api/v1/users", headers=bearer)
        assert all("secret" not in token for token in admin.ok("GET", "/api/v1/tokens"))
        admin.ok("DELETE", f"/api/v1/tokens/{made['id']}")
        kinds = [entry["action"] for entry in admin.ok("GET", "/api/v1/audit")]
        assert "token.revoked" in kinds[:5]
        program.problem(401, "GET", "/api/v1/me", headers=bearer)
        program.problem(401, "GET", "/api/v1/me", headers={"authorization": "Bearer nt_x"})


def test_no_token_makes_one_that_outlives_it(replica: Replica, admin: Client) -> None:
    body = {"name": "short", "scopes": ["write"], "expires_at": "2999-01-01T00:00:00Z"}
    made = admin.ok("POST", "/api/v1/tokens", body, 201)
    bearer = {"authorization": f"Bearer {made['secret']}"}
    with replica.client(headers=bearer) as program:
        for end in (None, "2999-01-01T00:00:01Z"):
            refused = {**body, "expires_at": end}
            told = program.problem(403, "POST", "/api/v1/tokens", json=refused)
            assert told["errors"][0]["field"] == "expires_at"
        program.ok("POST", "/api/v1/tokens", body, 201)


def test_nobody_passes_on_more_than_they_have(person: Person) -> None:
    refused = person("Bob").problem(
        403, "POST", "/api/v1/tokens", json={"name": "x", "scopes": ["admin"]}
    )
    assert refused["errors"][0]["field"] == "scopes"


def test_administration_is_for_administrators(person: Person) -> None:
    bob = person("Bob")
    for method, path in (("GET", "/users"), ("GET", "/groups"), ("GET", "/audit")):
        bob.problem(403, method, f"/api/v1{path}")


def test_the_last_administrator_remains(own_replica: Start) -> None:
    replica = own_replica()
    with replica.client() as client:
        client.set_up()
        me = client.ok("GET", "/api/v1/me")
        for change in ({"is_admin": False}, {"disabled": True}):
            client.problem(409, "PATCH", f"/api/v1/users/{me['id']}", json=change)


def test_two_administrators_cannot_send_each_other_away(
    own_replica: Start, postgres: Postgres
) -> None:
    replica = own_replica()
    database = replica.database_url.rsplit("/", 1)[1]
    with replica.client() as client, psycopg.connect(replica.database_url) as conn:
        client.set_up()
        body = {"email": "eve@example.org", "name": "Eve", "is_admin": True}
        eve = client.ok("POST", "/api/v1/users", body)["id"]
        conn.execute("UPDATE users SET is_admin = false WHERE email = %s", (ADMIN,))
        answers = list[int]()

        def demote() -> None:
            path, body = f"/api/v1/users/{eve}", {"is_admin": False}
            answers.append(client.patch(path, json=body).status_code)

        thread = threading.Thread(target=demote)
        thread.start()
        waits = "SELECT 1 FROM pg_locks WHERE NOT granted"
        deadline = time.monotonic() + 5
        while not postgres.sql(waits, database):
            assert time.monotonic() < deadline, f"it does not wait: {answers}"
            time.sleep(0.02)
        conn.commit()
        thread.join()
    assert answers == [409]


def test_whoever_is_disabled_is_out_at_once(admin: Client, person: Person) -> None:
    bob = person("Bob")
    admin.ok("PATCH", f"/api/v1/users/{bob.user_id}", {"disabled": True})  # type: ignore[attr-defined]
    bob.problem(401, "GET", "/api/v1/me")


def test_a_new_password_ends_other_sessions(replica: Replica, person: Person) -> None:
    bob = person("Bob")
    email = bob.ok("GET", "/api/v1/me")["email"]
    with replica.client(headers={"x-forwarded-for": "172.17.0.9"}) as other:
        other.log_in(email, "password of mine")
        wrong = {"password": "a new password", "current_password": "wrong"}
        assert bob.problem(403, "PATCH", "/api/v1/me", json=wrong)["errors"][0]["field"]
        right = {"password": "a new password", "current_password": "password of mine"}
        bob.ok("PATCH", "/api/v1/me", right)
        other.problem(401, "GET", "/api/v1/me")
        bob.ok("GET", "/api/v1/me")


def test_secrets_are_nowhere_in_the_log_or_the_database(
    replica: Replica, postgres: Postgres, admin: Client
) -> None:
    secret = "a very secret client secret"
    body = {"issuer": "https://id.example.org", "client_id": "notes", "client_secret": secret}
    admin.ok("PUT", "/api/v1/settings/oidc", body)
    state = admin.ok("GET", "/api/v1/settings/oidc")
    assert state["issuer"] == "https://id.example.org"
    assert secret not in str(state)
    sealed = bytes(postgres.sql("SELECT sealed FROM credentials", "main")[0][0])  # type: ignore[arg-type]
    assert secret.encode() not in sealed
    admin.ok("DELETE", "/api/v1/settings/oidc")
    log = replica.log
    for hidden in (secret, PASSWORD, admin.jar["__Host-notes"], replica.env.get("KEY", "test key")):
        assert hidden not in log
