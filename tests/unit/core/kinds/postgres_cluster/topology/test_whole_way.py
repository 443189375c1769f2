"""The plan tells the whole way of an edit of the members."""

from __future__ import annotations

import re

from queenright.core.observed import Observed
from tests.support.builders import plan_for
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
    ]


def test_the_plan_has_the_whole_way_of_a_replacement() -> None:
    assert way(MOVED, dead()) == [
        "member-3 on node4 stops, without its vote (quorum 2 of 3, then quorum 2 of 2)",
        "member-3 starts on node5 and copies all data (quorum 2 of 2, then quorum 2 of 3)",
    ]


def test_the_plan_has_the_whole_way_of_a_name() -> None:
    assert way(RENAMED, deployed(1, 2, 3)) == [
        "member-3 on node4 stops, without its vote (quorum 2 of 3, then quorum 2 of 2)",
        "it starts as db-3 (quorum 2 of 2, then quorum 2 of 3; no data are copied)",
    ]


def test_a_plan_without_an_edit_has_no_way() -> None:
    plan = plan_for(deployed(1, 2, 3), text_of(1, 2, 3))
    assert not any(hold.key.startswith("topology/") for hold in plan.holds)
