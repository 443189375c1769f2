"""A member that has not led or streamed yet hears its partners before it takes the leader lock."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from images.member.queenright_member import first_race
from images.member.queenright_member.first_race import (
    ALIVE_S,
    LEADS,
    SILENT,
    SILENT_S,
    STARTING,
    STRANGE,
    UNKNOWN,
    FirstRace,
    Position,
    hear_first,
    position_of,
    why_not,
)
from images.member.queenright_member.raft_wait import FINDING

MINE: Position = (3, 1000)
TELLS = {"number": "ab", "timeline": 4, "location": 10, "system": "1"}


def replica(location: int, timeline: int = 3, **more: object) -> dict[str, object]:
    wal = {"received_location": 0, "replayed_location": location}
    return {
        "state": "running",
        "role": "replica",
        "timeline": timeline,
        "xlog": wal,
        "tags": {},
        **more,
    }


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ({}, SILENT),
        (replica(7), (3, 7)),
        (replica(7, xlog={"received_location": 9, "replayed_location": 7}), (3, 9)),
        (replica(7, role="primary"), LEADS),
        ({"state": "running", "role": "master", "xlog": {"location": 12}}, LEADS),
        ({"state": "starting", "role": "replica"}, STARTING),
        ({"state": "stopped", "role": "uninitialized"}, None),
        (replica(7, tags={"nofailover": True}), None),
        ({"state": "stopped", "role": "replica", "tags": {"queenright_finding": "no-room"}}, None),
        ({"tags": {"queenright_finding": FINDING, "queenright_end": TELLS}}, (4, 10)),
        ({"tags": {"queenright_finding": FINDING, "queenright_end": {"why": "?"}}}, UNKNOWN),
        ({"tags": {"queenright_finding": FINDING}}, UNKNOWN),
        (replica(7, tags=None), (3, 7)),
        (replica(7, timeline="three"), STRANGE),  # type: ignore[arg-type]
        (replica(7, xlog={"replayed_location": [7]}), STRANGE),
        (
            {"tags": {"queenright_finding": FINDING, "queenright_end": {**TELLS, "location": {}}}},
            STRANGE,
        ),
    ],
)
def test_an_answer_says_where_the_data_end(answer: Mapping[str, Any], found: object) -> None:
    assert position_of(answer) == found


@pytest.mark.parametrize(
    ("other", "limit_s"),
    [(SILENT, SILENT_S), (STARTING, ALIVE_S), ((3, 1001), ALIVE_S), ((4, 1), ALIVE_S)],
)
def test_a_member_that_may_be_ahead_is_waited_for(other: Position | str, limit_s: float) -> None:
    others = {"10.0.0.2": other, "10.0.0.3": MINE}
    assert "10.0.0.2" in why_not(MINE, others, limit_s - 0.1)
    assert not why_not(MINE, others, limit_s)


@pytest.mark.parametrize("other", [None, MINE, (3, 999), (2, 5000)])
def test_a_member_that_is_not_ahead_is_not_waited_for(other: Position | None) -> None:
    assert not why_not(MINE, {"10.0.0.2": other}, 0.0)


class Member:
    """Stands for a Patroni and its loop, with what the race uses of them."""

    def __init__(self) -> None:
        self.leads = self.paused = self.synchronous = False
        self.streams = ""
        self.woken = 0
        self._last_timeline = MINE[0]
        self.cluster = SimpleNamespace(failover=None)
        self.state_handler = SimpleNamespace(
            last_operation=lambda: MINE[1], replication_state=lambda: self.streams
        )

    def is_leader(self) -> bool:
        return self.leads

    def is_paused(self) -> bool:
        return self.paused

    def sync_mode_is_active(self) -> bool:
        return self.synchronous

    def wakeup(self) -> None:
        self.woken += 1

    def is_healthiest_node(self) -> bool:
        return True

    def run_cycle(self) -> str:
        return "no action"


class Case:
    """A member whose class keeps to the race, its partners' answers, and the time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(first_race, "WAKE_S", 0.0)
        self.answers: dict[str, Mapping[str, Any]] = {"b": replica(7), "c": {}}
        self.asked = 0
        self.now_s = 100.0
        self.race = FirstRace(["b", "c"], self.ask, lambda: self.now_s)
        kind = type("Patched", (Member,), {})
        hear_first(kind, self.race)
        self.member = kind()

    def ask(self, host: str) -> Mapping[str, Any]:
        self.asked += 1
        return self.answers[host]

    def leads(self, after_s: float = 1.0) -> bool:
        self.now_s += after_s
        return bool(self.member.is_healthiest_node())


@pytest.fixture
def case(monkeypatch: pytest.MonkeyPatch) -> Case:
    return Case(monkeypatch)


def test_it_leads_once_all_have_answered_the_same_twice(case: Case) -> None:
    case.answers["c"] = replica(900)
    assert [case.leads(), case.leads()] == [False, True]


def test_two_looks_have_some_time_between_them(case: Case) -> None:
    case.answers["c"] = replica(900)
    assert [case.leads(), case.leads(0.5), case.leads(0.5)] == [False, False, True]
    assert case.asked == 4


def test_a_position_that_moves_is_not_heard(case: Case) -> None:
    case.leads()
    for location in (100, 200, 300):
        case.answers["c"] = replica(location)
        assert not case.leads()
    assert case.leads()


def test_it_leads_without_a_silent_one_after_the_limit(case: Case) -> None:
    assert not case.leads()
    assert not case.leads(SILENT_S - 1)
    assert case.leads()


def test_one_that_leads_or_streams_waits_for_nobody(case: Case) -> None:
    case.member.streams = "streaming"
    assert not case.leads()
    assert case.member.run_cycle() == "no action"
    case.member.streams, asked = "", case.asked
    assert case.leads()
    assert case.asked == asked


def test_the_leader_lock_counts_as_well(case: Case) -> None:
    case.member.leads = True
    case.member.run_cycle()
    case.member.leads = False
    assert case.leads()


def test_a_postgresql_that_does_not_answer_is_no_reason_to_fail(case: Case) -> None:
    def fails() -> str:
        raise ConnectionError

    case.member.state_handler.replication_state = fails
    assert case.member.run_cycle() == "no action"
    assert not case.leads()


@pytest.mark.parametrize("why", ["paused", "synchronous", "asked by name"])
def test_what_has_its_own_rule_waits_for_nobody(case: Case, why: str) -> None:
    """Patroni's pause; commits that wait for replicas, whose names Raft has; a person's choice."""
    case.member.paused = why == "paused"
    case.member.synchronous = why == "synchronous"
    case.member.cluster.failover = object() if why == "asked by name" else None
    assert case.leads()
    assert not case.asked


def test_patroni_s_own_no_stays_no(case: Case) -> None:
    kind = type("No", (Member,), {"is_healthiest_node": lambda _: False})
    hear_first(kind, case.race)
    assert not kind().is_healthiest_node()
    assert not case.asked


def test_a_single_member_waits_for_nobody() -> None:
    race = FirstRace([], lambda _: {})
    kind = type("Alone", (Member,), {})
    hear_first(kind, race)
    assert kind().is_healthiest_node()


def test_it_runs_patroni_s_loop_again_soon(case: Case) -> None:
    assert not case.leads()
    while not case.member.woken:
        pass


USES = """
from patroni import api
from patroni.ha import Ha
names = "is_healthiest_node run_cycle is_leader is_paused sync_mode_is_active wakeup".split()
assert all(callable(getattr(Ha, name)) for name in names)
assert "_last_timeline" in Ha.__init__.__code__.co_names
"""


def test_patroni_has_all_that_is_used_of_it() -> None:
    """In a process of its own: Patroni sets the umask where it is imported."""
    subprocess.run([sys.executable, "-c", USES], check=True)
