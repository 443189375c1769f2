"""Tests that a share link ends with the permissions under which it was made."""

from collections.abc import Callable

from tests.replica import Client
from tests.test_access import path_of
from tests.workspace import grant, page, space

Person = Callable[[str], Client]


def test_a_link_ends_when_the_permissions_of_its_page_are_replaced(
    admin: Client, person: Person, anybody: Client
) -> None:
    """Of the page itself, and of a page below that they apply to; its creator keeps the role."""
    bob, cid = person("Bob"), person("Cid")
    home = space(admin)
    top = page(admin, home, "Closed")
    below = page(admin, home, "Below", parent_id=top)
    path = f"/api/v1/nodes/{top}/permissions"
    grant(admin, path, editor=bob, viewer=cid)
    links = [path_of(bob.ok("POST", f"/api/v1/nodes/{one}/shares", {})) for one in (top, below)]
    grant(admin, path, editor=bob, viewer=cid)
    assert [anybody.get(one).status_code for one in links] == [200, 200], "they are the same"
    grant(admin, path, editor=bob)
    assert [anybody.get(one).status_code for one in links] == [404, 404]
    for node in (top, below):
        (listed,) = bob.ok("GET", f"/api/v1/nodes/{node}/shares")
        assert listed["holds"] is False
    # Neither the former permissions nor none bring it back.
    grant(admin, path, editor=bob, viewer=cid)
    assert [anybody.get(one).status_code for one in links] == [404, 404]
    admin.ok("PUT", path, {"grants": []})
    assert [anybody.get(one).status_code for one in links] == [404, 404]
    # A link that is made under the present permissions holds.
    made = path_of(admin.ok("POST", f"/api/v1/nodes/{below}/shares", {}))
    assert anybody.get(made).status_code == 200


def test_a_link_of_before_is_none_under_a_later_restriction(
    admin: Client, person: Person, anybody: Client
) -> None:
    bob, cid = person("Bob"), person("Cid")
    home = space(admin)
    made = page(admin, home, "Closed")
    path = f"/api/v1/nodes/{made}/permissions"
    grant(admin, path, editor=bob)
    link = path_of(admin.ok("POST", f"/api/v1/nodes/{made}/shares", {}))
    admin.ok("PUT", path, {"grants": []})
    assert anybody.get(link).status_code == 200, "the page is open"
    grant(admin, path, viewer=cid)
    assert anybody.get(link).status_code == 404
