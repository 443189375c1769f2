"""Tests who learns that a page has left them: those who could read it, and nobody else."""

import time
from collections.abc import Callable
from typing import Any

from tests.replica import Client
from tests.test_events import Stream, listening, space_of_two
from tests.test_gained_access import give, group
from tests.workspace import grant, page

Person = Callable[[str], Client]


def lefts(stream: Stream, count: int) -> list[dict[str, Any]]:
    """The pages that have left by a stream, once there was time for more of them."""
    stream.wait("page.left", count)
    time.sleep(0.4)
    return [e["data"] for e in stream.events if e["event"] == "page.left"]


def is_quiet(stream: Stream) -> bool:
    return [e["event"] for e in stream.events] == ["hello"]


def test_who_loses_a_page_to_its_own_permissions_learns_it(admin: Client, person: Person) -> None:
    bob, eve = person("Bob"), person("Eve")
    home = space_of_two(admin, bob)
    made = page(admin, home, "Board")
    below = page(admin, home, "Minutes", parent_id=made)
    with listening(bob) as his, listening(eve) as hers:
        grant(admin, f"/api/v1/nodes/{made}/permissions")
        bob.problem(404, "GET", f"/api/v1/nodes/{below}")
        assert lefts(his, 1) == [{"space_id": home, "node_id": made}]
        assert [e["event"] for e in his.events] == ["hello", "page.left"]
        assert is_quiet(hers)


def test_who_is_taken_from_a_list_learns_it(admin: Client, person: Person) -> None:
    bob, eve, carl, dora = (person(name) for name in ("Bob", "Eve", "Carl", "Dora"))
    home = space_of_two(admin, bob)
    made = page(admin, home, "Board")
    path = f"/api/v1/nodes/{made}/permissions"
    friends, others = group(admin, carl, dora), group(admin, dora)
    give(admin, path, friends, others, viewer=eve)
    with (
        listening(admin) as mine,
        listening(bob) as his,
        listening(eve) as hers,
        listening(carl) as carls,
        listening(dora) as doras,
    ):
        give(admin, path, others)
        for stream in (hers, carls):
            assert lefts(stream, 1) == [{"space_id": home, "node_id": made}]
        for stream in (mine, doras):
            assert [e["event"] for e in stream.events] == ["hello", "page.permissions"]
        assert is_quiet(his)
        # Those of the space apply again: who is not in it has lost the page.
        admin.ok("PUT", path, {"grants": []})
        assert lefts(doras, 1) == [{"space_id": home, "node_id": made}]
        his.wait("page.permissions")
        assert not [e for e in (*mine.events, *his.events) if e["event"] == "page.left"]


def test_who_loses_a_page_by_its_move_learns_it(admin: Client, person: Person) -> None:
    bob, eve = person("Bob"), person("Eve")
    home = space_of_two(admin, bob)
    board, open_one = page(admin, home, "Board"), page(admin, home, "Plan")
    grant(admin, f"/api/v1/nodes/{board}/permissions", viewer=eve)
    with listening(bob) as his, listening(eve) as hers:
        admin.ok("POST", f"/api/v1/nodes/{open_one}/move", {"parent_id": board})
        hers.wait("page.moved")
        assert lefts(his, 1) == [{"space_id": home, "node_id": open_one}]
        assert not [e for e in hers.events if e["event"] == "page.left"]
        admin.ok("POST", f"/api/v1/nodes/{open_one}/move", {"parent_id": None})
        his.wait("page.moved")
        assert lefts(hers, 1) == [{"space_id": home, "node_id": open_one}]
        # A move among those beside it takes nothing from anybody.
        before = len(his.events)
        after = {"parent_id": None, "after_id": board}
        admin.ok("POST", f"/api/v1/nodes/{open_one}/move", after)
        his.wait("page.moved", 2)
        time.sleep(0.4)
        assert len(his.events) == before + 1
