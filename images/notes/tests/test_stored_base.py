"""Tests the base of a saved document: steps on a copy of it, kept by a browser, lose nothing."""

from collections.abc import Callable

from notes.doc.attributes import Json
from notes.jobs.housekeeping import _STATEMENTS
from notes.steps.reading import document
from tests.editing import HELLO, Editor, saved, typed
from tests.postgres import Postgres, database_in
from tests.replica import Client, Replica
from tests.test_first_edit import forget
from tests.test_lost_saves import text_of
from tests.workspace import page, space

Start = Callable[..., Replica]


class Offline(Editor):
    """An editor that begins from a stored page, as a browser without a network does."""

    def read(self) -> None:
        self.found = self.client.ok("GET", self.url)
        self.seq, self.id = self.found["edit"]["seq"], self.found["edit"]["id"]
        self.doc = document(self.found["doc"])

    def missed(self) -> Json:
        """Sends an edit that is behind; what the server says of its base."""
        missed: Json = self.client.problem(
            409, "POST", f"{self.url}/edits", json=self.body(typed("mine "))
        )["current"]
        return missed

    def come_back(self) -> None:
        """Sends an edit that is behind, then upon what it missed."""
        missed = self.missed()
        assert missed["is_known"]
        self.take(missed["edits"])
        self.write(typed("mine "))


def text(client: Client, node: str) -> str:
    return text_of(client.ok("GET", f"/api/v1/nodes/{node}/live")["doc"])


def test_a_page_without_edits_has_the_base_of_its_first_edit(admin: Client) -> None:
    node = page(admin, space(admin), doc=HELLO)
    Offline(admin, node).write(typed("mine "))
    assert text(admin, node) == "mine hello"
    other = page(admin, space(admin), doc=HELLO)
    offline = Offline(admin, other)
    Editor(admin, other).write(typed("theirs "))
    offline.come_back()
    assert text(admin, other) == "mine theirs hello"
    assert admin.ok("POST", f"/api/v1/spaces/{space(admin)}/nodes", {"title": "x"}, 201)["edit"]


def waiting(client: Client, node: str, editor: Editor) -> Offline:
    """An editor that begins from the saved page while edits wait."""
    for _ in range(20):
        editor.write(typed("waits "))
        offline = Offline(client, node)
        # On a busy machine the edit may have been saved before the page was read.
        if offline.seq < editor.seq:
            return offline
    raise AssertionError("no edit waits")


def test_the_base_is_that_of_the_saved_document_while_edits_wait(admin: Client) -> None:
    node = page(admin, space(admin), doc=HELLO)
    editor = Editor(admin, node)
    first = {"seq": editor.seq, "id": editor.id}
    unsaved = waiting(admin, node, editor)
    assert unsaved.seq > 0 or unsaved.found["edit"] == first
    assert text_of(unsaved.found["doc"]) == "waits " * unsaved.seq + "hello"
    saved(admin, node, 2)
    offline = waiting(admin, node, editor)
    assert offline.seq > 0
    listed = admin.ok("GET", f"{editor.url}/edits")["edits"]
    assert offline.id == listed[offline.seq - 1]["id"]
    assert text_of(offline.found["doc"]) == "waits " * offline.seq + "hello"
    offline.come_back()
    assert text(admin, node) == "mine " + "waits " * editor.seq + "hello"


def test_the_base_after_saves(admin: Client) -> None:
    node = page(admin, space(admin), doc=HELLO)
    url = f"/api/v1/nodes/{node}"
    editor = Editor(admin, node)
    editor.write(typed("first "))
    found = saved(admin, node, 2)
    assert found["edit"] == {"seq": 1, "id": editor.id}
    offline = Offline(admin, node)
    editor.write(typed("waits "))
    offline.come_back()
    assert text(admin, node) == "mine waits first hello"
    version = saved(admin, node, 3)["version"]
    while True:
        answer = admin.put(url, json={"base_version": version, "markdown": "by the API"})
        if answer.status_code != 409:
            break
        version = answer.json()["current"]["theirs"]["version"]
    assert answer.status_code == 200
    after = Offline(admin, node)
    assert after.found["edit"] == {
        key: admin.ok("GET", f"{url}/live")[key] for key in ("seq", "id")
    }
    after.write(typed("mine "))
    assert text(admin, node) == "mine by the API"


def test_a_document_that_is_not_exactly_the_log_s_has_no_base(admin: Client) -> None:
    node = page(admin, space(admin), doc=HELLO)
    editor = Editor(admin, node)
    empty = {"content": [{"type": "paragraph"}]}
    editor.write({"stepType": "replace", "from": 7, "to": 7, "slice": empty}, title="Saved")
    found = saved(admin, node, 2)
    assert len(found["doc"]["content"]) == 1
    assert found["edit"] is None
    assert len(admin.ok("GET", f"/api/v1/nodes/{node}/live")["doc"]["content"]) == 2


def test_the_base_of_a_version_that_was_lost_is_unknown(
    postgres: Postgres, own_replica: Start
) -> None:
    replica = own_replica()
    with replica.client() as client:
        node = page(client.set_up(), space(client), doc=HELLO)
        url = f"/api/v1/nodes/{node}"
        client.ok("PUT", url, {"base_version": 1, "markdown": "a version that is lost"})
        offline = Offline(client, node)
        forget(postgres, database_in(replica.database_url), node)
        client.ok("PUT", url, {"base_version": 1, "markdown": "a version in its place"})
        assert offline.missed()["is_known"] is False
        assert text(client, node) == "a version in its place"
        Offline(client, node).write(typed("mine "))
        assert text(client, node) == "mine a version in its place"


def test_the_base_of_lost_edits_is_unknown(postgres: Postgres, own_replica: Start) -> None:
    replica = own_replica()
    with replica.client() as client:
        node = page(client.set_up(), space(client), doc=HELLO)
        editor = Editor(client, node)
        editor.write(typed("lost "))
        saved(client, node, 2)
        offline = Offline(client, node)
        database = database_in(replica.database_url)
        for table in ("page_edits", "page_logs", "page_snapshots"):
            postgres.sql(f"DELETE FROM {table} WHERE node_id = '{node}'", database)
        forget(postgres, database, node)
        Editor(client, node).write(typed("new "))
        assert (offline.seq, offline.missed()["is_known"]) == (1, False)
        assert text(client, node) == "new hello"


def test_a_copy_that_is_older_than_the_log_is_refused(
    postgres: Postgres, own_replica: Start
) -> None:
    replica = own_replica()
    with replica.client() as client:
        node = page(client.set_up(), space(client), doc=HELLO)
        offline = Offline(client, node)
        editor = Editor(client, node)
        editor.write(typed("one "))
        saved(client, node, 2)
        database = database_in(replica.database_url)
        for table, column in (("page_edits", "at"), ("page_logs", "at"), ("page_snapshots", "at")):
            postgres.sql(f"UPDATE {table} SET {column} = now() - interval '40 days'", database)
        for statement in _STATEMENTS:
            if "page_" in statement:
                postgres.sql(statement, database)
        client.problem(410, "POST", f"{offline.url}/edits", json=offline.body(typed("mine ")))
        # The last state stays, and its base is known though its edit is not kept.
        again = Offline(client, node)
        assert again.found["edit"] == {"seq": 1, "id": editor.id}
        again.write(typed("mine "))
        assert text(client, node) == "mine one hello"


def test_a_visitor_gets_no_base(admin: Client, person: Callable[[str], Client]) -> None:
    home = space(admin)
    admin.ok("PATCH", f"/api/v1/spaces/{home}", {"public": True})
    node = page(admin, home, doc=HELLO)
    assert person("eve").ok("GET", f"/api/v1/nodes/{node}")["edit"] is None
