"""A Raft node's word about the others, by its status."""

from __future__ import annotations

import dataclasses

from queenright.core.observed import raft_hears
from tests.support.builders import raft_status

FIRST, SECOND, THIRD = (f"10.77.0.{number}:5010" for number in (12, 13, 14))


def test_the_leader_hears_whom_it_is_connected_with() -> None:
    leader = raft_status("member-1", silent={"member-3"})
    assert raft_hears(leader, SECOND)
    assert not raft_hears(leader, THIRD)
    assert not raft_hears(leader, "10.77.0.99:5010")


def test_a_follower_hears_its_leader_alone() -> None:
    """Its connection with another follower may have no other end any more."""
    follower = raft_status("member-2")
    assert raft_hears(follower, FIRST)
    assert not raft_hears(follower, THIRD)


def test_a_node_without_a_quorum_hears_nobody_for_certain() -> None:
    alone = dataclasses.replace(raft_status("member-1"), has_quorum=False)
    assert not raft_hears(alone, SECOND)
