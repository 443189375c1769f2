"""Tests pages that are made under a key of the client, as a browser does that was offline."""

import hashlib
import threading
from collections.abc import Callable
from uuid import UUID, uuid4

from tests.replica import Client, Replica
from tests.workspace import grant, page, space, titles

Person = Callable[[str], Client]


def own_id(user_id: str, key: str) -> str:
    """The id that a browser expects: the same sum as its script makes."""
    begin = bytearray(UUID(key).bytes[:8])
    begin[6] = 0x80 | begin[6] & 0x0F
    end = bytearray(hashlib.sha256(b"own id" + UUID(user_id).bytes + bytes(begin)).digest()[:8])
    end[0] = 0x80 | end[0] & 0x3F
    return str(UUID(bytes=bytes(begin + end)))


def test_a_repeated_page_is_made_once_with_the_id_of_its_key(
    replica: Replica, admin: Client
) -> None:
    home, key = space(admin), str(uuid4())
    ids = list[str]()

    def send() -> None:
        with replica.client() as client:
            client.jar.update(admin.jar)
            ids.append(page(client, home, "Once", key=key))

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    me = admin.ok("GET", "/api/v1/me")["id"]
    assert ids == [own_id(me, key)] * 4
    assert titles(admin, home) == ["Once"]
    assert admin.ok("POST", "/api/v1/repeats/known", {"keys": [key]})["keys"] == [key]


def test_a_repeat_finds_the_page_where_it_is_now(admin: Client) -> None:
    home, other, key = space(admin), space(admin), str(uuid4())
    made = page(admin, home, "Moved", key=key)
    admin.ok("POST", f"/api/v1/nodes/{made}/move", {"space_id": other})
    assert page(admin, home, "Moved", key=key) == made
    assert titles(admin, home) == []
    admin.ok("DELETE", f"/api/v1/nodes/{made}")
    assert page(admin, home, "Moved", key=key) == made
    assert titles(admin, other) == []


def test_a_page_that_was_deleted_is_not_made_again(admin: Client) -> None:
    home, key = space(admin), str(uuid4())
    made = page(admin, home, key=key)
    admin.ok("DELETE", f"/api/v1/nodes/{made}")
    admin.ok("DELETE", f"/api/v1/nodes/{made}?forever=true")
    body = {"title": "Again", "key": key}
    admin.problem(410, "POST", f"/api/v1/spaces/{home}/nodes", json=body)
    assert titles(admin, home) == []


def test_nobody_takes_the_id_of_another_persons_page(admin: Client, person: Person) -> None:
    bob, eve = person("Bob"), person("Eve")
    home, key = space(admin), str(uuid4())
    grant(admin, f"/api/v1/spaces/{home}/members", editor=bob)
    made = page(bob, home, key=key)
    hers = space(eve)
    assert page(eve, hers, key=key) != made
    assert titles(eve, hers) == ["A page"]


def test_a_refused_page_is_made_when_the_right_is_back(admin: Client, person: Person) -> None:
    bob = person("Bob")
    home, key = space(admin), str(uuid4())
    body = {"title": "Late", "key": key}
    bob.problem(404, "POST", f"/api/v1/spaces/{home}/nodes", json=body)
    assert bob.ok("POST", "/api/v1/repeats/known", {"keys": [key]})["keys"] == []
    grant(admin, f"/api/v1/spaces/{home}/members", editor=bob)
    made = page(bob, home, "Late", key=key)
    # Who has lost the right since learns nothing of the page.
    grant(admin, f"/api/v1/spaces/{home}/members")
    bob.problem(404, "POST", f"/api/v1/spaces/{home}/nodes", json=body)
    assert titles(admin, home) == ["Late"]
    assert made == own_id(bob.user_id, key)  # type: ignore[attr-defined]
