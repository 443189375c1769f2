"""Chromium's EventSource reads the event stream, and reconnects to another replica by itself.

The browser checks the standard's rules for a stream (media type, frames, ids, `retry`,
`Last-Event-ID`): it drops what it cannot read.
"""

import contextlib
import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.judges.programs import HERE, front
from tests.replica import Replica
from tests.workspace import page, space

pytestmark = pytest.mark.judge
Start = Callable[..., Replica]
CONNECTING, OPEN = 0, 1  # EventSource.readyState
PLAIN = {"x-forwarded-proto": "http", "origin": "http://notes.example.org"}


class Browser:
    """A browser with an EventSource, and the events that it has received."""

    def __init__(self, running: subprocess.Popen[str]) -> None:
        self.heard: list[dict[str, Any]] = []
        self._running = running
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._running.stdout is not None
        for line in self._running.stdout:
            self.heard.append(json.loads(line))

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [said for said in self.heard if said["kind"] == kind]

    def wait(self, kind: str, count: int = 1) -> list[dict[str, Any]]:
        deadline = time.monotonic() + 30
        while len(self.of(kind)) < count:
            assert time.monotonic() < deadline, f"{kind}: only {self.heard}"
            assert self._running.poll() is None, self.heard
            time.sleep(0.02)
        return self.of(kind)


@contextlib.contextmanager
def browser(base: str, token: str, *kinds: str) -> Iterator[Browser]:
    command = ["node", str(HERE / "event_source.mjs"), base, token, *kinds]
    with subprocess.Popen(
        command, cwd=HERE, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as running:
        try:
            yield Browser(running)
        finally:
            assert running.stdin is not None
            running.stdin.close()
            try:
                running.wait(10)
            except subprocess.TimeoutExpired:
                running.kill()


def test_a_browser_hears_everything_once_over_two_replicas(own_replica: Start) -> None:
    env = {"ORIGIN": "", "PROTOCOL_HEADER": "x-forwarded-proto", "SHUTDOWN_TIMEOUT": "1"}
    first = own_replica(**env)
    second = own_replica(first.database_url, **env)
    with second.client(headers=PLAIN) as client:
        client.set_up()
        home = space(client)
        with (
            front(first, second) as base,
            browser(base, client.jar["notes"], "hello", "reset", "page.made", "page.saved") as seen,
        ):
            hello = seen.wait("hello")[0]
            assert (hello["state"], hello["data"]) == (OPEN, {})
            made = page(client, home)
            told = seen.wait("page.made")[0]
            assert (told["data"]["space_id"], told["data"]["node_id"]) == (home, made)
            assert told["id"] != hello["id"]
            version = 1

            def save() -> int:
                body = {"base_version": version, "title": f"after {version}"}
                return int(client.ok("PUT", f"/api/v1/nodes/{made}", body)["version"])

            version = save()
            seen.wait("page.saved")
            assert first.stop() == 0
            assert seen.wait("error")[0]["state"] == CONNECTING, "it comes back by itself"
            for _ in range(5):
                version = save()
            seen.wait("open", 2)
            version = save()
            saved = seen.wait("page.saved", version - 1)
            assert [e["data"]["version"] for e in saved] == list(range(2, version + 1))
            assert not seen.of("reset")
