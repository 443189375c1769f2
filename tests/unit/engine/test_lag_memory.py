"""Lags for an hour: one value a minute, gaps, and members that go."""

from __future__ import annotations

import dataclasses

from queenright.core.observed import Known, Observed, Unknown
from queenright.engine.lag_memory import MINUTE_S, MINUTES, LagMemory
from tests.support.builders import status, three_nodes
from tests.support.changed import with_member

SERVICE = "main_member-2"


def lagging(megabytes: int) -> Observed:
    late = dataclasses.replace(status("member-2", "member-1"), lag_bytes=megabytes << 20)
    return with_member(three_nodes(), "member-2", late)


def test_a_minute_has_one_value() -> None:
    memory = LagMemory()
    for second in range(120):
        memory.note(lagging(second), float(second))
    assert memory.of(SERVICE) == (0, 60)


def test_minutes_without_a_pass_and_silent_members_are_gaps() -> None:
    memory = LagMemory()
    memory.note(lagging(1), 0.0)
    memory.note(lagging(2), 3 * MINUTE_S)
    memory.note(with_member(three_nodes(), "member-2", Unknown("silent")), 4 * MINUTE_S)
    assert memory.of(SERVICE) == (1, None, None, 2, None)


def test_an_hour_is_kept_and_members_that_are_gone_are_not() -> None:
    memory = LagMemory()
    for minute in range(2 * MINUTES):
        memory.note(lagging(minute), minute * MINUTE_S)
    assert memory.of(SERVICE) == tuple(range(MINUTES, 2 * MINUTES))
    swarm = three_nodes().swarm
    assert isinstance(swarm, Known)
    memory.note(Observed(swarm), 3 * MINUTES * MINUTE_S)
    assert memory.of(SERVICE) == ()
