"""Members are moved and replaced by their lines: rows C and D."""

from __future__ import annotations

import dataclasses

import pytest

from queenright.core.actions import CreateService, NoteMembers, RaftRemove, RemoveService
from queenright.core.kinds.postgres_cluster.places import (
    DeployedMember,
    decode_places,
    encode_places,
)
from queenright.core.observed import Known, Observed, Unknown
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import MEMBERS_LABEL
from tests.support.builders import plan_for, swarm_of
from tests.support.changed import with_member, with_node
from tests.support.moving_worlds import (
    MOVED,
    READDRESSED,
    dead,
    keys,
    places_noted,
    reason,
    steps_until,
)
from tests.support.topology_worlds import (
    after,
    deployed,
    raft_nodes,
    refusal,
    text_of,
    voter,
    with_raft_nodes,
)


def test_a_dead_member_loses_its_vote_before_it_is_made_anew() -> None:
    observed, plan = steps_until(dead(), MOVED, RaftRemove)
    (action,) = (a for a in plan.actions if isinstance(a, RaftRemove))
    assert action.voter == voter(3)
    assert "quorum 2 of 3, then quorum 2 of 2" in action.reason
    observed, plan = steps_until(after(observed, action), MOVED, RemoveService)
    observed = after(observed, plan.actions[-1])
    observed, plan = steps_until(observed, MOVED, NoteMembers)
    assert [place.name for place in places_noted(plan)] == ["member-1", "member-2"]
    (cut,) = (a for a in plan.actions if isinstance(a, NoteMembers))
    observed, plan = steps_until(after(observed, cut), MOVED, NoteMembers)
    assert places_noted(plan)[2] == DeployedMember("member-3", "node5", "10.77.0.15")


def test_a_dead_member_is_not_replaced_where_nobody_can_be() -> None:
    """Its vote stays until there is a node for its successor."""
    plan = plan_for(with_node(dead(), "node5", state="down"), MOVED)
    assert not any(isinstance(action, RaftRemove | NoteMembers) for action in plan.actions)
    assert "node node5 is down" in reason(plan, "membership/main_member-3")


@pytest.mark.parametrize(("state", "is_cut"), [("down", True), ("unknown", False)])
def test_unknown_is_not_down(state: str, *, is_cut: bool) -> None:
    """The removed service's container may run where the swarm does not hear the node."""
    observed = dead(state)
    task = next(t for t in swarm_of(observed).tasks if t.service_id == "id-main_member-3")
    for kind in (RaftRemove, RemoveService):
        observed, plan = steps_until(observed, MOVED, kind)
        observed = after(observed, plan.actions[-1])
    left = dataclasses.replace(swarm_of(observed), tasks=(*swarm_of(observed).tasks, task))
    observed = dataclasses.replace(observed, swarm=Known(left))
    plan = plan_for(observed, MOVED)
    assert any(isinstance(action, NoteMembers) for action in plan.actions) == is_cut
    free = encode_places(decode_places(noted(observed))[:2])
    (found,) = (c for c in left.configs if c.value.name == "main_cluster")
    labels = {**found.value.labels, MEMBERS_LABEL: free}
    cut = NoteMembers(
        found.id, found.version, dataclasses.replace(found.value, labels=labels), reason=""
    )
    refused = refusal(Plan("main", "digest", (cut,)), observed)
    assert (refused is None) == is_cut, refused


def noted(observed: Observed) -> str:
    (found,) = (c for c in swarm_of(observed).configs if c.value.name == "main_cluster")
    return found.value.labels[MEMBERS_LABEL]


@pytest.mark.parametrize("state", ["ready", "down"])
def test_a_member_that_another_one_reaches_is_not_dead(state: str) -> None:
    """Whatever the swarm's managers hear of its node: its vote stays."""
    observed = with_member(deployed(1, 2, 3), "member-3", Unknown("timed out"))
    observed = dataclasses.replace(
        observed, raft={**observed.raft, "main_member-3": Unknown("timed out")}
    )
    plan = plan_for(with_node(observed, "node4", state=state), MOVED)
    assert not any(isinstance(action, RaftRemove | NoteMembers) for action in plan.actions)
    assert "Raft's leader reaches it" in reason(plan, "membership/main_member-3")


def test_one_lost_answer_is_no_death() -> None:
    """One of the others does not answer: the only word against it is no majority's."""
    observed = with_raft_nodes(deployed(1, 2, 3), raft_nodes([1, 2, 3], down=[2, 3]))
    for name in ("member-2", "member-3"):
        observed = with_member(observed, name, Unknown("timed out"))
    plan = plan_for(observed, MOVED)
    assert not any(isinstance(action, RaftRemove | NoteMembers) for action in plan.actions)
    assert "it does not answer, and neither is node4 down" in reason(
        plan, "membership/main_member-3"
    )


def test_a_newcomer_waits_for_its_node() -> None:
    observed = deployed(1, 2, 3)
    observed = after(observed, plan_for(observed, MOVED).actions[0])
    observed = with_node(observed, "node5", state="down")
    for _ in range(6):
        plan = plan_for(observed, MOVED)
        assert not any(isinstance(action, CreateService) for action in plan.actions)
        if not plan.actions:
            break
        observed = after(observed, plan.actions[0])
    told = reason(plan, "create-service/main_member-3-moved")
    assert "node node5 is not ready" in told


def test_a_live_member_gets_a_stand_in_first() -> None:
    plan = plan_for(deployed(1, 2, 3), MOVED)
    assert keys(plan) == ["note-members/main_cluster"]
    assert places_noted(plan)[3] == DeployedMember("member-3-moved", "node5", "10.77.0.15")
    assert "to stand for member-3" in plan.actions[0].reason
    assert refusal(plan, deployed(1, 2, 3)) is None


def test_without_a_free_node_a_member_leaves_and_returns_in_place() -> None:
    observed = deployed(1, 2, 3)
    plan = plan_for(observed, READDRESSED)
    assert keys(plan) == []
    assert "the swarm knows node4 by 10.77.0.14" in reason(plan, "membership/main_member-3")
    plan = plan_for(with_node(observed, "node4", address="10.77.0.99"), READDRESSED)
    assert keys(plan) == [f"raft-remove/main/{voter(3)}"]
    assert "moves from 10.77.0.14 to 10.77.0.99 (in place, without a stand-in)" in (
        plan.actions[0].reason
    )


@pytest.mark.parametrize(("answers", "goes"), [("member-3", True), ("member-2", False)])
def test_a_member_that_answers_at_its_new_address_already_is_not_in_its_own_way(
    answers: str, *, goes: bool
) -> None:
    """A node that changes its address has both for a while, and a member listens on all."""
    observed = with_node(deployed(1, 2, 3), "node4", address="10.77.0.99")
    raft = {**observed.raft, "main_member-3@10.77.0.99": observed.raft[f"main_{answers}"]}
    plan = plan_for(dataclasses.replace(observed, raft=raft), READDRESSED)
    assert keys(plan) == ([f"raft-remove/main/{voter(3)}"] if goes else [])
    told = reason(plan, "membership/main_member-3") if not goes else ""
    assert ("a Raft node answers at 10.77.0.99:5010" in told) is not goes


@pytest.mark.parametrize("stands", [True, False], ids=["the stand-in is there", "before"])
def test_a_place_that_does_not_fit_keeps_nobody_from_a_move(*, stands: bool) -> None:
    """The new member is to be where the second one is, which moves away from there."""
    observed = deployed(1, 2, 3, 4) if stands else deployed(1, 2, 3)
    text = text_of(1, 2, 3, 6, spec="  acknowledge: [evenMembers]\n")
    text = text.replace("member-2, node: node3", "member-2, node: node5")
    plan = plan_for(observed, text.replace("member-6, node: node7", "member-6, node: node3"))
    (action,) = (a for a in plan.actions if isinstance(a, RaftRemove | NoteMembers))
    assert ("to stand for member-2" in action.reason) is not stands
    assert stands == (isinstance(action, RaftRemove) and action.voter == voter(2))
    assert refusal(plan, observed) is None


def test_a_member_moves_to_no_address_from_which_others_reject_it() -> None:
    plan = plan_for(with_node(deployed(1, 2, 3), "node5", address="192.168.1.5"), MOVED)
    assert keys(plan) == []
    assert "192.168.1.5, which is outside lanSubnet" in reason(plan, "membership/main_member-3")
    written = MOVED.replace("node: node5", "node: node5, address: 10.77.0.15")
    plan = plan_for(with_node(deployed(1, 2, 3), "node5", address="192.168.1.5"), written)
    assert places_noted(plan)[3].address == "10.77.0.15"


def test_additions_that_wait_for_a_move_do_not_keep_it_from_beginning() -> None:
    """The fifth member is to be where the third one is, which moves away from there."""
    text = text_of(1, 2, 3, 4, 5).replace("member-3, node: node4", "member-3, node: node7")
    text = text.replace("member-5, node: node6", "member-5, node: node4")
    plan = plan_for(deployed(1, 2, 3), text)
    assert places_noted(plan)[3].name == "member-3-moved"


def test_the_only_member_stays_where_it_is() -> None:
    observed, alone = deployed(1, 2, 3), text_of(1, spec="  acknowledge: [noFailover]\n")
    for _ in range(60):
        plan = plan_for(observed, alone)
        if not plan.actions:
            break
        observed = after(observed, plan.actions[0])
    plan = plan_for(observed, alone.replace("node: node2", "node: node5"))
    assert keys(plan) == []
    assert "it is the only member" in reason(plan, "membership/main_member-1")


HERE = text_of(1, 2, 3).replace("node: node4", "node: db4")
"""The file has member-3 on the node that was node4, under its new name."""


def renamed(observed: Observed, address: str = "10.77.0.99") -> Observed:
    return with_node(observed, "node4", name="db4", address=address)


def test_a_member_that_answers_moves_to_no_other_address_by_its_nodes_new_name() -> None:
    """Nobody but its owner knows whether it is the same machine."""
    found = with_raft_nodes(renamed(deployed(1, 2, 3)), raft_nodes([1, 2, 3]))
    answer = found.raft["main_member-3"]
    both = dataclasses.replace(found, raft={**found.raft, "main_member-3@10.77.0.99": answer})
    for observed in (found, both):
        plan = plan_for(observed, HERE)
        assert plan.actions == ()
        assert "write address: 10.77.0.14" in reason(plan, "membership/main_member-3")


def test_a_member_on_a_renamed_node_moves_away_as_any_other() -> None:
    observed = with_raft_nodes(renamed(deployed(1, 2, 3), "10.77.0.14"), raft_nodes([1, 2, 3]))
    assert places_noted(plan_for(observed, MOVED))[3].name == "member-3-moved"
