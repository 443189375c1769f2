"""Tests of the edit log on two replicas: order, repeats, conflicts, saves, kills."""

import itertools
import random
import threading
import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import httpx
import pytest

from notes.doc.attributes import Json
from notes.doc.schema import normalise
from notes.steps.model import StepError
from notes.steps.reading import document
from notes.steps.step_json import apply_all, step_from
from tests.postgres import Postgres
from tests.random_steps import Chance
from tests.replica import Client, Replica
from tests.workspace import grant, page, space

Person = Callable[[str], Client]
Start = Callable[..., Replica]
LINE = {"type": "paragraph", "content": [{"type": "text", "text": "hello"}]}
HELLO = {"type": "doc", "content": [LINE]}


def typed(text: str, at: int = 1, **marks: Any) -> Json:
    node = {"type": "text", "text": text, **marks}
    return {"stepType": "replace", "from": at, "to": at, "slice": {"content": [node]}}


class Editor:
    """An editor of one page: its document and its place in the log."""

    def __init__(self, client: Client, node: str) -> None:
        self.client, self.url = client, f"/api/v1/nodes/{node}"
        self.name = str(uuid4())
        self.numbers = itertools.count(1)
        self.read()

    def read(self) -> None:
        live = self.client.ok("GET", f"{self.url}/live")
        self.seq, self.id, self.doc = live["seq"], live["id"], document(live["doc"])

    def body(self, *steps: Json, **more: Any) -> Json:
        return {"client": self.name, "n": next(self.numbers), "base_seq": self.seq,
                "base_id": self.id, "steps": list(steps), **more}  # fmt: skip

    def send(self, body: Json) -> httpx.Response:
        return self.client.post(f"{self.url}/edits", json=body)

    def take(self, edits: list[Json]) -> None:
        """Applies the edits of others."""
        for edit in edits:
            if edit["steps"] is not None:
                steps = [step_from(one, "step") for one in edit["steps"]]
                self.doc = apply_all(self.doc, steps)
            self.seq, self.id = edit["seq"], edit["id"]

    def write(self, *steps: Json, **more: Any) -> Json:
        """Sends steps that must be accepted."""
        answer = self.send(self.body(*steps, **more))
        assert answer.status_code == 200, answer.text
        made: Json = answer.json()
        self.doc = apply_all(self.doc, [step_from(one, "step") for one in steps])
        self.seq, self.id = made["seq"], made["id"]
        return made


def saved(client: Client, node: str, version: int) -> Json:
    """The page when it has reached a version."""
    deadline = time.monotonic() + 60
    while (found := client.ok("GET", f"/api/v1/nodes/{node}"))["version"] < version:
        assert time.monotonic() < deadline, found
        time.sleep(0.2)
    return dict(found)


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


class Writer(threading.Thread):
    """Writes random steps through any replica until `stop` is set; keeps what was accepted."""

    def __init__(self, replicas: list[Replica], jar: dict[str, str], node: str, seed: int) -> None:
        super().__init__()
        self.replicas, self.jar, self.node = replicas, jar, node
        self.chance, self.random = Chance(seed), random.Random(seed)
        self.stop, self.accepted = threading.Event(), dict[int, str]()
        self.errors = list[str]()

    def run(self) -> None:
        try:
            clients = [replica.client() for replica in self.replicas]
            for client in clients:
                client.jar.update(self.jar)
            editor = Editor(clients[0], self.node)
            while not self.stop.is_set():
                self._write(editor, clients)
        except Exception as error:  # noqa: BLE001 - shown by the test
            self.errors.append(repr(error))

    def _write(self, editor: Editor, clients: list[Client]) -> None:
        sent = self.chance.step(editor.doc)
        try:
            apply_all(editor.doc, [step_from(sent, "step")])
        except StepError:
            return
        body = editor.body(sent)
        while not self.stop.is_set():
            editor.client = self.random.choice(clients)
            try:
                answer = editor.send(body)
            except httpx.HTTPError:
                time.sleep(0.1)
                continue
            if answer.status_code == 200:
                made = answer.json()
                self.accepted[made["seq"]] = made["id"]
                self._catch_up(editor, clients)
                return
            if answer.status_code == 409:
                editor.take(answer.json()["current"]["edits"])
                return  # drops its step: this test does not rebase
            assert answer.status_code == 503, answer.text
            time.sleep(0.1)

    def _catch_up(self, editor: Editor, clients: list[Client]) -> None:
        """Takes the edits that it missed, from whichever replica answers."""
        while True:
            try:
                missed = editor.client.ok("GET", f"{editor.url}/edits?since={editor.seq}")
            except httpx.HTTPError:
                time.sleep(0.1)
                editor.client = self.random.choice(clients)
            else:
                editor.take(missed["edits"])
                return


@pytest.mark.parametrize("seconds", [6, pytest.param(60, marks=pytest.mark.slow)])
def test_what_is_accepted_is_found_after_replicas_are_killed(
    own_replica: Start, seconds: int
) -> None:
    one = own_replica()
    two = own_replica(one.database_url)
    with one.client() as client:
        client.set_up().log_in()
        node = page(client, space(client), doc=HELLO)
        writers = [Writer([one, two], dict(client.jar), node, seed) for seed in range(4)]
        for writer in writers:
            writer.start()
        time.sleep(seconds / 2)
        assert one.process is not None
        one.process.kill()
        one.process.wait()
        one.start()
        time.sleep(seconds / 2)
        for writer in writers:
            writer.stop.set()
        for writer in writers:
            writer.join(60)
            assert not writer.errors, writer.errors
        edits = dict[int, str]()
        at = 0
        while rows := client.ok("GET", f"/api/v1/nodes/{node}/edits?since={at}")["edits"]:
            edits |= {edit["seq"]: edit["id"] for edit in rows}
            at = rows[-1]["seq"]
        assert list(edits) == list(range(1, len(edits) + 1))
        accepted = [pair for writer in writers for pair in writer.accepted.items()]
        assert len(accepted) >= 5
        assert len(dict(accepted)) == len(accepted), "two edits have one place"
        assert set(accepted) <= set(edits.items()), "an accepted edit is lost"
        with two.client() as other:
            other.jar.update(client.jar)
            lives = [c.ok("GET", f"/api/v1/nodes/{node}/live") for c in (client, other)]
        assert lives[0] == lives[1]
        wanted = normalise(lives[0]["doc"])
        deadline = time.monotonic() + 90
        while client.ok("GET", f"/api/v1/nodes/{node}")["doc"] != wanted:
            assert time.monotonic() < deadline, "the last edits were not saved"
            time.sleep(0.5)
