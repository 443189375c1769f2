"""The proxies' script in a real HAProxy: what it does about hints, and about answers.

``test_route_start.py`` has its start and its end.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

from tests.e2e.running_proxy import AT_ONCE_S, Started, eventually, promptly, proxies

pytestmark = [pytest.mark.timeout(60), pytest.mark.quiet]


@pytest.fixture(autouse=True)
def _at_first() -> Iterator[None]:
    with promptly():
        yield


@pytest.fixture(params=[False, True], ids=["at rest", "ports are changed"])
def started(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Started]:
    """A proxy whose ``member-1`` leads, with the contract's checks unless others are given."""
    with proxies(tmp_path, change=request.param) as start:
        yield start


def test_without_a_hint_the_checks_decide_in_their_own_time(started: Started) -> None:
    proxy = started()
    time.sleep(3.5)  # every server has been checked
    old, new, _ = proxy.members
    old.asked.clear()
    old.primary = 503
    new.lead()
    time.sleep(5)
    assert "member-1" in (proxy.up() or []), "a third failed check is needed: 3 s apart"
    questions = [what for _, what in old.asked if "/primary" in what]
    assert questions == ["GET /primary"] * len(questions)
    assert 1 <= len(questions) <= 2 * len(proxy.ways)
    eventually(lambda: proxy.up() == ["member-2"], 6)


def test_a_planned_move_is_followed_at_once(started: Started) -> None:
    proxy = started()
    old, new, _ = proxy.members
    with proxy.watched() as seen:
        proxy.hint("follow member-2 30 1")
        time.sleep(0.5)
        with proxy.connect() as client:
            assert client.recv(64) == b"member-1"
            old.primary = 503
            client.settimeout(AT_ONCE_S)
            assert client.recv(64) == b"", "its sessions are cut, as by a failed check"
        eventually(lambda: proxy.up() == [], AT_ONCE_S)
        time.sleep(0.5)
        new.lead()
        eventually(lambda: proxy.reached() == "member-2", AT_ONCE_S)
        eventually(lambda: "no longer followed" in proxy.log, 7)
        new.asked.clear()
        time.sleep(1)
    assert seen == [["member-1"], [], ["member-2"]]
    assert len([what for _, what in new.asked if "OPTIONS" in what]) <= 1


def test_a_move_that_fails_ends_where_it_began(started: Started) -> None:
    proxy = started()
    old = proxy.members[0]
    with proxy.watched() as seen:
        proxy.hint("follow member-2 2 1")
        time.sleep(0.3)
        old.primary = 503
        eventually(lambda: proxy.up() == [], AT_ONCE_S)
        old.primary = 200
        eventually(lambda: proxy.reached() == "member-1", AT_ONCE_S)
        eventually(lambda: "no longer followed" in proxy.log, 5)
        time.sleep(1)
    assert seen == [["member-1"], [], ["member-1"]]


def test_answers_decide_and_not_the_hint(started: Started) -> None:
    proxy = started()
    proxy.hint("follow member-2 30 1")
    old, _, third = proxy.members
    time.sleep(1)
    assert proxy.reached() == "member-1"
    old.primary = 503
    third.lead()
    eventually(lambda: proxy.reached() == "member-3", 0.5 + AT_ONCE_S)


def test_two_that_both_say_yes_change_nothing(started: Started) -> None:
    proxy = started("30s")
    proxy.hint("follow member-2 30 1")
    time.sleep(0.5)
    with proxy.watched() as seen:
        proxy.members[1].lead()
        time.sleep(1)
    assert seen == [["member-1"]]


def test_a_member_that_does_not_answer_is_not_down(started: Started) -> None:
    proxy = started()
    old, new, third = proxy.members
    third.stop()
    proxy.hint("follow member-2 30 1")
    time.sleep(0.5)
    with proxy.watched() as seen:
        old.hangs = True
        time.sleep(2)
        assert seen == [["member-1"]]
        new.lead()
        eventually(lambda: proxy.reached() == "member-2", AT_ONCE_S)
        eventually(lambda: ["member-2"] in seen, 2)
    assert [names for names in seen if names] == [["member-1"], ["member-2"]]


def test_a_hint_is_found_when_the_leader_does_not_answer(started: Started) -> None:
    proxy = started()
    proxy.members[0].hangs = True
    proxy.members[1].config = "{"
    proxy.members[2].config = '{"queenright_route": "follow member-2 30 1"}'
    eventually(lambda: "hint: follow member-2 30 1" in proxy.log, 4)


def test_a_pinned_member_stays_up_until_another_leads(started: Started) -> None:
    proxy = started("1s")
    pinned, _, third = proxy.members
    proxy.members[1].stop()
    with proxy.watched() as seen:
        proxy.hint("pin member-1 0 1")
        time.sleep(1)
        pinned.primary = 503
        with proxy.connect() as client:
            assert client.recv(64) == b"member-1"
            client.settimeout(4)
            with pytest.raises(TimeoutError):
                client.recv(64)  # nobody cuts the session
        assert seen == [["member-1"]]
        proxy.stop()
        seen.clear()
        proxy.start(unchecked=True)
        eventually(lambda: proxy.reached() == "member-1", 4)
        third.lead()
        eventually(lambda: "void, as member-3 is primary" in proxy.log, 3)
        eventually(lambda: proxy.reached() == "member-3", 4)
        third.primary = 503
        eventually(lambda: proxy.up() == [], 5)
        time.sleep(2)
    # HAProxy begins with servers that are up; how often it is seen between that and the pin, and
    # between two members, depends on the moments of the looks.
    assert [names for names, _ in groupby(filter(None, seen))] == [["member-1"], ["member-3"]]
    assert seen[-1] == []


def test_a_pin_ends_with_its_hint(started: Started) -> None:
    proxy = started("500ms")
    pinned = proxy.members[0]
    proxy.hint("pin member-1 0 1")
    pinned.primary = 503
    time.sleep(2.5)
    for member in proxy.members[1:]:
        member.stop()
    pinned.config = "not what was expected"
    time.sleep(2)
    assert proxy.up() == ["member-1"], "a hint stands when no settings can be read"
    pinned.config = '{"queenright_route": null}'
    eventually(lambda: proxy.up() == [], 6)
    assert len(proxy.said("no member's settings can be read")) == 1


def test_a_pinned_member_that_is_not_primary_is_not_kept(started: Started) -> None:
    proxy = started("500ms")
    pinned = proxy.members[0]
    pinned.primary, pinned.patroni = 503, {"role": "replica", "state": "running"}
    proxy.hint("pin member-1 0 1")
    eventually(lambda: proxy.up() == [], 6)
    pinned.patroni = {"role": "primary", "state": "unknown", "replication": [{"state": "running "}]}
    time.sleep(2.5)
    assert proxy.up() == []


NO_HINTS = [
    '{"queenright_route": "follow member-9 30 1"}',
    '{"queenright_route": "follow member-2 -1 1"}',
    '{"queenright_route": ["follow member-2 30 1"]}',
    '{"queenright_route": 7}',
    '{"note": "\\"queenright_route\\": \\"follow member-2 30 1\\""}',
    "",
    "\0\1\2",
    "{" * 100_000,
]


def test_what_is_no_hint_changes_nothing(started: Started) -> None:
    proxy = started()
    leader = proxy.members[0]
    for settings in NO_HINTS:
        leader.config = settings
        leader.asked.clear()
        eventually(lambda: "GET /config" in [what for _, what in leader.asked], 3)
    time.sleep(1)
    assert proxy.up() == ["member-1"]
    asked = [what for member in proxy.members for _, what in member.asked]
    assert not [what for what in asked if "OPTIONS" in what]
    assert len(proxy.said("a hint that is not understood is passed over")) == 1
    assert "failed" not in proxy.log
