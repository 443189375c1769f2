"""Tests who learns that a page or space has left them: those who could read it, and nobody else."""

import time
from collections.abc import Callable
from typing import Any

from tests.replica import Client
from tests.test_events import Stream, listening, space_of_two
from tests.test_gained_access import fill, give, group
from tests.workspace import grant, page, space

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
        assert lefts(his, 1) == [{"space_id": home}]
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
        assert lefts(his, 1) == [{"space_id": home}]
        assert not [e for e in hers.events if e["event"] == "page.left"]
        admin.ok("POST", f"/api/v1/nodes/{open_one}/move", {"parent_id": None})
        his.wait("page.moved")
        assert lefts(hers, 1) == [{"space_id": home}]
        # A move among those beside it takes nothing from anybody.
        before = len(his.events)
        after = {"parent_id": None, "after_id": board}
        admin.ok("POST", f"/api/v1/nodes/{open_one}/move", after)
        his.wait("page.moved", 2)
        time.sleep(0.4)
        assert len(his.events) == before + 1


def test_who_comes_later_learns_no_page_that_had_left_before(admin: Client, person: Person) -> None:
    bob, eve = person("Bob"), person("Eve")
    home, other = space_of_two(admin, bob), space(admin)
    restricted, moved = page(admin, home, "Board"), page(admin, home, "Plan")
    with listening(eve) as hers:
        before = hers.events[0]["id"]
    grant(admin, f"/api/v1/nodes/{restricted}/permissions")
    admin.ok("POST", f"/api/v1/nodes/{moved}/move", {"space_id": other})
    grant(admin, f"/api/v1/spaces/{home}/members", viewer=eve)
    with listening(eve, last=before) as hers:
        assert lefts(hers, 2) == [{"space_id": home}] * 2
        named = [e["data"].get("node_id") for e in hers.events]
        assert not {restricted, moved} & set(named), hers.events


def members(stream: Stream, count: int = 1) -> list[dict[str, Any]]:
    """The changes of members by a stream."""
    stream.wait("space.members", count)
    return [e["data"] for e in stream.events if e["event"] == "space.members"]


def test_who_is_removed_from_a_space_learns_it(admin: Client, person: Person) -> None:
    bob, carl = person("Bob"), person("Carl")
    home = space(admin)
    path = f"/api/v1/spaces/{home}/members"
    friends = group(admin, carl)
    for removed, way in ((bob, "one"), (carl, "one"), (bob, "all"), (carl, "all")):
        give(admin, path, friends, viewer=bob)
        with listening(removed) as stream:
            place = stream.events[0]["id"]
            time.sleep(0.4)
            if way == "one":
                one = bob.user_id if removed is bob else friends["id"]  # type: ignore[attr-defined]
                admin.ok("DELETE", f"{path}/{one}")
            else:
                grant(admin, path)
            # A browser that has lost the connection before learns it when it is back.
            stream.wait("reset")
        with listening(removed, last=place) as stream:
            assert members(stream)[-1] == {"space_id": home}
            removed.problem(404, "GET", f"/api/v1/spaces/{home}")


def test_who_is_removed_from_a_group_learns_it(admin: Client, person: Person) -> None:
    carl, dora = person("Carl"), person("Dora")
    home = space(admin)
    made = page(admin, home, "Board")
    friends = group(admin, carl, dora)
    give(admin, f"/api/v1/nodes/{made}/permissions", friends)
    with listening(carl) as carls, listening(dora) as doras:
        carl.ok("GET", f"/api/v1/nodes/{made}")
        fill(admin, friends, dora)
        carl.problem(404, "GET", f"/api/v1/nodes/{made}")
        assert members(carls) == [{}]
        assert is_quiet(doras)
        admin.ok("DELETE", f"/api/v1/groups/{friends['id']}")
        assert members(doras) == [{}]
        assert len(members(carls)) == 1
