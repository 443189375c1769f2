"""Tests the event stream: who gets which event, and resuming on any replica without gaps."""

import asyncio
import contextlib
import itertools
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest
from starlette.requests import Request
from starlette.types import Message

from notes.db.listener import Listener
from notes.db.pool import Database
from notes.events import stream as events
from notes.events.event import Event, Position
from notes.events.hub import Hub
from notes.events.stream_access import StreamAccess
from notes.http.context import Call
from notes.http.viewer import Seen, Viewer
from tests.postgres import Postgres
from tests.replica import Client, Replica
from tests.workspace import page, space

Person = Callable[[str], Client]
Start = Callable[..., Replica]


class Stream:
    """An open stream that a thread reads."""

    def __init__(self, response: httpx.Response) -> None:
        self.events: list[dict[str, Any]] = []
        self._response = response
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Shuts the connection down. `close` alone would not: the reader holds the socket."""
        wire = self._response.extensions["network_stream"].get_extra_info("socket")
        with contextlib.suppress(OSError):
            wire.shutdown(socket.SHUT_RDWR)
        self._thread.join(10)

    def _read(self) -> None:
        current: dict[str, Any] = {}
        try:
            for line in self._response.iter_lines():
                name, _, value = line.partition(": ")
                if line == "" and "event" in current:
                    if current["event"] != "beat":
                        self.events.append(current)
                    current = {}
                elif name:
                    current[name] = json.loads(value) if name == "data" else value
        except (httpx.HTTPError, httpx.StreamError):
            pass

    def wait(self, kind: str, count: int = 1, timeout_s: float = 10) -> list[dict[str, Any]]:
        deadline = time.monotonic() + timeout_s
        while True:
            found = [e for e in self.events if e["event"] == kind]
            if len(found) >= count:
                return found
            assert time.monotonic() < deadline, f"{kind}: only {self.events}"
            time.sleep(0.02)


@contextlib.contextmanager
def listening(
    client: Client, last: str | None = None, since: str | None = None
) -> Iterator[Stream]:
    headers = {"last-event-id": last} if last else {}
    params = {"since": since} if since else {}
    with client.stream("GET", "/api/v1/events", headers=headers, params=params) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        stream = Stream(response)
        try:
            if last is None and since is None:
                stream.wait("hello")
            yield stream
        finally:
            stream.close()


def space_of_two(manager: Client, viewer: Client) -> str:
    """A new space that nobody else may see."""
    home = space(manager)
    me = manager.ok("GET", "/api/v1/me")["id"]
    grants = [
        {"principal": me, "kind": "user", "role": "manager"},
        {"principal": viewer.user_id, "kind": "user", "role": "viewer"},  # type: ignore[attr-defined]
    ]
    manager.ok("PUT", f"/api/v1/spaces/{home}/members", {"grants": grants})
    return home


def test_changes_are_told_to_whoever_may_know(admin: Client, person: Person) -> None:
    bob, eve = person("Bob"), person("Eve")
    home = space_of_two(admin, bob)
    with listening(bob) as his, listening(eve) as hers:
        made = page(admin, home, "A secret title")
        admin.ok("PUT", f"/api/v1/nodes/{made}", {"base_version": 1, "title": "Another"})
        saved = his.wait("page.saved")[0]
        assert saved["data"] == {"space_id": home, "node_id": made, "version": 2}
        time.sleep(0.3)
        assert [e["event"] for e in hers.events] == ["hello"]


def test_the_end_of_a_space_is_told_to_those_who_saw_it(admin: Client, person: Person) -> None:
    bob, eve = person("Bob"), person("Eve")
    home = space_of_two(admin, bob)
    with listening(admin) as mine, listening(bob) as his, listening(eve) as hers:
        admin.ok("DELETE", f"/api/v1/spaces/{home}")
        for stream in (mine, his):
            assert [e["data"] for e in stream.wait("space.deleted")] == [{"space_id": home}]
        time.sleep(0.3)
        assert [e["event"] for e in hers.events] == ["hello"]


async def test_a_stream_beats_and_looks_at_its_session_while_others_are_busy(
    replica: Replica, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events for other users arrive all the time, so the stream never waits long."""
    monkeypatch.setattr(events, "HEARTBEAT_S", 0.2)
    db, person = Database(replica.database_url), uuid4()
    hub = Hub(db, Listener(""))
    sent = list[bytes]()

    def happen(number: int) -> None:
        at = Position(1, 1, 1, number)
        hub._ring.append(Event(at, "x", None, None, None, None, b"not yours", {person: False}))
        hub.position = at
        if hub._news is not None:
            hub._news.set_result(None)
            hub._news = None

    async def busy() -> None:
        for number in itertools.count(2):
            happen(number)
            await asyncio.sleep(0.02)

    async def receive() -> Message:
        await asyncio.sleep(60)
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message.get("body", b""))

    scope = {"type": "http", "headers": [(b"authorization", b"Bearer revoked")]}
    stream_access = StreamAccess(db, Listener(""))
    app: Any = SimpleNamespace(db=db, stream_access=stream_access)
    call = Call(Request(scope), Seen("https", "x", ""), Viewer(person, via="token"), app)
    happen(1)
    await db.open()
    others = asyncio.create_task(busy())
    look = asyncio.get_running_loop().call_later(
        1, lambda: looks.append(asyncio.create_task(stream_access.run()))
    )
    looks = list[asyncio.Task[None]]()
    try:
        async with asyncio.timeout(10):
            stream = events.EventStream(call, hub, Position(1, 1, 1, 1), b"hello")
            await stream(scope, receive, send)
    finally:
        look.cancel()
        for task in (others, *looks):
            task.cancel()
        await db.close()
    assert sent.count(events.BEAT) >= 3
    assert b"not yours" not in b"".join(sent)


def test_a_stream_resumes_without_gap_or_repeat_on_another_replica(own_replica: Start) -> None:
    first = own_replica()
    second = own_replica(first.database_url)
    with first.client() as one, second.client() as two:
        one.set_up()
        two.jar.update(one.jar)
        home = space(one)
        made = page(one, home)
        with listening(one) as stream:
            one.ok("PUT", f"/api/v1/nodes/{made}", {"base_version": 1, "title": "v2"})
            last = stream.wait("page.saved")[0]["id"]
        for version in range(2, 12):
            (one, two)[version % 2].ok(
                "PUT", f"/api/v1/nodes/{made}", {"base_version": version, "title": f"v{version}"}
            )
        with listening(two, last) as stream:
            two.ok("PUT", f"/api/v1/nodes/{made}", {"base_version": 12, "title": "v13"})
            got = [e["data"]["version"] for e in stream.wait("page.saved", 11)]
        assert got == list(range(3, 14))


def test_an_event_that_commits_late_is_neither_lost_nor_early(
    postgres: Postgres, admin: Client
) -> None:
    home = space(admin)
    insert = "INSERT INTO events (kind, space_id, data) VALUES (%s, %s, '{}')"
    with listening(admin) as stream, psycopg.connect(postgres.url("main")) as late:
        late.execute(insert, ("late", home))
        with psycopg.connect(postgres.url("main"), autocommit=True) as early:
            early.execute(insert, ("early", home))
            early.execute("NOTIFY app_events")
        time.sleep(0.5)
        kinds = {"early", "late"}
        assert not [e for e in stream.events if e["event"] in kinds], "what is later waits"
        late.commit()
        stream.wait("early")
        assert [e["event"] for e in stream.events if e["event"] in kinds] == ["late", "early"]


def test_a_stream_that_heard_nothing_yet_resumes_where_it_began(admin: Client) -> None:
    home = space(admin)
    with listening(admin) as stream:
        (hello,) = stream.wait("hello")
    made = page(admin, home)
    with listening(admin, hello["id"]) as stream:
        assert [e["data"]["node_id"] for e in stream.wait("page.made")] == [made]
        assert not [e for e in stream.events if e["event"] == "reset"]


def test_a_position_of_before_there_were_timelines_is_one_still(admin: Client) -> None:
    home = space(admin)
    with listening(admin) as stream:
        epoch, _, *rest = stream.wait("hello")[0]["id"].split(".")
    assert Position.parse(".".join((epoch, *rest))) == (int(epoch), 0, *map(int, rest))
    made = page(admin, home)
    with listening(admin, ".".join((epoch, *rest))) as stream:
        assert stream.wait("page.made")[-1]["data"]["node_id"] == made


def test_a_stream_tells_of_all_that_is_read_after_its_reader_asked_who_they_are(
    admin: Client, person: Person
) -> None:
    """A slow stream begins after the reader's other requests; one that is resumed goes on."""
    bob = person("Bob")
    home = space_of_two(admin, bob)
    before = page(admin, home)
    since = bob.ok("GET", "/api/v1/me")["events_since"]
    made = page(admin, home)
    with listening(bob, since=since) as stream:
        later = page(admin, home)
        found = stream.wait("page.made", 2)
        assert [event["data"]["node_id"] for event in found] == [made, later]
        assert before not in json.dumps(stream.events)
    with listening(bob, found[0]["id"], since=since) as stream:
        assert stream.wait("page.made")[0]["data"]["node_id"] == later
        assert len(stream.events) == 1


def test_a_stream_that_begins_before_a_failover_is_reset(admin: Client) -> None:
    epoch, timeline, xid, place = admin.ok("GET", "/api/v1/me")["events_since"].split(".")
    with listening(admin, since=f"{epoch}.{int(timeline) - 1}.{xid}.{place}") as stream:
        stream.wait("reset")
    with listening(admin, since="999.1.1.1") as stream:
        stream.wait("reset")


def test_wrong_and_foreign_positions(admin: Client) -> None:
    assert admin.problem(422, "GET", "/api/v1/events?since=x")["errors"][0]["field"] == "since"
    refused = admin.problem(422, "GET", "/api/v1/events", headers={"last-event-id": "x"})
    assert refused["errors"][0]["field"] == "last-event-id"
    with listening(admin, "999.1.1") as stream:
        stream.wait("reset")


def test_a_stream_tells_once_that_what_it_told_of_is_lost(
    postgres: Postgres, admin: Client
) -> None:
    """A failover loses an event with its change; all that a client has read may be lost."""
    home = space(admin)
    with listening(admin) as stream:
        page(admin, home)
        last = stream.wait("page.made")[-1]["id"]
        number = last.rpartition(".")[2]
        postgres.sql(f"DELETE FROM events WHERE id = {number}", "main")
        postgres.sql("NOTIFY app_events", "main")
        again = stream.wait("reset")[0]["id"]
        made = page(admin, home)
        assert stream.wait("page.made", 2)[-1]["data"]["node_id"] == made
        assert [e["event"] for e in stream.events].count("reset") == 1
    with listening(admin, last) as stream:
        assert stream.wait("page.made")[-1]["data"]["node_id"] == made
        assert [e["event"] for e in stream.events].count("reset") == 1
    with listening(admin, again) as stream:
        assert stream.wait("page.made")[-1]["data"]["node_id"] == made
        assert not [e for e in stream.events if e["event"] == "reset"], "told already"


def test_the_stream_ends_with_the_session_and_needs_one(anybody: Client) -> None:
    anybody.problem(401, "GET", "/api/v1/events")


@pytest.mark.parametrize(
    "text", ["", "1.2", "1.2.3.4.5", "a.b.c", "-1.2.3", "1.2.٣", "1.9999999999.3.4"]
)
def test_positions_are_parsed_strictly(text: str) -> None:
    assert Position.parse(text) is None


async def test_what_came_before_the_wait_began_is_news_too() -> None:
    """Of a thousand streams some read just before an event, and begin to wait just after."""
    hub = Hub(Database(""), Listener(""))
    hub.position = Position(1, 1, 5, 2)
    async with asyncio.timeout(5):
        await hub.news(Position(1, 1, 5, 1), 60)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await hub.news(Position(1, 1, 5, 2), 60)


def test_open_streams_keep_a_draining_replica_until_the_timeout(own_replica: Start) -> None:
    replica = own_replica(SHUTDOWN_TIMEOUT="2")
    with replica.client() as client:
        client.set_up()
        with listening(client):
            begun = time.monotonic()
            assert replica.stop() == 0
            assert 1.9 < time.monotonic() - begun < 6
