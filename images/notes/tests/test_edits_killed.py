"""Tests that what the edit log has accepted is there after replicas are killed."""

import os
import random
import threading
import time
from collections.abc import Callable

import httpx
import pytest

from notes.doc.schema import normalise
from notes.steps.model import StepError
from notes.steps.step_json import apply_all, step_from
from tests.editing import HELLO, Editor
from tests.random_steps import Chance
from tests.replica import Client, Replica
from tests.workspace import page, space

Start = Callable[..., Replica]
#: The slow test takes these seconds, and kills in each six of them.
SECONDS = int(os.environ.get("NOTES_KILLED_S", "18"))


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


@pytest.mark.parametrize("seconds", [6, pytest.param(SECONDS, marks=pytest.mark.slow)])
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
        for number in range(seconds // 6):
            time.sleep(3)
            killed = (one, two)[number % 2]
            assert killed.process is not None
            killed.process.kill()
            killed.process.wait()
            killed.start()
            time.sleep(3)
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
