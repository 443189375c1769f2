"""Tests the first edit of a page: its base is a content, not only a version's number."""

from collections.abc import Callable

from tests.editing import HELLO, Editor, typed
from tests.postgres import Postgres, database_in
from tests.replica import Client, Replica
from tests.workspace import page, space

Start = Callable[..., Replica]


def forget(postgres: Postgres, database: str, node: str) -> None:
    """Loses the second version of a page, as a failover that loses transactions does."""
    columns = "title, doc, body_text, search, updated_at, version"
    old = "r.title, r.doc, '', ''::tsvector, r.created_at, r.version"
    postgres.sql(
        f"UPDATE nodes SET ({columns}) = (SELECT {old} FROM revisions r"
        f" WHERE r.node_id = '{node}' AND r.version = 1) WHERE id = '{node}'",
        database,
    )
    postgres.sql(f"DELETE FROM revisions WHERE node_id = '{node}' AND version = 2", database)


def lost(postgres: Postgres, replica: Replica, client: Client) -> tuple[Editor, str]:
    """An editor of a version that was lost, and the page: another version has its number."""
    node = page(client, space(client), doc=HELLO)
    url = f"/api/v1/nodes/{node}"
    client.ok("PUT", url, {"base_version": 1, "markdown": "a version that is lost"})
    editor = Editor(client, node)
    forget(postgres, database_in(replica.database_url), node)
    client.ok("PUT", url, {"base_version": 1, "markdown": "a version in its place"})
    return editor, node


def test_an_edit_of_a_lost_version_is_not_accepted_upon_another(
    postgres: Postgres, own_replica: Start
) -> None:
    replica = own_replica()
    with replica.client() as client:
        editor, node = lost(postgres, replica, client.set_up())
        refused = client.problem(
            409, "POST", f"{editor.url}/edits", json=editor.body(typed("X", at=10))
        )
        assert refused["current"]["is_known"] is False
        assert client.ok("GET", f"/api/v1/nodes/{node}/live")["seq"] == 0
        place = {"tab": editor.name, "is_here": True}
        assert client.ok("POST", f"{editor.url}/presence", place)["id"] != editor.id


def test_the_base_of_the_first_edit_stays_known_by_its_content(
    postgres: Postgres, own_replica: Start
) -> None:
    replica = own_replica()
    with replica.client() as client:
        editor, node = lost(postgres, replica, client.set_up())
        other = Editor(client, node)
        base = other.id
        other.write(typed("Y"))
        url = f"{editor.url}/edits?since=0&id="
        assert client.ok("GET", url + base)["is_known"] is True
        assert client.ok("GET", url + editor.id)["is_known"] is False
