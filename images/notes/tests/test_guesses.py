"""Tests the limits of failed sign-ins and of failed attempts at a link's password."""

from collections.abc import Callable

from tests.replica import Client, Replica
from tests.workspace import page, space

Person = Callable[[str], Client]
OWN = "password of mine"


def path_of(share: dict[str, str]) -> str:
    return share["url"].removeprefix("https://notes.example.org")


def test_guesses_from_many_addresses_are_limited_and_the_owner_still_gets_in(
    replica: Replica, person: Person
) -> None:
    bob = person("Bob")
    email = bob.ok("GET", "/api/v1/me")["email"]
    guess = {"email": email, "password": "a guess"}

    def ask(number: int) -> int:
        headers = {"x-forwarded-for": f"172.20.{number // 250}.{number % 250}"}
        with replica.client(headers=headers) as stranger:
            return stranger.post("/api/v1/session", json=guess).status_code

    codes = [ask(number) for number in range(53)]
    assert codes == [401] * 50 + [429] * 3
    right = {"email": email, "password": OWN}
    elsewhere = {"x-forwarded-for": "172.21.0.1"}
    # The right password from an unknown address is refused too, like a guess.
    with replica.client(headers=elsewhere) as stranger:
        stranger.problem(429, "POST", "/api/v1/session", json=right)
    # A browser that has signed in before, at any address, signed out or not.
    bob.ok("DELETE", "/api/v1/session")
    moved = bob.post("/api/v1/session", json=right, headers=elsewhere)
    assert moved.status_code == 200
    # Another browser at an address from which the owner is signed in.
    with replica.client(headers=elsewhere) as other:
        other.log_in(email, OWN)
    # Its cookie grants no access, is of no use for other accounts, and limits guesses too.
    mark = {"__Host-known": bob.jar["__Host-known"]}
    with replica.client(headers={"x-forwarded-for": "172.22.0.1"}) as thief:
        thief.jar.update(mark)
        codes = [thief.post("/api/v1/session", json=guess).status_code for _ in range(11)]
        assert codes == [401] * 10 + [429]
    for damage in (
        "0" + mark["__Host-known"],
        mark["__Host-known"][:-1] + "x",
        "1.2",
        "",
        "1.a.b.c",
    ):
        with replica.client(headers={"x-forwarded-for": "172.22.0.2"}) as forger:
            forger.jar["__Host-known"] = damage
            forger.problem(429, "POST", "/api/v1/session", json=right)


def test_guesses_at_a_links_password_from_many_addresses_are_limited(
    replica: Replica, admin: Client, anybody: Client
) -> None:
    made = page(admin, space(admin), "Guessed at", markdown="guarded words\n")
    share = admin.ok("POST", f"/api/v1/nodes/{made}/shares", {"password": "open sesame"}, 201)
    path = path_of(share)
    codes = list[int]()
    for number in range(102):
        headers = {"x-forwarded-for": f"172.23.0.{number}"}
        with replica.client(headers=headers) as stranger:
            codes.append(stranger.post(path, data={"password": "wrong"}).status_code)
    assert codes == [403] * 100 + [429] * 2
    assert anybody.post(path, data={"password": "open sesame"}).status_code == 429
