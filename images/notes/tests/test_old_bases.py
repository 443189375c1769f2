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
