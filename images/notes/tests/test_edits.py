"""Tests of the edit log on two replicas: order, repeats, conflicts, saves, kills."""

from collections.abc import Callable
from uuid import uuid4

from tests.editing import HELLO, Editor, saved, typed
from tests.postgres import Postgres
from tests.replica import Client, Replica
from tests.workspace import grant, page, space

Person = Callable[[str], Client]
Start = Callable[..., Replica]


def test_an_edit_is_stored_once_and_saved_as_a_version(admin: Client) -> None:
    node = page(admin, space(admin), doc=HELLO)
    editor = Editor(admin, node)
    body = editor.body(typed("oh "), title="Another title")
    first, again = editor.send(body), editor.send(body)
    assert first.status_code == again.status_code == 200
    assert first.json() == again.json()
    assert first.json()["seq"] == 1
    other = admin.problem(409, "POST", f"{editor.url}/edits", json={**body, "title": "x"})
    assert other["errors"][0]["field"] == "n"
    live = admin.ok("GET", f"{editor.url}/live")
    assert (live["seq"], live["id"], live["title"]) == (1, first.json()["id"], "Another title")
    assert live["doc"]["content"][0]["content"][0]["text"] == "oh hello"
    found = saved(admin, node, 2)
    assert (found["title"], found["doc"]) == ("Another title", live["doc"])
    listed = admin.ok("GET", f"{editor.url}/edits")
    assert [edit["n"] for edit in listed["edits"]] == [body["n"]]
    found = admin.ok("GET", "/api/v1/search?q=oh")
    assert node in str(found)


def test_an_edit_that_is_behind_gets_what_it_missed(admin: Client) -> None:
    node = page(admin, space(admin), doc=HELLO)
    one, two = Editor(admin, node), Editor(admin, node)
    one.write(typed("a"))
    refused = two.client.problem(409, "POST", f"{two.url}/edits", json=two.body(typed("b")))
    missed = refused["current"]
    assert (missed["seq"], missed["is_known"], len(missed["edits"])) == (1, True, 1)
    two.take(missed["edits"])
    two.write(typed("b"))
    lost = two.body(typed("c")) | {"base_id": str(uuid4())}
    assert two.send(lost).json()["current"]["is_known"] is False
    ahead = two.body(typed("c")) | {"base_seq": 99}
    assert two.send(ahead).json()["current"]["is_known"] is False


def test_saves_and_editors_never_lose_each_other(admin: Client) -> None:
    node = page(admin, space(admin), doc=HELLO)
    editor = Editor(admin, node)
    url = f"/api/v1/nodes/{node}"
    editor.write(typed("first "))
    # The edit waits to be saved; a save that is based on the version before has to see it.
    stale = admin.problem(409, "PUT", url, json={"base_version": 1, "markdown": "mine"})
    theirs = stale["current"]["theirs"]
    assert theirs["doc"]["content"][0]["content"][0]["text"] == "first hello"
    admin.ok("PUT", url, {"base_version": theirs["version"], "markdown": "first hello, world"})
    late = editor.send(editor.body(typed("x")))
    assert late.status_code == 409
    editor.take(late.json()["current"]["edits"])
    assert editor.doc.json["content"][0]["content"][0]["text"] == "first hello, world"
    editor.write(typed("x"))
    found = saved(admin, node, theirs["version"] + 2)
    assert found["doc"]["content"][0]["content"][0]["text"] == "xfirst hello, world"
    moment = admin.ok("GET", f"{url}/edits/1")
    assert moment["doc"]["content"][0]["content"][0]["text"] == "first hello"
    admin.ok("POST", f"{url}/edits/0/restore", {"base_version": found["version"]})
    assert admin.ok("GET", f"{url}/live")["doc"] == HELLO
    admin.problem(404, "GET", f"{url}/edits/99")


def test_versions_of_ten_minutes_by_the_same_person_replace_each_other(
    admin: Client, person: Person, postgres: Postgres
) -> None:
    bob = person("Bob")
    home = space(admin)
    grant(admin, f"/api/v1/spaces/{home}/members", editor=bob)
    node = page(admin, home, doc=HELLO)

    def versions() -> list[int]:
        return [r["version"] for r in admin.ok("GET", f"/api/v1/nodes/{node}/revisions")]

    for number, text in enumerate("ab"):
        Editor(admin, node).write(typed(text))
        saved(admin, node, number + 2)
    assert versions() == [3, 1]
    Editor(bob, node).write(typed("c"))
    saved(admin, node, 4)
    assert versions() == [4, 3, 1]
    older = "UPDATE revisions SET begun_at = now() - interval '11 min'"
    postgres.sql(f"{older} WHERE node_id = '{node}'", "main")
    Editor(bob, node).write(typed("d"))
    saved(admin, node, 5)
    assert versions() == [5, 4, 3, 1]


def test_a_version_that_a_person_keeps_is_not_replaced(admin: Client, person: Person) -> None:
    home, bob, eve = space(admin), person("Bob"), person("Eve")
    grant(admin, f"/api/v1/spaces/{home}/members", viewer=bob)
    node = page(admin, home, doc=HELLO)
    kept = f"/api/v1/nodes/{node}/revisions"

    def versions() -> list[int]:
        return [r["version"] for r in admin.ok("GET", kept)]

    # A page without edits has nothing to save.
    assert admin.ok("POST", kept) == {"version": 1}
    editor = Editor(admin, node)
    editor.write(typed("a"))
    # At once: nobody waits until the edits are saved by themselves.
    assert admin.ok("POST", kept) == {"version": 2}
    assert admin.ok("POST", kept) == {"version": 2}
    found = admin.ok("GET", f"{kept}/2")
    assert found["doc"]["content"][0]["content"][0]["text"] == "ahello"
    for number, text in enumerate("bc"):
        editor.write(typed(text))
        saved(admin, node, number + 3)
    assert versions() == [4, 2, 1]
    # The audit log has who keeps a version, once.
    noted = admin.ok("GET", f"/api/v1/audit?node_id={node}")
    found = [(one["actor_name"], one["detail"]) for one in noted if one["action"] == "page.kept"]
    assert found == [("Ada", {"version": 2})]
    bob.problem(403, "POST", kept)
    eve.problem(404, "POST", kept)
    admin.ok("DELETE", f"/api/v1/nodes/{node}")
    admin.problem(404, "POST", kept)


def test_hostile_edits_change_nothing(admin: Client, person: Person) -> None:
    home = space(admin)
    bob, eve = person("Bob"), person("Eve")
    grant(admin, f"/api/v1/spaces/{home}/members", viewer=bob)
    node = page(admin, home, doc=HELLO)
    editor = Editor(admin, node)
    code = {"type": "link", "attrs": {"href": "javascript:alert(1)"}}
    for steps, field in (
        ([typed("x", marks=[code])], "steps[0].slice.content[0].marks[0].attrs.href"),
        ([typed("x"), typed("y", 100)], "steps[1]"),
        ([typed("x")] * 501, "steps"),
        ([{"stepType": "replace", "from": 0, "to": 7}], "steps[0]"),
    ):
        refused = admin.problem(422, "POST", f"{editor.url}/edits", json=editor.body(*steps))
        assert refused["errors"][0]["field"] == field
    deep = f'{{"steps": {"[" * 100_000}'
    kind = {"content-type": "application/json"}
    answer = admin.post(f"{editor.url}/edits", content=deep, headers=kind)
    assert answer.status_code in {400, 422}
    bob.problem(403, "POST", f"{editor.url}/edits", json=editor.body(typed("x")))
    eve.problem(404, "POST", f"{editor.url}/edits", json=editor.body(typed("x")))
    eve.problem(404, "GET", f"{editor.url}/live")
    foreign = Editor(admin, page(admin, home, doc=HELLO))
    lost = foreign.body(typed("x")) | {"base_id": str(uuid4())}
    assert foreign.send(lost).status_code == 409
    assert admin.ok("GET", f"{editor.url}/live")["seq"] == 0
    # Another person's numbers are their own.
    grant(admin, f"/api/v1/spaces/{home}/members", editor=bob)
    taken = editor.body(typed("his "))
    assert bob.post(f"{editor.url}/edits", json=taken).status_code == 200
    assert editor.send(taken).status_code == 409
    admin.ok("DELETE", editor.url)
    admin.problem(404, "POST", f"{editor.url}/edits", json=editor.body(typed("x")))


def test_a_copy_of_a_page_has_what_was_written_a_moment_ago(admin: Client) -> None:
    home = space(admin)
    editor = Editor(admin, page(admin, home, doc=HELLO))
    editor.write(typed("oh "))
    node = editor.url.rpartition("/")[2]
    made = admin.ok("GET", f"/api/v1/nodes/{page(admin, home, 'Copy', template_id=node)}")
    assert made["doc"]["content"][0]["content"][0]["text"] == "oh hello"
