"""Members are removed one at a time: rows B1 to B5, ghosts, and the acknowledgement."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from functools import cache

import pytest

from queenright.core.actions import NoteMembers, RaftRemove, RaftTransfer, Switchover
from queenright.core.kinds.postgres_cluster.annotations import LastLeader
from queenright.core.kinds.postgres_cluster.places import decode_places, numbers_of
from queenright.core.observed import Known, Observed, Unknown
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import MEMBERS_LABEL
from tests.support.builders import LONG_AGO, MANIFEST, plan_for, status, swarm_of
from tests.support.changed import with_member, with_node, with_notes
from tests.support.topology_worlds import (
    after,
    deployed,
    raft_nodes,
    refusal,
    settled,
    text_of,
    voter,
    whole,
    with_raft_nodes,
)

ALONE = text_of(1, spec="  acknowledge: [noFailover]\n")


@cache
def five() -> Observed:
    return deployed(1, 2, 3, 4, 5)


def keys(plan: Plan) -> list[str]:
    return [action.key for action in plan.actions]


def reason(plan: Plan, key: str) -> str:
    return next(hold.reason for hold in plan.holds if hold.key == key)


WITHOUT_4 = text_of(1, 2, 3, 5, spec="  acknowledge: [evenMembers]\n")


def test_b1_the_leader_hands_over_first() -> None:
    observed = with_notes(whole(five(), leader=5), leader=LastLeader("member-5", 1, LONG_AGO))
    even = "  acknowledge: [evenMembers]\n  fastSwitchover: false\n"
    plan = plan_for(observed, text_of(1, 2, 3, 4, spec=even))
    assert keys(plan) == ["label-config/main_cluster", "switchover/main"]
    (move,) = (action for action in plan.actions if isinstance(action, Switchover))
    assert (move.leader, move.candidate) == ("member-5", "member-1")
    assert "it leads; a switchover comes first" in reason(plan, "membership/main_member-5")
    assert refusal(plan, observed) is None


def test_b1_the_leader_stays_while_its_removal_is_not_acknowledged() -> None:
    observed = with_notes(
        whole(deployed(1, 2, 3), leader=3), leader=LastLeader("member-3", 1, LONG_AGO)
    )
    assert keys(plan_for(observed, text_of(1))) == []


def test_b2_rafts_leader_hands_over_first() -> None:
    observed = with_raft_nodes(five(), raft_nodes(range(1, 6), leader=4))
    plan = plan_for(observed, WITHOUT_4)
    (action,) = (a for a in plan.actions if isinstance(a, RaftTransfer))
    assert (action.address, action.voter) == ("10.77.0.15", voter(1))
    assert refusal(plan, observed) is None


def test_b2_waits_for_a_follower_that_has_everything() -> None:
    found = raft_nodes(range(1, 6), leader=4)
    leading = found["main_member-4"]
    assert isinstance(leading, Known)
    behind = dataclasses.replace(leading.value, match_index={voter(n): 39 for n in (1, 2, 3, 5)})
    plan = plan_for(with_raft_nodes(five(), {**found, "main_member-4": Known(behind)}), WITHOUT_4)
    assert not any(isinstance(action, RaftTransfer | RaftRemove) for action in plan.actions)


def test_b3_takes_the_vote_by_rafts_leader() -> None:
    plan = plan_for(five(), MANIFEST)
    (action,) = (a for a in plan.actions if isinstance(a, RaftRemove))
    assert (action.address, action.port, action.voter) == ("10.77.0.12", 5010, voter(4))
    assert action.disrupts == "main_member-4"
    assert refusal(plan, five()) is None


@pytest.mark.parametrize(
    ("listed", "down", "seen_s", "why"),
    [
        (range(1, 6), [3], 100.0, "does not reach"),
        (range(1, 6), [], 59.0, "has to last 60 s"),
    ],
)
def test_b3_waits_while_the_others_are_not_settled(
    listed: range, down: list[int], seen_s: float, why: str
) -> None:
    observed = with_raft_nodes(five(), raft_nodes(listed, down=down), seen_s)
    plan = plan_for(observed, MANIFEST)
    assert not any(isinstance(action, RaftRemove) for action in plan.actions)
    assert why in reason(plan, "membership/main_member-4")


def without_vote() -> Observed:
    (action,) = (a for a in plan_for(five(), MANIFEST).actions if isinstance(a, RaftRemove))
    return after(five(), action)


def noted_without_vote() -> Observed:
    (action,) = plan_for(without_vote(), MANIFEST).actions
    assert isinstance(action, NoteMembers)
    return after(without_vote(), action)


def test_b4_removes_the_service_and_names_what_stays() -> None:
    observed = noted_without_vote()
    plan = plan_for(observed, MANIFEST)
    assert keys(plan)[-1] == "remove-service/main_member-4"
    assert "volumes main_member-4-data and main_member-4-raft stay on node5" in (
        plan.actions[-1].reason
    )
    assert refusal(plan, observed) is None


def test_b4_goes_back_to_b3_where_the_member_voted_again() -> None:
    again = settled(without_vote(), range(1, 6))
    assert "raft-remove/main/10.77.0.15:5010" in keys(plan_for(again, MANIFEST))


def test_b5_frees_the_place_and_leaves_the_others_their_numbers() -> None:
    text = text_of(1, 2, 3, 5, spec="  acknowledge: [evenMembers]\n")
    observed = noted_without_vote()
    for _ in range(20):
        plan = plan_for(observed, text)
        found = [action for action in plan.actions if isinstance(action, NoteMembers)]
        if found:
            break
        observed = after(observed, plan.actions[0])
    places = decode_places(found[0].config.labels[MEMBERS_LABEL])
    assert [place.name for place in places] == ["member-1", "member-2", "member-3", "member-5"]
    assert numbers_of(places) == (1, 2, 3, 5)
    assert refusal(plan, observed) is None
    left = plan_for(after(observed, found[0]), text)
    assert keys(left)[0] == "label-node/node5", "and member-5 keeps its label"


def test_every_pass_of_a_removal_is_allowed_by_the_guards() -> None:
    observed, seen = five(), []
    for _ in range(60):
        plan = plan_for(observed, MANIFEST)
        assert refusal(plan, observed) is None, plan.actions
        if not plan.actions:
            break
        seen.append(plan.actions[0].key)
        observed = after(observed, plan.actions[0])
    names = {live.value.name for live in swarm_of(observed).services}
    assert names == {"main_member-1", "main_member-2", "main_member-3", "main_proxy"}
    votes = [key for key in seen if key.startswith("raft-remove/")]
    assert votes == [f"raft-remove/main/{voter(4)}", f"raft-remove/main/{voter(5)}"]
    assert {node.name for node in swarm_of(observed).nodes if "pg-node" in node.labels} == {
        "node2",
        "node3",
        "node4",
    }


def test_fewer_than_three_need_a_word() -> None:
    plan = plan_for(deployed(1, 2, 3), text_of(1))
    assert keys(plan) == []
    assert "acknowledge: [noFailover]" in reason(plan, "membership/main_member-2")
    assert next(h for h in plan.holds if "member-2" in h.key).wants_attention


def test_with_the_word_one_member_is_left() -> None:
    observed = deployed(1, 2, 3)
    for _ in range(60):
        plan = plan_for(observed, ALONE)
        assert refusal(plan, observed) is None, plan.actions
        if not plan.actions:
            break
        observed = after(observed, plan.actions[0])
    names = {live.value.name for live in swarm_of(observed).services}
    assert names == {"main_member-1", "main_proxy"}


def test_the_restart_of_the_only_member_is_left_to_its_owner() -> None:
    observed = deployed(1, 2, 3)
    for _ in range(60):
        plan = plan_for(observed, ALONE)
        if not plan.actions:
            break
        observed = after(observed, plan.actions[0])
    changes = {"max_connections": ("100", "200")}
    told = status("member-1", "member-1", pending_restart=True, pending_changes=changes)
    plan = plan_for(with_member(observed, "member-1", told), ALONE)
    assert keys(plan) == []
    (hold,) = (hold for hold in plan.holds if hold.key == "restart-postgres/main_member-1")
    assert hold.wants_attention
    assert "queenright restart member-1" in hold.reason


def test_a_member_whose_node_is_down_is_removed_first() -> None:
    """The others are a majority without it, and nothing may be added before it is gone."""
    observed = with_node(deployed(1, 2, 3), "node4", state="down")
    observed = with_member(observed, "member-3", Unknown("timed out"))
    observed = with_raft_nodes(observed, raft_nodes([1, 2, 3], down=[3]))
    plan = plan_for(observed, text_of(1, 2, 4))
    assert [k for k in keys(plan) if "raft" in k or "note" in k] == [f"raft-remove/main/{voter(3)}"]
    assert refusal(plan, observed) is None


def test_a_successor_is_added_before_a_live_member_goes() -> None:
    plan = plan_for(deployed(1, 2, 3), text_of(1, 2, 4))
    assert keys(plan) == ["note-members/main_cluster"]


GHOST = "10.77.0.17:5010"


def test_a_ghost_is_removed_when_the_rest_is_settled() -> None:
    observed = with_raft_nodes(deployed(1, 2, 3), raft_nodes([1, 2, 3, GHOST], down=[GHOST]))
    plan = plan_for(observed)
    assert keys(plan) == [f"raft-remove/main/{GHOST}"]
    assert refusal(plan, observed) is None


def test_two_ghosts_go_one_after_the_other() -> None:
    ghosts = [GHOST, "10.77.0.16:5010"]
    observed = with_raft_nodes(deployed(1, 2, 3), raft_nodes([1, 2, 3, *ghosts], down=ghosts))
    plan = plan_for(observed)
    assert keys(plan) == ["raft-remove/main/10.77.0.16:5010"]
    assert refusal(plan, observed) is None


def test_a_ghost_stays_while_a_member_does_not_answer() -> None:
    listed: list[int | str] = [1, 2, 3, GHOST]
    observed = with_raft_nodes(deployed(1, 2, 3), raft_nodes(listed, down=[3, GHOST]))
    plan = plan_for(observed)
    assert keys(plan) == []
    assert "removed later" in reason(plan, f"ghost/main/{GHOST}")


def test_a_deployed_place_is_no_ghost() -> None:
    """Not even one whose service is gone."""
    observed = with_raft_nodes(deployed(1, 2, 3), raft_nodes([1, 2, 3], down=[3]))
    assert not any(key.startswith("raft-remove/") for key in keys(plan_for(observed)))


def test_two_dead_members_of_five_are_removed_one_after_the_other() -> None:
    """Neither removal waits for the other one to answer."""
    observed = five()
    for name in ("member-4", "member-5"):
        observed = with_member(observed, name, Unknown("timed out"))
    observed = with_raft_nodes(observed, raft_nodes(range(1, 6), down=[4, 5]))
    votes = []
    for _ in range(40):
        plan = plan_for(observed, MANIFEST)
        assert refusal(plan, observed) is None, plan.actions
        if not plan.actions:
            break
        votes += [a.voter for a in plan.actions[:1] if isinstance(a, RaftRemove)]
        observed = after(observed, plan.actions[0])
    assert votes == [voter(4), voter(5)]
    names = {live.value.name for live in swarm_of(observed).services}
    assert names == {"main_member-1", "main_member-2", "main_member-3", "main_proxy"}


def test_the_vote_of_a_silent_member_stays_where_no_majority_is_known_to_be_left() -> None:
    """Two of three are silent, and the third one's Raft node says that it reaches them."""
    observed = deployed(1, 2, 3)
    for name in ("member-2", "member-3"):
        observed = with_member(observed, name, Unknown("timed out"))
    nodes = raft_nodes([1, 2, 3])
    nodes |= dict.fromkeys(("main_member-2", "main_member-3"), Unknown("timed out"))
    observed = with_raft_nodes(observed, nodes)
    plan = plan_for(observed, ALONE)
    assert not any(key.startswith("raft-remove/") for key in keys(plan))
    told = [hold.reason for hold in plan.holds if hold.key.startswith("membership/")]
    assert any("1 of the 2 voters that stay answer" in words for words in told), told
    assert refusal(plan, observed) is None


def test_a_noted_newcomer_does_not_keep_a_dead_member() -> None:
    """Its own start waits for the dead one's removal."""
    text = text_of(1, 2, 3, 4, 5)
    observed = deployed(1, 2, 3)
    observed = after(observed, plan_for(observed, text).actions[0])
    observed = with_member(observed, "member-3", Unknown("timed out"))
    observed = with_raft_nodes(observed, raft_nodes([1, 2, 3], down=[3]))
    plan = plan_for(observed, text_of(1, 2, 4))
    assert f"raft-remove/main/{voter(3)}" in keys(plan)
    assert refusal(plan, observed) is None


def with_dead(observed: Observed, *numbers: int, listed: Iterable[int] = range(1, 6)) -> Observed:
    """These members do not answer, and swarm calls their nodes down."""
    for number in numbers:
        observed = with_member(observed, f"member-{number}", Unknown("timed out"))
        observed = with_node(observed, f"node{number + 1}", state="down")
    return with_raft_nodes(observed, raft_nodes(listed, down=numbers))


def test_a_dead_member_goes_while_another_one_is_dead() -> None:
    """The other stays in the file; its replacement waits until this one is gone."""
    observed = with_dead(five(), 2, 4)
    plan = plan_for(observed, MANIFEST)
    assert f"raft-remove/main/{voter(4)}" in keys(plan)
    assert refusal(plan, observed) is None


@pytest.mark.parametrize("state", ["ready", "down"])
@pytest.mark.parametrize("other", [2, 4])
def test_of_two_silent_members_neither_goes_while_one_may_be_alive(other: int, state: str) -> None:
    """The others' Raft nodes reach it, whatever the swarm's managers hear of its node."""
    observed = with_dead(five(), 2, 4)
    observed = with_node(observed, f"node{other + 1}", state=state)
    dead = ({2, 4} - {other}).pop()
    nodes = raft_nodes(range(1, 6), down=[dead])
    nodes[f"main_member-{other}"] = Unknown("timed out")
    plan = plan_for(with_raft_nodes(observed, nodes), MANIFEST)
    assert not any(key.startswith("raft-remove/") for key in keys(plan))


def test_a_dead_member_stays_where_the_others_are_no_majority() -> None:
    plan = plan_for(with_dead(five(), 2, 3, 4), MANIFEST)
    assert not any(key.startswith("raft-remove/") for key in keys(plan))


def test_a_live_member_is_not_removed_beside_a_dead_one() -> None:
    plan = plan_for(with_dead(five(), 2), MANIFEST)
    assert not any(key.startswith("raft-remove/") for key in keys(plan))
