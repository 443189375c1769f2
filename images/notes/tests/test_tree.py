"""Tests the tree of pages: order, moves, the trash, and who waits for the tree's lock."""

import threading
import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from tests.postgres import Postgres
from tests.replica import Client, Replica
from tests.workspace import page, space, titles

Person = Callable[[str], Client]


def test_the_tree_is_moved_and_ordered(admin: Client) -> None:
    home = space(admin)
    a, b, c = (page(admin, home, title) for title in "abc")
    assert titles(admin, home) == ["a", "b", "c"]
    admin.ok("POST", f"/api/v1/nodes/{c}/move", {"after_id": a})
    assert titles(admin, home) == ["a", "c", "b"]
    admin.ok("POST", f"/api/v1/nodes/{b}/move", {})
    assert titles(admin, home) == ["b", "a", "c"]
    for _ in range(14):  # until no number is free between two positions
        admin.ok("POST", f"/api/v1/nodes/{c}/move", {"after_id": b})
        admin.ok("POST", f"/api/v1/nodes/{a}/move", {"after_id": b})
    assert titles(admin, home) == ["b", "a", "c"]
    admin.ok("POST", f"/api/v1/nodes/{b}/move", {"parent_id": a})
    assert titles(admin, home, a) == ["b"]
    for below in (a, b):
        refused = admin.problem(422, "POST", f"/api/v1/nodes/{a}/move", json={"parent_id": below})
        assert refused["errors"][0]["field"] == "parent_id"
    admin.problem(422, "POST", f"/api/v1/nodes/{a}/move", json={"after_id": str(uuid4())})
    other = space(admin)
    admin.ok("POST", f"/api/v1/nodes/{a}/move", {"space_id": other})
    assert titles(admin, other) == ["a"]
    assert titles(admin, other, a) == ["b"]


def test_the_trash_gives_back_what_went_together(admin: Client) -> None:
    home = space(admin)
    a = page(admin, home, "a")
    b = page(admin, home, "b", parent_id=a)
    page(admin, home, "c", parent_id=b)
    admin.ok("DELETE", f"/api/v1/nodes/{b}")
    admin.ok("DELETE", f"/api/v1/nodes/{a}")
    assert titles(admin, home) == []
    assert [n["title"] for n in admin.ok("GET", f"/api/v1/spaces/{home}/trash")] == ["a", "b"]
    admin.ok("POST", f"/api/v1/nodes/{b}/restore")
    assert titles(admin, home) == ["b"]
    assert titles(admin, home, b) == ["c"]
    admin.problem(409, "DELETE", f"/api/v1/nodes/{b}?forever=true")
    admin.ok("DELETE", f"/api/v1/nodes/{a}?forever=true")
    admin.problem(404, "GET", f"/api/v1/nodes/{a}")
    admin.problem(404, "POST", f"/api/v1/nodes/{a}/restore")


def test_what_lies_in_the_trash_by_itself_outlives_its_parent(admin: Client) -> None:
    home = space(admin)
    a = page(admin, home, "a")
    b = page(admin, home, "b", parent_id=a)
    c = page(admin, home, "c", parent_id=b)
    for one in (c, b, a):
        admin.ok("DELETE", f"/api/v1/nodes/{one}")
    admin.ok("DELETE", f"/api/v1/nodes/{a}?forever=true")
    assert [n["title"] for n in admin.ok("GET", f"/api/v1/spaces/{home}/trash")] == ["b", "c"]
    admin.ok("DELETE", f"/api/v1/nodes/{b}?forever=true")
    admin.ok("POST", f"/api/v1/nodes/{c}/restore")
    assert titles(admin, home) == ["c"]


def test_a_page_does_not_become_readable_by_coming_back(admin: Client, person: Person) -> None:
    home = space(admin, everyone_role="viewer")
    a = page(admin, home, "a")
    b = page(admin, home, "b", parent_id=a)
    me = admin.ok("GET", "/api/v1/me")["id"]
    grants = [{"principal": me, "kind": "user", "role": "editor"}]
    admin.ok("PUT", f"/api/v1/nodes/{a}/permissions", {"grants": grants})
    eve = person("Eve")
    eve.problem(404, "GET", f"/api/v1/nodes/{b}")
    for one in (b, a):
        admin.ok("DELETE", f"/api/v1/nodes/{one}")
    admin.ok("POST", f"/api/v1/nodes/{b}/restore")
    assert titles(admin, home) == ["b"]
    eve.problem(404, "GET", f"/api/v1/nodes/{b}")
    assert admin.ok("GET", f"/api/v1/nodes/{b}/permissions") == grants


def until_waiting(postgres: Postgres, transactions: int) -> None:
    """Waits until so many transactions wait for locks."""
    deadline = time.monotonic() + 20
    waits = "SELECT DISTINCT pid FROM pg_locks WHERE NOT granted"
    with psycopg.connect(postgres.url("main"), autocommit=True) as conn:
        while conn.execute(waits).rowcount < transactions:
            assert time.monotonic() < deadline, "they do not wait"
            time.sleep(0.02)


@pytest.mark.parametrize(
    ("act", "body", "held", "meanwhile"),
    [
        ("spaces/{home}/nodes", {"title": "x", "parent_id": "{b}"}, "home", "TRASH"),
        ("nodes/{a}/move", {"parent_id": "{b}"}, "home", "TRASH"),
        # Without the parent's space in the request.
        ("nodes/{a}/move", {"parent_id": "{far}"}, "other", "TRASH"),
        ("nodes/{gone}/restore", None, "home", "DELETE"),
    ],
)
def test_who_has_waited_for_the_tree_looks_again(
    admin: Client, postgres: Postgres, act: str, body: Any, held: str, meanwhile: str
) -> None:
    places = {"home": space(admin), "other": space(admin)}
    places |= {name: page(admin, places["home"], name) for name in ("a", "b", "gone")}
    places["far"] = page(admin, places["other"], "far")
    admin.ok("DELETE", f"/api/v1/nodes/{places['gone']}")
    sent = {key: text.format(**places) for key, text in body.items()} if body else None
    answers = list[int]()

    def ask() -> None:
        answers.append(admin.post(f"/api/v1/{act.format(**places)}", json=sent).status_code)

    with psycopg.connect(postgres.url("main")) as conn:
        conn.execute("SELECT pg_advisory_xact_lock(71, hashtext(%s))", (places[held],))
        thread = threading.Thread(target=ask)
        thread.start()
        until_waiting(postgres, 1)
        if meanwhile == "DELETE":
            conn.execute("DELETE FROM nodes WHERE id = %s", (places["gone"],))
        else:
            conn.execute(
                "UPDATE nodes SET trashed_at = now(), trash_root = id WHERE id = ANY(%s::uuid[])",
                ([places["b"], places["far"]],),
            )
    thread.join()
    assert answers == [404]


def test_nobody_waits_until_the_files_of_a_page_are_deleted(
    replica: Replica, admin: Client, postgres: Postgres
) -> None:
    home = space(admin)
    gone = page(admin, home, "gone")
    admin.post(f"/api/v1/nodes/{gone}/uploads", files={"file": ("f", b"x", "text/plain")})
    admin.ok("DELETE", f"/api/v1/nodes/{gone}")
    answers = dict[str, int]()

    def ask(method: str, path: str) -> None:
        answers[method] = admin.request(method, f"/api/v1/nodes/{gone}{path}").status_code

    with psycopg.connect(postgres.url("main")) as conn, replica.client() as other:
        other.log_in()
        # Deleting takes as long as this lock is held.
        conn.execute("SELECT FROM attachments WHERE node_id = %s FOR UPDATE", (gone,))
        deletes = threading.Thread(target=ask, args=("DELETE", "?forever=true"))
        deletes.start()
        until_waiting(postgres, 1)
        page(other, home, "meanwhile")
        restores = threading.Thread(target=ask, args=("POST", "/restore"))
        restores.start()
        until_waiting(postgres, 2)
        conn.commit()
        deletes.join()
        restores.join()
    assert answers == {"DELETE": 204, "POST": 404}
    assert titles(admin, home) == ["meanwhile"]


def test_who_waits_for_the_tree_holds_no_page(admin: Client, postgres: Postgres) -> None:
    """Otherwise a transaction with the tree's lock that needs the page would deadlock."""
    home = space(admin)
    made = page(admin, home)
    url = f"/api/v1/nodes/{made}/permissions"
    sets = threading.Thread(target=admin.ok, args=("PUT", url, {"grants": []}))
    with psycopg.connect(postgres.url("main")) as conn:
        conn.execute("SELECT pg_advisory_xact_lock(71, hashtext(%s))", (home,))
        sets.start()
        until_waiting(postgres, 1)
        try:
            conn.execute("SELECT FROM nodes WHERE id = %s FOR UPDATE NOWAIT", (made,))
        finally:
            conn.rollback()
            sets.join()
