"""Tests the answers by which an editor must not send again what the server has accepted."""

from collections.abc import Callable

from notes.jobs.housekeeping import _STATEMENTS
from tests.editing import HELLO, Editor, saved, typed
from tests.postgres import Postgres
from tests.replica import Client
from tests.workspace import grant, page, space


def age(postgres: Postgres, node: str, database: str = "main") -> None:
    """Delete the edits of a page by their age, as the nightly job does."""
    for name in ("page_edits", "page_logs", "page_snapshots"):
        postgres.sql(
            f"UPDATE {name} SET at = at - interval '31 days' WHERE node_id = '{node}'", database
        )
    for statement in _STATEMENTS:
        if "page_edits" in statement or "page_snapshots" in statement:
            postgres.sql(
                f"BEGIN; SET LOCAL notes.housekeeping = 'on'; {statement}; COMMIT", database
            )


def test_a_base_that_was_deleted_by_age_is_too_old_and_not_lost(
    admin: Client, postgres: Postgres
) -> None:
    """An editor that goes back from a lost base would send its accepted edits again."""
    node = page(admin, space(admin), doc=HELLO)
    one = Editor(admin, node)
    one.write(typed("a"))
    one.write(typed("b"))
    saved(admin, node, 2)
    age(postgres, node)
    asked = f"{one.url}/edits?since={one.seq}&id={one.id}"
    assert admin.ok("GET", asked)["is_known"] is True
    Editor(admin, node).write(typed("c"))
    admin.problem(410, "GET", asked)
    assert one.send(one.body(typed("d"))).status_code == 410


def test_a_repeat_gets_the_first_answer_though_the_page_is_gone(admin: Client) -> None:
    """Its answer was lost; after a refusal the editor would send the same words as others."""
    node = page(admin, space(admin), doc=HELLO)
    one = Editor(admin, node)
    body = one.body(typed("mine "))
    first = one.send(body)
    assert first.status_code == 200
    admin.ok("DELETE", f"/api/v1/nodes/{node}")
    again = one.send(body)
    assert (again.status_code, again.json()) == (200, first.json())
    assert one.send({**body, "n": body["n"] + 1}).status_code == 404


def test_a_repeat_gets_the_first_answer_though_the_role_is_gone(
    admin: Client, person: Callable[[str], Client]
) -> None:
    home, bob = space(admin), person("Bob")
    node = page(admin, home, doc=HELLO)
    grant(admin, f"/api/v1/spaces/{home}/members", editor=bob)
    one = Editor(bob, node)
    body = one.body(typed("mine "))
    first = one.send(body)
    grant(admin, f"/api/v1/spaces/{home}/members", viewer=bob)
    again = one.send(body)
    assert (again.status_code, again.json()) == (200, first.json())
    assert one.send({**body, "n": body["n"] + 1}).status_code == 403
    # the number of another's edit tells nothing
    assert Editor(admin, node).send({**body, "base_seq": 0}).status_code == 409


def test_a_repeat_is_not_stored_again_after_its_edit_was_deleted_by_age(
    admin: Client, person: Callable[[str], Client], postgres: Postgres
) -> None:
    """A browser that comes back after weeks, and never had the answer: its words are there once."""
    home = space(admin)
    node = page(admin, home, doc=HELLO)
    one = Editor(admin, node)
    one.write(typed("a"))
    earlier = one.body(typed("b"))
    first = one.send(earlier).json()
    one.seq, one.id = first["seq"], first["id"]
    body = one.body(typed("c"))
    mine = one.send(body)
    saved(admin, node, 2)
    age(postgres, node)
    Editor(admin, node).write(typed("d"))
    again = one.send(body)
    assert (again.status_code, again.json()) == (200, mine.json())
    # what its browser does then: the edit is not in the log, so it reads the live document
    after = mine.json()
    admin.problem(410, "GET", f"{one.url}/edits?since={after['seq']}&id={after['id']}")
    one.read()
    text = str(admin.ok("GET", f"{one.url}/live")["doc"])
    assert "dcbahello" in text


def test_the_number_of_an_edit_that_was_deleted_by_age_is_used(
    admin: Client, person: Callable[[str], Client], postgres: Postgres
) -> None:
    home, bob = space(admin), person("Bob")
    grant(admin, f"/api/v1/spaces/{home}/members", editor=bob)
    node = page(admin, home, doc=HELLO)
    one = Editor(admin, node)
    [first, last] = [one.body(typed("a")), one.body(typed("b"))]
    for body in (first, last):
        made = one.send({**body, "base_seq": one.seq, "base_id": one.id}).json()
        one.seq, one.id = made["seq"], made["id"]
    saved(admin, node, 2)
    age(postgres, node)
    here = {"base_seq": one.seq, "base_id": one.id}
    for body in (first, last):
        assert "is another one" in one.send({**body, **here}).text
    # those of another person's editor are others
    other = Editor(bob, node)
    other.name = one.name
    other.write(typed("c"))
    one.read()
    one.write(typed("d"))


def test_what_is_known_of_a_deleted_edit_ends_after_a_year_or_with_its_page(
    admin: Client, postgres: Postgres
) -> None:
    home = space(admin)
    nodes = [page(admin, home, doc=HELLO) for _ in range(2)]
    for node in nodes:
        one = Editor(admin, node)
        for text in "ab":
            one.write(typed(text))
        saved(admin, node, 2)
        age(postgres, node)

    def known(node: str) -> list[object]:
        found = postgres.sql(f"SELECT n FROM pruned_edits WHERE node_id = '{node}'", "main")
        return [n for (n,) in found]

    assert [known(node) for node in nodes] == [[2], [2]]
    for node, days in zip(nodes, (366, 364), strict=True):
        postgres.sql(
            f"UPDATE pruned_edits SET at = at - interval '{days} days' WHERE node_id = '{node}'",
            "main",
        )
    for statement in _STATEMENTS:
        if "pruned_edits" in statement:
            postgres.sql(statement, "main")
    assert [known(node) for node in nodes] == [[], [2]]
    # edits that are still in the log go with their page, and leave nothing
    Editor(admin, nodes[1]).write(typed("c"))
    postgres.sql(f"DELETE FROM nodes WHERE id = '{nodes[1]}'", "main")
    assert known(nodes[1]) == []
