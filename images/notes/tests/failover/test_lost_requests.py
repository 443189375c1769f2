"""Tests comments and files that were acknowledged and lost in a promotion, and are sent again."""

from typing import Any
from uuid import uuid4

import pytest

from tests.failover.cluster import Cluster
from tests.failover.test_lost_events import stop_following
from tests.failover.work import sure
from tests.replica import Client, Replica
from tests.workspace import page, space

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
FILE = b"some words" * 1000


class Person:
    """Sends each request under a key, and remembers it as a browser does."""

    def __init__(self, client: Client, node: str) -> None:
        self.client = client
        self.comments = f"/api/v1/nodes/{node}/comments"
        self.files = f"/api/v1/nodes/{node}/uploads"
        self.node = node
        self.sent: dict[str, tuple[str, str, dict[str, Any]]] = {}

    def send(self, method: str, path: str, body: dict[str, Any]) -> str:
        key = str(uuid4())
        self.sent[key] = (method, path, {"json": {**body, "key": key}})
        return self._do(key)

    def delete(self, comment: str) -> None:
        key = str(uuid4())
        path = f"/api/v1/comments/{comment}?key={key}&node_id={self.node}"
        self.sent[key] = ("DELETE", path, {})
        self._do(key)

    def upload(self) -> str:
        key = str(uuid4())
        file = {"file": ("n.txt", FILE, "text/plain")}
        more = {"files": file, "headers": {"upload-key": key}}
        self.sent[key] = ("POST", self.files, more)
        return self._do(key)

    def repeat(self) -> int:
        """Sends again what the server does not know; returns how many requests those were."""
        body = {"keys": list(self.sent)}
        known = sure(self.client, "POST", "/api/v1/repeats/known", json=body).json()["keys"]
        lost = [key for key in self.sent if key not in known]
        for key in lost:
            self._do(key)
        return len(lost)

    def _do(self, key: str) -> str:
        method, path, more = self.sent[key]
        answer = sure(self.client, method, path, **more)
        return str(answer.json()["id"]) if answer.content else ""


def test_lost_comments_and_files_are_made_again_once_and_deleted_ones_are_not() -> None:
    with Cluster().serving() as cluster:
        cluster.leader.sql("CREATE DATABASE notes")
        origin = {"ORIGIN": "https://notes.example.org"}
        with (
            Replica(cluster.direct("notes"), origin).running() as replica,
            replica.client() as client,
        ):
            client.set_up()
            one = Person(client, page(client, space(client)))
            old = one.send("POST", one.comments, {"body": "old"})
            gone = one.send("POST", one.comments, {"body": "deleted"})
            stop_following(cluster)
            thread = one.send("POST", one.comments, {"body": "lost"})
            one.send("POST", one.comments, {"body": "a reply", "parent_id": thread})
            change = {"body": "changed", "bases": [None]}
            one.send("PATCH", f"/api/v1/comments/{old}", change)
            one.send("PATCH", f"/api/v1/comments/{old}", {"resolved": True, "bases": [None]})
            one.delete(gone)
            file = one.upload()
            before = client.ok("GET", one.comments)
            cluster.cut_power_without_rebuilding()
            replica.wait_ready(20)
            assert [c["body"] for c in client.ok("GET", one.comments)] == ["old", "deleted"]
            assert client.get(f"/api/v1/attachments/{file}").status_code == 404
            # Nothing of the first two is sent again; all six of the others are, once.
            assert [one.repeat(), one.repeat()] == [6, 0]
            fields = ("id", "parent_id", "body", "author_id")
            after = client.ok("GET", one.comments)
            for name in fields:
                assert [c[name] for c in after] == [c[name] for c in before]
            assert after[0]["body"] == "changed"
            assert after[0]["resolved_at"] is not None
            assert client.get(f"/api/v1/attachments/{file}").content == FILE
            assert len(client.ok("GET", one.files.replace("uploads", "attachments"))) == 1
