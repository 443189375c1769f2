"""Tests that a page stays restricted when those to whom it was restricted are gone."""

from collections.abc import Callable

import psycopg
import pytest

from notes.db.migrate import migrations
from tests.postgres import Postgres
from tests.replica import Client
from tests.test_gained_access import group
from tests.workspace import grant, page, space

Person = Callable[[str], Client]
Way = Callable[[Client, str, str], None]


def _move_above(admin: Client, home: str, top: str) -> None:
    other = page(admin, home, "Other")
    admin.ok("POST", f"/api/v1/nodes/{top}/move", {"parent_id": other})


def _restrict_and_open_above(admin: Client, _: str, top: str) -> None:
    grant(admin, f"/api/v1/nodes/{top}/permissions")
    admin.ok("PUT", f"/api/v1/nodes/{top}/permissions", {"grants": []})


def _trash_and_restore_above(admin: Client, _: str, top: str) -> None:
    admin.ok("DELETE", f"/api/v1/nodes/{top}")
    admin.ok("POST", f"/api/v1/nodes/{top}/restore")


def _restored_to_the_top(admin: Client, _: str, top: str) -> None:
    """The page itself goes to the trash before the page above it, and comes back without it."""
    (made,) = (n["id"] for n in admin.ok("GET", _tree(admin, top)) if n["parent_id"] == top)
    for one in (made, top):
        admin.ok("DELETE", f"/api/v1/nodes/{one}")
    admin.ok("POST", f"/api/v1/nodes/{made}/restore")


def _tree(admin: Client, node: str) -> str:
    return f"/api/v1/spaces/{admin.ok('GET', f'/api/v1/nodes/{node}')['space_id']}/tree"


def restricted(admin: Client, home: str, only: str) -> tuple[str, str]:
    """A page, and one below it that a group alone may read."""
    top = page(admin, home, "Top")
    made = page(admin, home, "Closed", parent_id=top, markdown="closed words\n")
    grants = [{"principal": only, "kind": "group", "role": "viewer"}]
    admin.ok("PUT", f"/api/v1/nodes/{made}/permissions", {"grants": grants})
    return top, made


def is_closed(made: str, *clients: Client) -> bool:
    return all(client.get(f"/api/v1/nodes/{made}").status_code in {401, 404} for client in clients)


@pytest.mark.parametrize(
    "way",
    [_move_above, _restrict_and_open_above, _trash_and_restore_above, _restored_to_the_top],
)
def test_a_page_stays_closed_when_its_group_is_deleted(
    admin: Client, person: Person, anybody: Client, way: Way
) -> None:
    bob, ann = person("Bob"), person("Ann")
    home = space(admin)
    grant(admin, f"/api/v1/spaces/{home}/members", editor=bob)
    admin.ok("PATCH", f"/api/v1/spaces/{home}", {"public": True})
    only = group(admin, ann)["id"]
    top, made = restricted(admin, home, only)
    ann.ok("GET", f"/api/v1/nodes/{made}")
    assert is_closed(made, bob, anybody)
    admin.ok("DELETE", f"/api/v1/groups/{only}")
    assert is_closed(made, ann, bob, anybody)
    way(admin, home, top)
    assert is_closed(made, ann, bob, anybody)


def test_permissions_of_who_is_gone_are_kept_or_removed_by_a_manager(
    admin: Client, person: Person
) -> None:
    bob = person("Bob")
    home = space(admin)
    grant(admin, f"/api/v1/spaces/{home}/members", editor=bob)
    only = group(admin)["id"]
    top, made = restricted(admin, home, only)
    below = page(admin, home, "Below", parent_id=made)
    admin.ok("DELETE", f"/api/v1/groups/{only}")
    path = f"/api/v1/nodes/{made}/permissions"
    kept = admin.ok("GET", path)
    (shown,) = admin.ok("GET", f"/api/v1/nodes/{made}/access")["grants"]
    assert (shown["principal"], shown["name"]) == (only, None)
    # The dialog sends back what it has shown, also for a page below that gets its own.
    for one in (made, below):
        admin.ok("PUT", f"/api/v1/nodes/{one}/permissions", {"grants": kept})
    # Nobody gives a role to who is gone, nor as another kind.
    admin.problem(422, "PUT", f"/api/v1/nodes/{top}/permissions", json={"grants": kept})
    as_user = [{**kept[0], "kind": "user"}]
    admin.problem(422, "PUT", path, json={"grants": as_user})
    assert is_closed(made, bob)
    admin.ok("PUT", path, {"grants": []})
    bob.ok("GET", f"/api/v1/nodes/{made}")


def test_pages_that_had_lost_their_permissions_stay_closed(
    admin: Client, person: Person, postgres: Postgres
) -> None:
    bob = person("Bob")
    home = space(admin)
    grant(admin, f"/api/v1/spaces/{home}/members", editor=bob)
    top, made = restricted(admin, home, group(admin)["id"])
    with psycopg.connect(postgres.url("main"), autocommit=True) as conn:
        conn.execute("DELETE FROM node_permissions WHERE node_id = %s", (made,))
        [mends] = [one.sql for one in migrations() if one.name == "kept_restrictions"]
        for _ in range(2):
            conn.execute(mends.encode())
        count = "SELECT count(*) FROM node_permissions WHERE node_id = %s"
        assert conn.execute(count, (made,)).fetchone() == (1,)
        assert conn.execute(count, (top,)).fetchone() == (0,)
    _move_above(admin, home, top)
    assert is_closed(made, bob)
