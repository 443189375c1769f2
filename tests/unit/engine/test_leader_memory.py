"""Changes of leader in memory: the note, its cause and its gap, joined as records come."""

from __future__ import annotations

import pytest

from queenright.core.page.values import LeaderMove
from queenright.engine import leader_memory
from queenright.engine.leader_memory import MOST_MOVES, UNASKED, LeaderMemory
from queenright.engine.trail_memory import TrailMemory

AT = "2026-01-01T12:00:{:02}.000Z"


def acting(second: int, key: str, name: str = "main", **fields: object) -> dict[str, object]:
    action = {"kind": key.partition("/")[0], "key": key}
    return {
        "phase": "outcome",
        "outcome": "done",
        "cluster": name,
        "action": action,
        "at": AT.format(second),
        **fields,
    }


def noted(second: int, before: str, leader: str, timeline: int) -> dict[str, object]:
    changed = {
        "path": "labels[queenright.leader]",
        "old": f'["{before}", {timeline - 1}]',
        "new": f'["{leader}", {timeline}]',
    }
    return acting(second, "label-config/main_cluster", changes=[changed])


def measured(second: int, timeline: int, gap_ms: int | None, lost: int | None) -> dict[str, object]:
    return {
        "phase": "measured",
        "cluster": "main",
        "at": AT.format(second),
        "leader_before": "member-1",
        "leader": "member-2",
        "timeline": timeline,
        "write_gap_ms": gap_ms,
        "lost_rows": lost,
    }


MOVE = acting(
    1,
    "switchover/main",
    reason="the leader restarts last",
    trigger={"kind": "file", "file": "x.yaml", "line": 4},
)
BY_HAND = acting(1, "switchover/main", trigger={"kind": "command", "detail": "by root on node1"})


def moves(*records: dict[str, object]) -> tuple[LeaderMove, ...]:
    memory = LeaderMemory()
    for record in records:
        memory.note(record)
    return memory.of("main")


def test_a_change_has_its_cause_and_then_its_gap() -> None:
    note = noted(2, "member-1", "member-2", 6)
    found = LeaderMove(
        at=AT.format(2),
        before="member-1",
        leader="member-2",
        timeline=6,
        cause="switchover/main; the leader restarts last; x.yaml:4",
        is_measured=False,
    )
    assert moves(MOVE, note) == (found,)
    (one,) = moves(MOVE, note, measured(4, 6, 1502, 0))
    assert (one.cause, one.is_measured, one.gap_ms, one.lost_rows) == (found.cause, True, 1502, 0)
    (one,) = moves(MOVE, note, measured(4, 6, None, None))
    assert (one.is_measured, one.gap_ms, one.lost_rows) == (True, None, None)


def test_a_command_is_named_and_a_failover_was_asked_for_by_nobody() -> None:
    note = noted(2, "member-1", "member-2", 6)
    assert [one.cause for one in moves(BY_HAND, note)] == ["switchover/main; by root on node1"]
    assert [one.cause for one in moves(note)] == [UNASKED]
    assert [one.cause for one in moves(acting(1, "switchover/other", "other"), note)] == [UNASKED]


def test_a_measurement_alone_is_a_change_too() -> None:
    (one,) = moves(measured(4, 6, 900, 2))
    assert (one.before, one.leader, one.gap_ms, one.lost_rows) == ("member-1", "member-2", 900, 2)


def test_a_measurement_that_comes_first_is_kept() -> None:
    note = noted(5, "member-1", "member-2", 6)
    assert [one.gap_ms for one in moves(measured(4, 6, 900, 2), note, note)] == [900]


def test_the_canary_s_cause_is_told_where_the_action_is_not_known() -> None:
    planned = measured(4, 6, 900, 2) | {"cause": "planned: rollout"}
    note = noted(2, "member-1", "member-2", 6)
    assert [one.cause for one in moves(note, planned)] == ["planned: rollout"]
    (one,) = moves(MOVE, note, planned)
    assert one.cause.startswith("switchover/main")


def test_a_cluster_that_is_made_anew_begins_anew() -> None:
    old, new = noted(2, "member-1", "member-2", 2), noted(9, "member-3", "member-1", 2)
    found = moves(old, measured(4, 2, 900, 2), new)
    assert [(one.leader, one.is_measured) for one in found] == [("member-1", False)]


def test_changes_are_newest_first_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = [noted(n, f"m{n}", f"m{n + 1}", n + 2) for n in range(MOST_MOVES + 3)]
    found = [one.timeline for one in moves(*notes)]
    assert found == sorted(range(5, MOST_MOVES + 5), reverse=True)
    monkeypatch.setattr(leader_memory, "MOST_NAMES", 2)
    memory = LeaderMemory()
    for name in ("main", "b", "c"):
        memory.note(acting(1, "switchover/x", name))
    assert memory.of("main") == ()


def test_earlier_processes_records_count_and_odd_ones_do_no_harm() -> None:
    memory = TrailMemory()
    memory.preload([measured(4, 6, 7, 0), noted(2, "member-1", "member-2", 6), MOVE])
    assert [one.gap_ms for one in memory.leaders("main")] == [7]
    odd = {"phase": "measured", "cluster": "odd", "timeline": "x", "leader": 7}
    memory.note(odd)
    assert memory.leaders("odd") == ()
