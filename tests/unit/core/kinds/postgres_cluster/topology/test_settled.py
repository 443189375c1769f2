"""Silent members that are dead, by the word of swarm and of the other Raft nodes."""

from __future__ import annotations

import dataclasses

import pytest

from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.settled import is_dead
from queenright.core.observed import Known, Observed, RaftStatus, Unknown
from tests.support.builders import MANIFEST, NOW, desired, swarm_of
from tests.support.changed import with_member, with_node
from tests.support.topology_worlds import deployed, raft_nodes, voter, with_raft_nodes

NAME = "member-3"


def silent(state: str = "ready", leader: int = 1, **said: RaftStatus) -> Observed:
    """The third member does not answer; what the others' Raft nodes say of it is given."""
    nodes = {**raft_nodes([1, 2, 3], leader, down=[3])}
    nodes |= {f"main_{name.replace('_', '-')}": Known(status) for name, status in said.items()}
    observed = with_member(deployed(1, 2, 3), NAME, Unknown("timed out"))
    return with_node(with_raft_nodes(observed, nodes), "node4", state=state)


def dead(observed: Observed) -> bool:
    state = ClusterState(desired(MANIFEST), swarm_of(observed), observed, NOW)
    member = state.member(NAME)
    assert member is not None
    return is_dead(state, member)


def connected(number: int, **fields: object) -> RaftStatus:
    """A node that calls itself connected with the third one."""
    found = raft_nodes([1, 2, 3])[f"main_member-{number}"]
    assert isinstance(found, Known)
    return dataclasses.replace(found.value, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("state", ["ready", "down"])
def test_one_that_nobody_reaches_is_dead(state: str) -> None:
    assert dead(silent(state))


@pytest.mark.parametrize("state", ["ready", "down"])
def test_one_that_the_leader_reaches_or_that_leads_is_not(state: str) -> None:
    assert not dead(silent(state, member_1=connected(1)))
    led = connected(2, leader=voter(3))
    assert not dead(silent(state, member_2=led))


def test_the_word_of_a_follower_keeps_nobody_from_being_dead() -> None:
    """Nobody has closed its connection with a node that lost its power, and swarm says so."""
    stale = connected(2)
    assert stale.state == "follower"
    assert dead(silent("down", member_2=stale))


def test_the_word_of_a_follower_is_enough_where_swarm_calls_the_node_ready() -> None:
    assert not dead(silent("ready", member_2=connected(2)))
