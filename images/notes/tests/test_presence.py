"""Tests who hears of edits and of people at a page: on two replicas, and after lost rights."""

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import msgspec
import psycopg
import pytest

from notes.events.inboxes import Inboxes
from notes.presence.meeting import Sign
from notes.presence.pace import BURST, PER_S, Pace
from notes.presence.seats import CARETS, FORGOTTEN_S, SEATS, Caret, Place, Seats
from tests.editing import Editor, typed
from tests.replica import PASSWORD, Client, Replica
from tests.test_events import Stream, listening
from tests.workspace import grant, page, space

Person = Callable[[str], Client]
Start = Callable[..., Replica]


def report(client: Client, node: str, tab: str | None = None, **more: Any) -> Any:
    body = {"tab": tab or str(uuid4()), "is_here": True, **more}
    return client.ok("POST", f"/api/v1/nodes/{node}/presence", body)


def names(answer: Any) -> list[str]:
    return sorted(one["name"] for one in answer["people"])


def last_carets(stream: Stream, *wanted: tuple[str, int, int, int]) -> None:
    """Waits until the last list of carets in a stream is the wanted one: name, edit, from, to."""
    deadline = time.monotonic() + 40
    while True:
        told = [e["data"]["carets"] for e in stream.events if e["event"] == "page.carets"]
        found = told and [(c["name"], c["seq"], c["anchor"], c["head"]) for c in told[-1]]
        if found == list(wanted):
            return
        assert time.monotonic() < deadline, stream.events
        time.sleep(0.02)


def last_people(stream: Stream, *wanted: str, timeout_s: float = 40) -> None:
    """Waits until the last list of people in a stream is the wanted one."""
    deadline = time.monotonic() + timeout_s
    while True:
        found = [names(e["data"]) for e in stream.events if e["event"] == "page.people"]
        if found and found[-1] == sorted(wanted):
            return
        assert time.monotonic() < deadline, stream.events
        time.sleep(0.02)


@pytest.fixture
def two(own_replica: Start) -> Iterator[tuple[Client, Client]]:
    """Ada, an administrator, at one replica, and Bob at another."""
    first = own_replica()
    second = own_replica(first.database_url)
    with first.client() as ada, second.client() as bob:
        made = {"email": "bob@example.org", "name": "Bob", "password": PASSWORD}
        bob.user_id = ada.set_up().ok("POST", "/api/v1/users", made)["id"]  # type: ignore[attr-defined]
        bob.log_in("bob@example.org")
        yield ada, bob


def test_a_reader_hears_of_edits_on_another_replica_until_the_right_is_lost(
    two: tuple[Client, Client],
) -> None:
    ada, bob = two
    home = space(ada)
    grant(ada, f"/api/v1/spaces/{home}/members", viewer=bob)
    made = page(ada, home, markdown="hello\n")
    editor = Editor(ada, made)
    with listening(bob) as his:
        assert editor.send(editor.body(typed("not told, "))).status_code == 200
        time.sleep(0.5)
        assert not [e for e in his.events if e["event"] == "page.edited"], "he is not at the page"
        editor.read()
        here = report(bob, made)
        assert (here["seq"], here["id"], here["is_saved"]) == (editor.seq, editor.id, False)
        stored = editor.send(editor.body(typed("told, "))).json()
        told = his.wait("page.edited")[-1]
        assert told["data"] == {
            "space_id": home, "node_id": made, "seq": stored["seq"], "edit_id": stored["id"],
        }  # fmt: skip
        assert "id" not in told, "it is not stored: nobody resumes after it"
        since = bob.ok("GET", f"/api/v1/nodes/{made}/edits?since={editor.seq}&id={editor.id}")
        assert since["is_known"]
        assert [one["id"] for one in since["edits"]] == [stored["id"]]
        lost = bob.ok("GET", f"/api/v1/nodes/{made}/edits?since={editor.seq}&id={uuid4()}")
        assert not lost["is_known"], "an edit that a failover lost is not in the log"
        # Rights to this page alone are lost: the stream goes on, but not with its edits.
        grant(ada, f"/api/v1/nodes/{made}/permissions")
        count = len(his.wait("page.edited"))
        editor.read()
        assert editor.send(editor.body(typed("secret, "))).status_code == 200
        time.sleep(1)
        assert len(his.wait("page.edited", count)) == count
        bob.problem(404, "GET", f"/api/v1/nodes/{made}/edits")
        bob.problem(404, "POST", f"/api/v1/nodes/{made}/presence", json={"tab": str(uuid4())})


def test_people_at_a_page_come_and_go(two: tuple[Client, Client]) -> None:
    ada, bob = two
    home = space(ada)
    grant(ada, f"/api/v1/spaces/{home}/members", viewer=bob)
    made, tab = page(ada, home), str(uuid4())
    with listening(ada) as hers, listening(bob) as his:
        assert names(report(ada, made)) == [], "nobody else is there"
        report(bob, made, tab)
        for stream in (hers, his):
            last_people(stream, "Ada", "Bob")
        second = str(uuid4())
        assert names(report(bob, made, second)) == ["Ada", "Bob"], "each once"
        report(bob, made, second, is_here=False)
        assert names(report(ada, made)) == ["Ada", "Bob"], "his other tab is still there"
        report(bob, made, tab, is_here=False)
        last_people(hers, "Ada")
        report(bob, made, tab)
        last_people(hers, "Ada", "Bob")
        # A tab that is killed says nothing any more.
        kept_up = time.monotonic() + FORGOTTEN_S + 10
        while time.monotonic() < kept_up and names(report(ada, made)):
            time.sleep(1)
        last_people(hers, "Ada")


def test_visitors_of_a_public_space_neither_see_people_nor_are_seen(
    two: tuple[Client, Client],
) -> None:
    ada, bob = two
    home = space(ada)
    ada.ok("PATCH", f"/api/v1/spaces/{home}", {"public": True})
    made = page(ada, home)
    grant(ada, f"/api/v1/spaces/{home}/members")
    with listening(ada) as hers, listening(bob) as his:
        report(ada, made)
        assert names(report(bob, made)) == []
        assert names(report(ada, made)) in (["Ada"], [])
        editor = Editor(ada, made)
        assert editor.send(editor.body(typed("x"))).status_code == 200
        his.wait("page.edited")
        for stream in (hers, his):
            told = [e["data"]["people"] for e in stream.events if e["event"] == "page.people"]
            assert all(one["name"] != "Bob" for people in told for one in people)
        assert not [e for e in his.events if e["event"] == "page.people"]


def test_editors_hear_of_carets_on_another_replica(two: tuple[Client, Client]) -> None:
    ada, bob = two
    home = space(ada)
    grant(ada, f"/api/v1/spaces/{home}/members", editor=bob)
    made, tab = page(ada, home), str(uuid4())
    url = f"/api/v1/nodes/{made}/presence"
    with listening(ada) as hers:
        report(ada, made)
        report(bob, made, tab, caret={"seq": 3, "anchor": 1, "head": 9})
        last_carets(hers, ("Bob", 3, 1, 9))
        his_second = str(uuid4())
        report(bob, made, his_second, caret={"seq": 4, "anchor": 2, "head": 2})
        last_carets(hers, ("Bob", 4, 2, 2))
        report(bob, made, his_second, is_here=False)
        last_carets(hers, ("Bob", 3, 1, 9))
        assert [c["id"] for c in report(ada, made)["carets"]] == [bob.user_id]  # type: ignore[attr-defined]
        for wrong in (
            {"seq": 3, "anchor": -1, "head": 9}, {"seq": 3, "anchor": 1, "head": 2**31},
            {"seq": 3, "anchor": 1.5, "head": 9}, {"seq": 3, "anchor": 1, "head": "9"},
            {"seq": 3, "anchor": 1}, {"seq": 3, "anchor": 1, "head": 1, "name": "x" * 1000},
        ):  # fmt: skip
            bob.problem(422, "POST", url, json={"tab": tab, "caret": wrong})
        foreign = page(ada, space(ada))
        caret = {"seq": 3, "anchor": 1, "head": 1}
        bob.problem(
            404, "POST", f"/api/v1/nodes/{foreign}/presence", json={"tab": tab, "caret": caret}
        )
        report(bob, made, tab)
        last_carets(hers)
        report(bob, made, tab, caret=caret)
        last_carets(hers, ("Bob", 3, 1, 1))
        # Who may only read the page has no caret in it.
        grant(ada, f"/api/v1/spaces/{home}/members", viewer=bob)
        bob.problem(403, "POST", url, json={"tab": tab, "caret": caret})
        report(bob, made, tab, is_here=False)
        last_carets(hers)


def test_nothing_of_presence_is_stored(own_replica: Start) -> None:
    replica = own_replica()
    with replica.client() as ada, psycopg.connect(replica.database_url, autocommit=True) as conn:

        def rows() -> dict[str, Any]:
            names = conn.execute(
                "SELECT relname FROM pg_class WHERE relkind = 'r'"
                " AND relnamespace = 'public'::regnamespace"
            ).fetchall()
            # A session notes when it was used.
            return {
                name: conn.execute(f'SELECT t::text FROM "{name}" t ORDER BY 1').fetchall()  # type: ignore[arg-type]
                for (name,) in names
                if name != "sessions"
            }

        ada.set_up()
        made, tab = page(ada, space(ada)), str(uuid4())
        before = rows()
        assert before["nodes"]
        for is_here in (True, True, False):
            report(ada, made, tab, is_here=is_here, caret={"seq": 0, "anchor": 1, "head": 1})
        time.sleep(0.5)
        assert rows() == before


def test_a_sign_of_a_later_version_is_understood() -> None:
    sign = Sign(uuid4(), 3, uuid4())
    later = [*json.loads(msgspec.json.encode(sign)), {"of": "a later version"}]
    assert msgspec.json.decode(json.dumps(later), type=Sign) == sign


def test_too_many_reports_are_refused(person: Person, admin: Client) -> None:
    eve, home = person("Eve"), space(admin)
    grant(admin, f"/api/v1/spaces/{home}/members", viewer=eve)
    url = f"/api/v1/nodes/{page(admin, home)}/presence"
    # From many threads: a busy machine may answer one at a time slower than the limit refills.
    with ThreadPoolExecutor(16) as threads:
        sent = threads.map(lambda _: eve.post(url, json={"tab": str(uuid4())}), range(400))
        assert {answer.status_code for answer in sent} == {200, 429}


def test_the_pace_refills() -> None:
    pace, person = Pace(), uuid4()
    assert [pace.admits(person, 0) for _ in range(int(BURST) + 1)] == [True] * int(BURST) + [False]
    assert not pace.admits(person, 0.5 / PER_S)
    assert pace.admits(person, 2 / PER_S)
    assert pace.admits(uuid4(), 0)


def test_seats_are_few_and_are_forgotten() -> None:
    seats, person = Seats(), uuid4()
    places = [Place(uuid4(), person, uuid4()) for _ in range(SEATS + 1)]
    for at, place in enumerate(places[:-1]):
        assert seats.take(place, at) == {place.node_id}
    assert seats.take(places[1], 30) == set(), "still there"
    assert seats.take(places[-1], 30) == {places[-1].node_id, places[0].node_id}
    assert not seats.is_at(person, places[0].node_id)
    assert seats.expire(30 + FORGOTTEN_S - 0.1) == {one.node_id for one in places[2:-1]}
    assert seats.at(places[1].node_id) == [person]
    assert seats.expire(30 + FORGOTTEN_S) == {places[1].node_id, places[-1].node_id}
    assert seats.leave(places[1]) == set()


def test_a_page_has_one_caret_for_each_person() -> None:
    seats, node, person = Seats(), uuid4(), uuid4()
    tabs = [Place(node, person, uuid4()) for _ in range(2)]
    for at, place in enumerate(tabs):
        seats.take(place, 0, Caret(at, 1, 1))
    assert seats.carets(node) == {person: Caret(1, 1, 1)}
    assert (seats.moved(), seats.moved()) == ({node}, set())
    seats.take(tabs[1], 0, Caret(1, 1, 1))
    assert seats.moved() == set(), "it has not moved"
    seats.leave(tabs[1])
    assert (seats.carets(node), seats.moved()) == ({person: Caret(0, 1, 1)}, {node})
    seats.expire(FORGOTTEN_S)
    assert (seats.carets(node), seats.moved()) == ({}, {node})
    for _ in range(CARETS + 5):
        seats.take(Place(node, uuid4(), uuid4()), 0, Caret(0, 1, 1))
    assert len(seats.carets(node)) == CARETS


def test_an_inbox_keeps_the_last_message_of_each_kind() -> None:
    boxes, person, node, home = Inboxes(), uuid4(), uuid4(), uuid4()
    inbox = boxes.open(person)
    for seq in range(1000):
        boxes.send([person, uuid4()], "page.edited", node, home, seq=seq)
    assert inbox.take(uuid4()) == b"", "another space's site"
    boxes.send([person], "page.edited", node, home, seq=1)
    boxes.send([person], "page.people", node, home, people=[])
    frames = inbox.take(home).decode().strip().split("\n\n")
    assert [frame.splitlines()[0] for frame in frames] == [
        "event: page.edited", "event: page.people",
    ]  # fmt: skip
    assert json.loads(frames[0].partition("data: ")[2])["seq"] == 1
    boxes.close(person, inbox)
    assert not boxes.has(person)
