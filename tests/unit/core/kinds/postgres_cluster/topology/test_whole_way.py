"""The plan tells the whole way of an edit of the members."""

from __future__ import annotations

import re

import pytest

from queenright.core.observed import Observed
from tests.support.builders import plan_for
from tests.support.changed import with_node
from tests.support.moving_worlds import (
    MOVED,
    RENAMED,
    dead,
    reason,
)
from tests.support.topology_worlds import (
    deployed,
    text_of,
)


def way(text: str, observed: Observed) -> list[str]:
    """Return the steps of the plan's note, without their numbers."""
    told = reason(plan_for(observed, text), "topology/main").partition("members: 1. ")[2]
    return re.split(r"; \d+\. ", told)


def restarts(members: int) -> str:
    return (
        "the replicas restart, one at a time, with the new list of Raft partners "
        f"({members - 1} of {members} meanwhile, quorum {members // 2 + 1} of {members}); the "
        "leader has it with its next restart"
    )


def test_the_plan_has_the_whole_way_of_more_members() -> None:
    assert way(text_of(1, 2, 3, 4, 5), deployed(1, 2, 3)) == [
        "member-4 starts on node5 and copies all data (quorum 2 of 3, then quorum 3 of 4)",
        "member-5 starts on node6 and copies all data (quorum 3 of 4, then quorum 3 of 5)",
        restarts(5),
    ]


def test_the_plan_has_the_whole_way_of_fewer_members() -> None:
    assert way(text_of(1, 2, 3), deployed(1, 2, 3, 4, 5)) == [
        "member-4 on node5 stops, without its vote (quorum 3 of 5, then quorum 3 of 4)",
        "member-5 on node6 stops, without its vote (quorum 3 of 4, then quorum 2 of 3)",
        restarts(3),
    ]
    alone = text_of(1, spec="  acknowledge: [noFailover]\n")
    assert way(alone, deployed(1, 2, 3)) == [
        "member-2 on node3 stops, without its vote (quorum 2 of 3, then quorum 2 of 2)",
        "member-3 on node4 stops, without its vote (quorum 2 of 2, then quorum 1 of 1)",
    ]


def test_the_plan_has_the_whole_way_of_a_move() -> None:
    text = text_of(1, 2, 3).replace("member-1, node: node2", "member-1, node: node5")
    assert way(text, deployed(1, 2, 3)) == [
        "member-1-moved starts on node5 and copies all data (quorum 2 of 3, then quorum 3 of 4)",
        "member-1 hands over the leadership (one switchover)",
        "member-1 on node2 stops, without its vote (quorum 3 of 4, then quorum 2 of 3)",
        (
            "the stand-in of member-1 restarts under that name (quorum 2 of 3, quorum 2 of 2 "
            "meanwhile; no data are copied)"
        ),
        restarts(3),
    ]


@pytest.mark.parametrize(
    "spoilt",
    [{"state": "down"}, {"labels": {"pg-node": "9"}}, {"address": "192.168.1.5"}],
    ids=str,
)
def test_a_move_that_can_not_begin_has_the_way_that_it_will_take(spoilt: dict[str, object]) -> None:
    """Not the one in place, by which the member would leave for a node that can't take it."""
    observed = with_node(deployed(1, 2, 3), "node5", **spoilt)
    assert not any("main" in action.key for action in plan_for(observed, MOVED).actions)
    steps = way(MOVED, observed)
    assert steps == way(MOVED, deployed(1, 2, 3))
    assert steps[0].startswith("member-3-moved starts on node5")


def test_a_move_without_room_for_a_stand_in_has_the_way_in_place() -> None:
    few = MOVED + "  postgresql: {parameters: {max_wal_senders: 3}}\n"
    in_place = "member-3 on node4 stops, without its vote"
    assert way(few, deployed(1, 2, 3))[0].startswith(in_place)
    assert way(few, with_node(deployed(1, 2, 3), "node5", state="down"))[0].startswith(in_place)


def test_the_plan_has_the_whole_way_of_a_replacement() -> None:
    assert way(MOVED, dead()) == [
        "member-3 on node4 stops, without its vote (quorum 2 of 3, then quorum 2 of 2)",
        "member-3 starts on node5 and copies all data (quorum 2 of 2, then quorum 2 of 3)",
        restarts(3),
    ]


def test_the_plan_has_the_whole_way_of_a_name() -> None:
    assert way(RENAMED, deployed(1, 2, 3)) == [
        "member-3 on node4 stops, without its vote (quorum 2 of 3, then quorum 2 of 2)",
        "it starts as db-3 (quorum 2 of 2, then quorum 2 of 3; no data are copied)",
    ]


def test_a_plan_without_an_edit_has_no_way() -> None:
    plan = plan_for(deployed(1, 2, 3), text_of(1, 2, 3))
    assert not any(hold.key.startswith("topology/") for hold in plan.holds)
