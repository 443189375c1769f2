"""The gap and the losses that a canary sees, from moments and numbers alone."""

from __future__ import annotations

from queenright.core.kinds.postgres_cluster.annotations import (
    Annotations,
    LastLeader,
    PendingSwitchover,
)
from queenright.core.kinds.postgres_cluster.canary.canary import leader_change
from queenright.core.kinds.postgres_cluster.canary.write_gap import (
    Acknowledged,
    WriteGap,
    shown_rows,
)
from tests.support.builders import LONG_AGO, NOW


def written(*moments: float) -> Acknowledged:
    found = Acknowledged()
    for number, at_s in enumerate(moments, start=1):
        found.add(number, at_s)
    return found


def test_the_longest_pause_is_the_gap() -> None:
    assert written(0, 0.2, 1.5, 1.7).gap(0) == WriteGap(1300, 3)


def test_a_pause_that_ended_before_does_not_count() -> None:
    assert written(0, 5, 5.2, 5.4).gap(5.1) == WriteGap(200, 2)


def test_one_success_is_no_gap() -> None:
    assert written(3).gap(0) is None
    assert written().last_at_s is None


def test_a_row_is_lost_only_when_it_was_acknowledged_and_is_not_there() -> None:
    rows = written(0, 1, 2, 3)
    assert rows.lost([1, 2, 4, 99]) == (3,)
    assert rows.lost([1, 2, 3, 4]) == ()


def test_only_what_was_written_before_can_tell_a_gap() -> None:
    assert written(3, 4).reaches(3.5)
    assert not written(3, 4).reaches(3)
    assert not written().reaches(3)


def test_many_rows_are_told_in_short() -> None:
    assert shown_rows([3, 1, 2]) == "1, 2, 3"
    assert shown_rows(range(22), limit=2) == "0, 1 and 20 more"


BEFORE = Annotations(leader=LastLeader("member-1", 1, LONG_AGO))
AFTER = Annotations(leader=LastLeader("member-2", 2, NOW))


def test_a_change_that_was_asked_for_is_told_with_its_reason() -> None:
    moved = Annotations(
        leader=BEFORE.leader, move=PendingSwitchover("member-1", "member-2", 1, NOW, "maintenance")
    )
    change = leader_change("main", moved, AFTER)
    assert change is not None
    assert (change.before, change.after, change.timeline) == ("member-1", "member-2", 2)
    assert change.cause == "planned: maintenance"


def test_any_other_change_was_not_planned() -> None:
    change = leader_change("main", BEFORE, AFTER)
    assert change is not None
    assert change.cause == "not planned by the operator"
    assert leader_change("main", BEFORE, BEFORE) is None
    assert leader_change("main", Annotations(), AFTER) is None
