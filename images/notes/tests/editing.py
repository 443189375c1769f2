"""An editor of pages for tests: it sends steps as a browser does."""

import itertools
import time
from typing import Any
from uuid import uuid4

import httpx

from notes.doc.attributes import Json
from notes.steps.reading import document
from notes.steps.step_json import apply_all, step_from
from tests.replica import Client

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
