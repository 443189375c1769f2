"""Tests that each hostile edit gets a clear refusal and changes no row of the page or of others."""

import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest

from notes.doc.attributes import Json
from tests.editing import HELLO, LINE, Editor, saved, typed
from tests.hostile_steps import FIELDS, STEPS, put
from tests.postgres import Postgres
from tests.replica import Client, Replica
from tests.workspace import grant, page, space

Person = Callable[[str], Client]
#: A refused editor gets the next turn, which changes nothing of the page (`notes.edits.turns`).
TURN = "- 'turn_of' - 'turn_until'"
KIND = {"content-type": "application/json"}


class Stage:
    """A page that Ada writes, which Bob reads and watches."""

    def __init__(self, admin: Client, bob: Client, postgres: Postgres) -> None:
        self.admin, self.bob, self.postgres = admin, bob, postgres
        self.home = space(admin)
        grant(admin, f"/api/v1/spaces/{self.home}/members", viewer=bob)
        self.node = page(admin, self.home, doc=HELLO)
        bob.ok("PUT", f"/api/v1/nodes/{self.node}/watch", {"on": True})
        self.editor = Editor(admin, self.node)
        self.last = self.editor.body(typed("oh "))
        self.editor.send(self.last)
        saved(admin, self.node, 2)
        self.editor.read()

    def rows(self) -> dict[str, Any]:
        """All rows of the space and its pages, of every table that has any."""
        listed = self.postgres.sql(
            "SELECT table_name::text, string_agg(column_name, ' ') FROM information_schema.columns"
            " WHERE table_schema = 'public' AND column_name IN ('node_id', 'from_node', 'space_id')"
            " GROUP BY 1 ORDER BY 1",
            "main",
        )
        pages = f"(SELECT id FROM nodes WHERE space_id = '{self.home}')"
        found = dict[str, Any]()
        for table, columns in listed:
            names = ("node_id", "from_node", "space_id")
            column = next(name for name in names if name in str(columns))
            ours = f"= '{self.home}'" if column == "space_id" else f"IN {pages}"
            query = f"SELECT to_jsonb(t)::text FROM (SELECT to_jsonb(o) {TURN} FROM {table} o"
            where = f" WHERE {column} {ours}"
            found[str(table)] = sorted(self.postgres.sql(f"{query}{where}) t", "main"))
        return found

    def seen(self) -> list[Any]:
        """The answers of the API about the page: its document, edits, versions, hits, news."""
        node = f"/api/v1/nodes/{self.node}"
        return [
            *(self.admin.ok("GET", f"{node}{part}") for part in ("", "/live", "/edits")),
            self.admin.ok("GET", f"{node}/revisions"),
            self.admin.ok("GET", "/api/v1/search?q=sneaked"),
            self.bob.ok("GET", "/api/v1/notifications"),
        ]


def mention(bob: Client) -> Json:
    """A step that would tell Bob, and be found by a search, if it were stored."""
    href = f"mention:{bob.user_id}"  # type: ignore[attr-defined]
    return typed("sneaked ", marks=[{"type": "link", "attrs": {"href": href}}])


@pytest.fixture
def own_stage(admin: Client, person: Person, postgres: Postgres) -> Stage:
    return Stage(admin, person("Bob"), postgres)


@pytest.fixture(scope="module")
def stage(replica: Replica, postgres: Postgres) -> Iterator[Stage]:
    """One page for all edits that are refused: each leaves it as it was."""
    with replica.client() as admin, replica.client() as bob:
        admin.log_in()
        who = {"email": "bob-hostile@example.org", "password": "password of mine"}
        bob.user_id = admin.ok("POST", "/api/v1/users", {**who, "name": "Bob"})["id"]  # type: ignore[attr-defined]
        bob.log_in(**who)
        yield Stage(admin, bob, postgres)


def judge(stage: Stage, send: Callable[[], Any], status: int, field: str | None) -> Json:
    """Sends an edit and compares all before and after; returns the refusal."""
    rows, seen = stage.rows(), stage.seen()
    assert {"nodes", "page_edits", "page_snapshots", "revisions"} <= {t for t in rows if rows[t]}
    answer = send()
    assert answer.status_code == status, answer.text[:500]
    assert answer.headers["content-type"] == "application/problem+json"
    problem: Json = answer.json()
    assert problem["status"] == status
    assert problem["detail"]
    if field is not None:
        assert [one["field"] for one in problem["errors"]][:1] == [field], problem
        assert all(one["message"] for one in problem["errors"])
    assert len(answer.content) < 5_000, "a refusal repeats what was sent"
    assert stage.rows() == rows
    assert stage.seen() == seen
    return problem


@pytest.mark.parametrize("name", STEPS)
def test_hostile_steps_are_refused_and_change_nothing(stage: Stage, name: str) -> None:
    steps, field = STEPS[name]
    alone = stage.editor.body() | {"steps": steps}
    judge(stage, lambda: stage.editor.send(alone), 422, field)
    if isinstance(steps, list) and field.startswith("steps[0]"):
        # Behind a step that is right: none of both is stored, and nobody gets news.
        after = stage.editor.body() | {"steps": [mention(stage.bob), *steps]}
        moved = judge(stage, lambda: stage.editor.send(after), 422, None)
        assert moved["errors"][0]["field"].startswith("steps[1]")


@pytest.mark.parametrize("name", FIELDS)
def test_hostile_fields_are_refused_and_change_nothing(stage: Stage, name: str) -> None:
    fields, field = FIELDS[name]
    body = stage.editor.body(mention(stage.bob)) | fields
    judge(stage, lambda: stage.editor.send(body), 422, field)


@pytest.mark.parametrize(
    ("name", "status"), [("NaN", 400), ("Infinity", 400), ("1e400", 422), ("1e3", 422)]
)
def test_numbers_that_are_no_positions_are_refused(stage: Stage, name: str, status: int) -> None:
    body = json.dumps(stage.editor.body(put(LINE, at="HERE"))).replace('"HERE"', name)
    url = f"{stage.editor.url}/edits"
    judge(stage, lambda: stage.admin.post(url, content=body, headers=KIND), status, None)


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b'{"steps":' + b"[" * 100_000, 400),
        (b'{"steps":' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400),
        (b'{"steps":[{"stepType":"replace","from":', 400),
        (b"\xff\xfe", 400),
        (b"[]", 422),
        (b'{"steps":["' + b"x" * 2_000_000 + b'"]}', 422),
        (b'{"steps":"' + b"x" * 2_000_000 + b'"}', 422),
        (b'{"steps":' + b"[" * 2_000_000, 422),
        (b'{"steps":[' + b"[]," * 5_000_000 + b"[]]}", 422),
        (b" " * 2_000_000 + b"{", 422),
        (b" " * 17_000_000, 413),
    ],
)
def test_contents_that_are_no_edits_are_refused(stage: Stage, content: bytes, status: int) -> None:
    url = f"{stage.editor.url}/edits"
    judge(stage, lambda: stage.admin.post(url, content=content, headers=KIND), status, None)


def test_edits_out_of_their_order_are_refused(own_stage: Stage) -> None:
    """Of one client: the next edit before the one that it is based on, and both on one base."""
    stage = own_stage
    editor = stage.editor
    first = editor.body(typed("first "))
    second = editor.body(typed("second "))
    early = second | {"base_seq": editor.seq + 1, "base_id": str(uuid4())}
    refused = judge(stage, lambda: editor.send(early), 409, "base_seq")
    assert refused["current"]["is_known"] is False
    assert (refused["current"]["seq"], refused["current"]["edits"]) == (editor.seq, [])
    # Both on one base: the one that comes first is stored, the other one is behind.
    base = editor.id
    stored = editor.send(second)
    assert stored.status_code == 200
    saved(stage.admin, stage.node, 3)
    behind = editor.send(first)
    assert behind.status_code == 409
    assert [one["n"] for one in behind.json()["current"]["edits"]] == [second["n"]]
    assert behind.json()["current"]["id"] == stored.json()["id"] != base
    assert text_of(stage) == "second oh hello"
    rebased = first | {"base_seq": stored.json()["seq"], "base_id": stored.json()["id"]}
    assert editor.send(rebased).status_code == 200
    saved(stage.admin, stage.node, 4)
    assert text_of(stage) == "first second oh hello"


def test_repeated_edits_are_stored_once(stage: Stage) -> None:
    rows, seen = stage.rows(), stage.seen()
    for _ in range(3):
        again = stage.editor.send(stage.last)
        assert (again.status_code, again.json()["seq"]) == (200, 1)
    assert (stage.rows(), stage.seen()) == (rows, seen)
    for changed in (
        {"steps": [mention(stage.bob)]},
        {"title": "sneaked"},
        {"base_id": str(uuid4())},
        {"base_seq": stage.editor.seq, "base_id": stage.editor.id},
    ):
        body = stage.last | changed
        judge(stage, lambda body=body: stage.editor.send(body), 409, "n")  # type: ignore[misc]


def test_an_edit_on_the_base_of_another_page_is_refused(stage: Stage) -> None:
    other = Editor(stage.admin, page(stage.admin, stage.home, doc=HELLO))
    other.write(typed("other "))
    saved(stage.admin, other.url.rpartition("/")[2], 2)
    rows = stage.rows()
    body = stage.editor.body(mention(stage.bob))
    taken = body | {"base_seq": other.seq, "base_id": other.id}
    answer = stage.editor.send(taken)
    assert answer.status_code == 409
    current = answer.json()["current"]
    assert (current["id"], current["is_known"]) == (stage.editor.id, False)
    assert current["edits"] == [], "a refusal shows the edits of another page"
    assert stage.rows() == rows


def test_an_edit_without_the_right_is_refused(
    stage: Stage, person: Person, anybody: Client
) -> None:
    eve, url = person("Eve"), f"{stage.editor.url}/edits"
    body = stage.editor.body(mention(stage.bob))
    for client, status in ((stage.bob, 403), (eve, 404), (anybody, 401)):
        judge(stage, lambda c=client: c.post(url, json=body), status, None)  # type: ignore[misc]
        # The number of an edit that is stored tells nothing, nor does a wrong step.
        for more in (stage.last, body | {"steps": [None]}):
            judge(stage, lambda c=client, m=more: c.post(url, json=m), status, None)  # type: ignore[misc]
    nowhere = url.replace(stage.node, str(uuid4()))
    judge(stage, lambda: stage.admin.post(nowhere, json=body), 404, None)
    origin = {"origin": "https://evil.example"}
    judge(stage, lambda: stage.admin.post(url, json=body, headers=origin), 403, None)


def text_of(stage: Stage) -> str:
    doc = stage.admin.ok("GET", f"{stage.editor.url}/live")["doc"]
    return "".join(one["text"] for one in doc["content"][0]["content"])
