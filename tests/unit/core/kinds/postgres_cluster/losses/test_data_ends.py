"""The ends of the members' data side by side: who is furthest, and what is never compared."""

from __future__ import annotations

import json
from typing import Any

import pytest

from queenright.core.kinds.postgres_cluster.losses.data_ends import (
    DataEnd,
    MemberEnd,
    behind_text,
    conclusion,
    end_json,
    furthest,
    known_ends,
    read_end,
    told_end,
)
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import Observed, Unknown
from queenright.core.swarm.objects import Service
from tests.support.builders import NOW, desired, swarm_of, three_nodes
from tests.support.changed import with_member, with_swarm, without
from tests.unit.core.kinds.postgres_cluster.losses.test_raft_log import lost
from tests.unit.core.kinds.postgres_cluster.switchover.test_leaderless import waiting

LINE = {"system": "7123", "timeline": 4, "location": 83886408, "history": "ab12"}


def state_of(observed: Observed | None = None) -> ClusterState:
    observed = three_nodes() if observed is None else observed
    return ClusterState(desired(), swarm_of(observed), observed, NOW)


def ends_of(*found: DataEnd | None) -> list[MemberEnd]:
    members = desired().members
    return [
        MemberEnd(member, end, "volume" if end else "", "" if end else "its node node4 is down")
        for member, end in zip(members, found, strict=True)
    ]


def said(*found: DataEnd | None) -> str:
    return conclusion(state_of(), ends_of(*found))


def behind(*found: DataEnd | None) -> list[str]:
    ends = ends_of(*found)
    return [behind_text(one, ends) for one in ends]


def test_a_members_own_word_counts_where_it_gives_both() -> None:
    assert told_end(waiting("member-1", 2, 5000)) == DataEnd(2, 5000)
    assert told_end(waiting("member-1", 2, None)) is None
    assert told_end(waiting("member-1", None, 5000)) is None
    assert told_end(None) is None
    loss = lost(2).raft_loss
    assert loss is not None
    assert told_end(lost(2)) == DataEnd(loss.timeline, loss.location, loss.system, loss.history)


def test_a_line_counts_with_every_field_of_its_kind() -> None:
    assert read_end(json.dumps(LINE)) == DataEnd(4, 83886408, "7123", "ab12")
    assert read_end(f"a warning\n{json.dumps(LINE)}\n") is not None
    for name in LINE:
        assert read_end(json.dumps({k: v for k, v in LINE.items() if k != name})) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"timeline": -1},
        {"timeline": 1 << 32},
        {"timeline": True},
        {"timeline": "4"},
        {"location": 1 << 64},
        {"location": 5.0},
        {"system": "7\x1b[2J"},
        {"history": "another\nline"},
        {"system": 7},
    ],
)
def test_a_line_with_anything_else_is_none(wrong: dict[str, Any]) -> None:
    assert read_end(json.dumps({**LINE, **wrong})) is None


def test_a_silent_member_gets_a_job_by_its_service_or_by_the_one_that_it_is_to_have() -> None:
    observed = with_member(three_nodes(), "member-3", Unknown("timed out"))
    for seen in (observed, without(observed, "main_member-3")):
        found = [*known_ends(state_of(seen))]
        assert [isinstance(one, MemberEnd) for one in found] == [True, True, False]
        member, service, node_id = found[2]  # type: ignore[misc]
        assert isinstance(service, Service)
        assert (member.name, service.name, node_id) == ("member-3", "main_member-3", "id-node4")


def test_on_a_node_that_is_gone_nothing_is_known() -> None:
    observed = with_member(three_nodes(), "member-3", Unknown("timed out"))
    nodes = tuple(node for node in swarm_of(observed).nodes if node.name != "node4")
    found = [*known_ends(state_of(with_swarm(observed, nodes=nodes)))][2]
    assert isinstance(found, MemberEnd)
    assert (found.end, found.why) == (None, "its node node4 is not in the swarm")


def test_the_highest_timeline_counts_before_the_most_wal() -> None:
    ends = ends_of(DataEnd(1, 9000), DataEnd(2, 5000), DataEnd(2, 4000))
    assert [one.member.name for one in furthest(ends)] == ["member-2"]
    assert [behind_text(one, ends) for one in ends] == ["other timeline", "-", "1000"]
    assert [end_json(one, ends)["behind_bytes"] for one in ends] == [None, 0, 1000]
    assert conclusion(state_of(), ends) == (
        "member-2 is furthest (timeline 2, WAL position 5000 (0/1388)): with member-2 what "
        "member-1 wrote on timeline 1 is lost; with member-3 what member-1 wrote on timeline 1 and "
        "1000 bytes of member-2 is lost; with member-1 what member-2 wrote on timeline 2 and what "
        "member-3 wrote on timeline 2 is lost."
    )


def test_equals_are_both_furthest() -> None:
    end = DataEnd(2, 5000)
    assert said(end, end, DataEnd(2, 0)).startswith("member-1 and member-2 are furthest (timeline")
    assert behind(end, end, DataEnd(2, 0)) == ["-", "-", "5000"]


def test_with_one_that_is_not_known_the_conclusion_is_of_the_others() -> None:
    found = said(DataEnd(2, 5000), DataEnd(2, 4000), None)
    assert found.startswith("Of those that are known, member-1 is furthest ")
    assert "with member-1 what only member-3 has is lost" in found
    assert behind(DataEnd(2, 5000), DataEnd(2, 4000), None) == ["-", "1000", ""]
    assert said(None, None, None) == "No member is known to have data."


def test_a_member_without_data_is_no_choice() -> None:
    found = said(DataEnd(2, 5000), DataEnd(0, 0), DataEnd(2, 4000))
    assert "with member-2" not in found
    assert "what only" not in found
    assert behind(DataEnd(2, 5000), DataEnd(0, 0), DataEnd(2, 4000)) == ["-", "all", "1000"]


def test_two_databases_are_named_and_not_compared() -> None:
    ends = (DataEnd(2, 5000, "71"), DataEnd(3, 9000, "72"), DataEnd(2, 4000))
    assert said(*ends) == (
        "The ends can't be compared: the members have data of different databases (member-1: 71; "
        "member-2: 72)."
    )
    assert behind(*ends) == ["not comparable"] * 3


def test_two_timelines_of_one_number_are_not_compared() -> None:
    ends = (
        DataEnd(2, 5000, "71", "aa"),
        DataEnd(2, 9000, "71", "bb"),
        DataEnd(2, 4000, "71", "aa"),
    )
    assert said(*ends) == (
        "The ends can't be compared: the members have different timelines 2 (member-1, member-3; "
        "member-2)."
    )
    assert behind(*ends) == ["not comparable"] * 3
