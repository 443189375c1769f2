"""The soak's judge counts what was lost, and what two leaders acknowledged at once."""

from __future__ import annotations

import pytest

from tests.soak.faults import ACTS
from tests.soak.judge import Acknowledged, beside, longest_pause_s, lost
from tests.soak.script import FAULTS, script


def row(number: int, at: float, timeline: int = 1, client: str = "a") -> Acknowledged:
    return Acknowledged(client, number, at, timeline)


def test_a_row_is_lost_if_the_database_does_not_have_this_clients() -> None:
    told = [row(1, 1.0), row(2, 2.0), row(1, 1.5, client="b")]
    assert lost(told, {("a", 1), ("b", 1), ("b", 2)}) == [row(2, 2.0)]
    assert lost(told, {("a", 1), ("a", 2), ("b", 1)}) == []


def test_two_leaders_at_once_are_seen_by_their_timelines() -> None:
    one_after_the_other = [row(1, 1.0), row(2, 2.0), row(3, 3.0, 2)]
    assert beside(one_after_the_other) == []
    late = row(4, 4.0, 1, "direct")
    assert beside([late, *one_after_the_other]) == [late], "whatever the order they are told in"


def by(server: str, at: float, timeline: int = 1) -> Acknowledged:
    return Acknowledged("a", round(10 * at), at, timeline, server)


def test_two_leaders_at_once_are_seen_on_one_timeline_too() -> None:
    told = [by("one", 1.0), by("other", 2.0), by("one", 3.0), by("other", 4.0)]
    assert beside(told) == told[2:], "each acknowledges after the other had begun to"


def test_a_leader_that_starts_again_is_one_leader() -> None:
    """PostgreSQL in the same member, by another start; and each later leader has a new timeline."""
    assert beside([by("one", 1.0), by("one", 1.5), by("one again", 3.0)]) == []
    assert beside([by("one", 1.0), by("other", 2.0, 2), by("one", 3.0, 3)]) == []
    late = by("one", 2.5)
    assert beside([by("one", 1.0), by("other", 2.0, 2), late]) == [late]


@pytest.mark.parametrize(("until", "longest"), [(4.0, 2.0), (9.0, 6.0)])
def test_a_pause_lasts_to_the_end_if_nobody_writes_again(until: float, longest: float) -> None:
    told = [row(1, 0.5), row(2, 1.0), row(3, 3.0)]
    assert longest_pause_s(told, 0.0, until) == longest


def test_a_seed_decides_the_faults_and_each_comes_before_any_comes_again() -> None:
    steps = script(7, 40)
    assert steps == script(7, 40)
    assert steps != script(8, 40)
    assert [step.number for step in steps] == [*range(1, 41)]
    assert {step.fault for step in steps[: len(FAULTS)]} == {*FAULTS}
    assert len({step.fault for step in script(7, 5)}) == 5


def test_each_fault_of_the_script_has_its_act() -> None:
    assert ACTS.keys() == {*FAULTS}
