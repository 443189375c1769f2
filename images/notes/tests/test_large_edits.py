"""Tests of edits that hold a large part of a page, and of those that two people make at once."""

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from notes.doc.attributes import Json
from notes.doc.schema import normalise
from tests.editing import HELLO, Editor, saved, typed
from tests.postgres import Postgres
from tests.replica import Client
from tests.workspace import page, space

MIB = 1024 * 1024


def text(words: str) -> Json:
    return {"type": "paragraph", "content": [{"type": "text", "text": words}]}


def table(rows: int) -> Json:
    """A table as the editor writes one that was pasted from a spreadsheet."""
    cell = {"type": "tableCell", "attrs": {"align": None}, "content": [text("some value 123")]}
    return {"type": "table", "content": [{"type": "tableRow", "content": [cell] * 10}] * rows}


def replacing(begin: int, end: int, *content: Json) -> Json:
    step: Json = {"stepType": "replace", "from": begin, "to": end}
    return step | ({"slice": {"content": list(content)}} if content else {})


def test_a_large_table_is_pasted_deleted_and_brought_back(admin: Client) -> None:
    node = page(admin, space(admin), doc=HELLO)
    editor = Editor(admin, node)
    pasted = replacing(0, 0, table(2_000))
    body = editor.body(pasted)
    first = editor.send(body)
    assert len(first.request.content) > 2 * MIB
    assert first.status_code == 200, first.text
    assert editor.send(body).json() == first.json(), "a repeat gets the answer of the first"
    editor.read()
    size = editor.doc.content[0].size
    editor.write(replacing(0, size))
    editor.write(pasted)
    editor.write(typed("more ", at=size + 1))
    found = saved(admin, node, 2)
    while "more hello" not in str(found["doc"]["content"][-1]):
        found = saved(admin, node, found["version"] + 1)
    assert len(found["doc"]["content"][0]["content"]) == 2_000
    other = Editor(admin, node)
    assert other.doc.json == editor.doc.json
    edits: list[Any] = []
    while len(edits) < 4:  # at most one large edit a list
        since = edits[-1]["seq"] if edits else 0
        edits += admin.ok("GET", f"{editor.url}/edits?since={since}")["edits"]
    assert [edit["seq"] for edit in edits] == [1, 2, 3, 4]


def test_large_steps_are_checked_before_they_are_read(admin: Client) -> None:
    node = page(admin, space(admin), doc=HELLO)
    editor = Editor(admin, node)
    wrong = replacing(0, 0, table(2_000), {"type": "heading", "attrs": {"level": 2.5}})
    many = replacing(0, 0, *[text("x")] * 60_000)
    for steps, field in (
        ([wrong], "steps[0].slice.content[1].attrs.level"),
        ([many], "steps[0]"),
        ([typed("x" * MIB), {"stepType": "no"}], "steps[1]"),
        ([typed("x" * 3_000)] * 501, "steps"),
    ):
        answer = editor.send(editor.body(*steps))
        assert answer.status_code == 422, answer.text
        assert answer.json()["errors"][0]["field"] == field
    assert admin.ok("GET", f"{editor.url}/live")["seq"] == 0


def test_a_person_without_the_right_sends_no_large_steps(admin: Client, person: Any) -> None:
    home = space(admin)
    node = page(admin, home, doc=HELLO)
    admin.ok("PATCH", f"/api/v1/spaces/{home}", {"public": True})
    editor = Editor(admin, node)
    body = editor.body(replacing(0, 0, table(2_000)))
    assert person("Eve").post(f"{editor.url}/edits", json=body).status_code == 403


def test_a_mention_in_large_steps_is_hidden_from_visitors(
    admin: Client, person: Callable[[str], Client]
) -> None:
    bob, eve, home = person("Bob"), person("Eve"), space(admin)
    node = page(admin, home, doc=HELLO)
    admin.ok("PATCH", f"/api/v1/spaces/{home}", {"public": True})
    editor = Editor(admin, node)
    user = bob.ok("GET", "/api/v1/me")["id"]
    link = {"type": "link", "attrs": {"href": f"mention:{user}"}}
    body = json.dumps(editor.body(typed("@Bob", marks=[link]), replacing(0, 0, text("x" * MIB))))
    escaped = body.replace("mention:", "\\u006dention:")
    answer = admin.post(
        f"{editor.url}/edits", content=escaped, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 200, answer.text
    assert user in admin.get(f"{editor.url}/edits").text
    for path in ("edits", "live"):
        shown = eve.get(f"{editor.url}/{path}").text
        assert "@Bob" in shown
        assert user not in shown


def test_two_footnotes_of_one_label_are_both_saved(admin: Client, postgres: Postgres) -> None:
    node = page(admin, space(admin), doc=HELLO)
    bob, eve = Editor(admin, node), Editor(admin, node)
    sign: Json = {"type": "footnoteReference", "attrs": {"label": "1"}}
    end = bob.doc.content_size
    for editor, words in ((bob, "of Bob"), (eve, "of Eve")):
        editor.name = str(uuid4())
        note = {"type": "footnote", "attrs": {"label": "1"}, "content": [text(words)]}
        editor.read()
        editor.write(replacing(editor.doc.content_size, editor.doc.content_size, note))
        editor.write(replacing(end - 1, end - 1, sign))
        end += 1
    found = saved(admin, node, 2)
    while "of Eve" not in str(found["doc"]):
        found = saved(admin, node, found["version"] + 1)
    notes = [one for one in found["doc"]["content"] if one["type"] == "footnote"]
    assert [one["attrs"]["label"] for one in notes] == ["1", "1-2"]
    assert normalise(found["doc"]) == found["doc"]
    editor = Editor(admin, node)
    editor.write(typed("still "))
