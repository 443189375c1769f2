"""A member on a node that is down for `replaceAfter` is replaced on a spare node, by a note."""

from __future__ import annotations

import pytest

from queenright.core.actions import AnyAction, LabelConfig, NoteMembers, RaftRemove, RemoveService
from queenright.core.kinds.postgres_cluster.topology.replaced import (
    REPLACED_LABEL,
    Replaced,
    decode_replaced,
)
from queenright.core.observed import Observed, Unknown
from queenright.core.planning.plan import Plan
from tests.support.builders import NOW, plan_for, status
from tests.support.changed import with_config_labels, with_member, with_node
from tests.support.replacing_worlds import (
    ASKED,
    MINE,
    TEXT,
    dead,
    labels_of,
    noted,
    reached,
    with_another_cluster,
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


def notes_in(plan: Plan) -> tuple[Replaced, ...] | None:
    """The notes that the plan writes; None where it writes none."""
    for action in plan.actions:
        if isinstance(action, LabelConfig) and action.config.name == "main_cluster":
            return decode_replaced(action.config.labels.get(REPLACED_LABEL, ""))
    return None


def told(plan: Plan, key: str = "replace/main_member-3") -> str:
    return next(hold.reason for hold in plan.holds if hold.key == key)


def through(observed: Observed, text: str, kind: type[AnyAction]) -> tuple[Observed, AnyAction]:
    """Follow the plans until one has such an action; return what was seen before it, and it."""
    for _ in range(20):
        plan = plan_for(observed, text)
        assert refusal(plan, observed) is None, [action.key for action in plan.actions]
        for action in plan.actions:
            if isinstance(action, kind):
                return observed, action
        assert plan.actions, [hold.reason for hold in plan.holds]
        observed = after(observed, plan.actions[0])
    raise AssertionError("never")


def test_it_is_replaced_after_the_time_and_not_before() -> None:
    early = plan_for(dead(1700.0), TEXT)
    assert notes_in(early) is None
    assert "replaced on a spare node when that has lasted for 30m" in told(early)
    assert early.recheck_at is not None
    assert (early.recheck_at - NOW).total_seconds() <= 100
    due = plan_for(dead(), TEXT)
    assert notes_in(due) == (MINE,)
    assert "member member-3 is replaced on node5: node4 is down" in due.actions[0].reason
    assert refusal(due, dead()) is None


def test_without_the_field_nobody_is_replaced() -> None:
    plan = plan_for(dead(1e6), text_of(1, 2, 3))
    assert plan.actions == ()


def test_a_noted_member_goes_the_way_of_an_edited_line() -> None:
    observed, note = through(dead(), TEXT, LabelConfig)
    observed, vote = through(after(observed, note), TEXT, RaftRemove)
    assert isinstance(vote, RaftRemove)
    assert vote.voter == voter(3)
    observed, service = through(after(observed, vote), TEXT, RemoveService)
    observed, cut = through(after(observed, service), TEXT, NoteMembers)
    observed, place = through(after(observed, cut), TEXT, NoteMembers)
    assert isinstance(place, NoteMembers)
    assert "member-3 is added on node5" in place.reason


@pytest.mark.parametrize("state", ["unknown", "disconnected"])
def test_unknown_is_not_down(state: str) -> None:
    """Neither does a note begin, nor one that is there take the vote."""
    assert notes_in(plan_for(dead(1e6, state), TEXT)) is None
    plan = plan_for(noted(dead(1e6, state), MINE), TEXT)
    assert notes_in(plan) == ()
    assert not any(isinstance(action, RaftRemove) for action in plan.actions)


def test_a_member_that_answers_is_not_dead() -> None:
    """The managers don't hear its node, and it serves."""
    alive = with_member(dead(), "member-3", status("member-3", "member-1"))
    assert notes_in(plan_for(alive, TEXT)) is None
    plan = plan_for(noted(alive, MINE), TEXT)
    assert notes_in(plan) == ()
    assert not any(isinstance(action, NoteMembers | RaftRemove) for action in plan.actions)


def test_a_member_that_others_reach_is_not_dead() -> None:
    """The managers hear neither its node nor itself; it may stream, and lead Raft."""
    plan = plan_for(reached(), TEXT)
    assert notes_in(plan) is None
    assert "Raft's leader reaches member-3: it is alive" in told(plan)
    plan = plan_for(noted(reached(), MINE), TEXT)
    assert not any(isinstance(action, NoteMembers | RaftRemove) for action in plan.actions)


def test_a_node_that_is_back_in_time_keeps_its_member() -> None:
    plan = plan_for(noted(deployed(1, 2, 3), MINE), TEXT)
    assert notes_in(plan) == ()
    assert [action.key for action in plan.actions] == ["label-config/main_cluster"]
    observed, note = through(dead(), TEXT, LabelConfig)
    observed, vote = through(after(observed, note), TEXT, RaftRemove)
    back = with_node(after(observed, vote), "node4", state="ready")
    plan = plan_for(back, TEXT)
    assert notes_in(plan) == ()
    assert not any(isinstance(action, RemoveService) for action in plan.actions)


@pytest.mark.parametrize(
    ("spoilt", "why"),
    [
        (lambda o: with_node(o, "node4", availability="drain"), "set to drain"),
        (lambda o: with_member(o, "member-2", Unknown("timed out")), "member-2 does not answer"),
        (
            lambda o: with_raft_nodes(o, raft_nodes([1, 2, 3], down=[2, 3])),
            "the Raft node of member-1 does not reach 10.77.0.13:5010",
        ),
    ],
    ids=["somebody works on the node", "another is down", "another has no Raft node"],
)
def test_obstacles_are_told(spoilt: object, why: str) -> None:
    assert callable(spoilt)
    observed = spoilt(dead())
    plan = plan_for(observed, TEXT)
    assert notes_in(plan) is None
    assert why in told(plan)


@pytest.mark.parametrize(
    "more", ["  maintenance: {nodes: [node4]}\n", "  maintenance: {nodes: [node2]}\n"]
)
def test_maintenance_keeps_every_member(more: str) -> None:
    plan = plan_for(dead(), TEXT + more)
    assert notes_in(plan) is None
    assert "in maintenance" in told(plan)


def test_a_paused_cluster_is_left_alone() -> None:
    assert plan_for(dead(), TEXT + "  reconcile: paused\n").actions == ()


def test_the_first_spare_that_fits_is_taken() -> None:
    assert notes_in(plan_for(with_node(dead(), "node5", state="down"), TEXT)) == (
        Replaced("member-3", "node4", "node6"),
    )
    foreign = with_node(dead(), "node5", labels={"pg-node": "9"})
    assert notes_in(plan_for(foreign, TEXT)) == (Replaced("member-3", "node4", "node6"),)
    far = with_node(with_node(dead(), "node5", address="192.168.9.9"), "node6", state="down")
    plan = plan_for(far, TEXT)
    assert notes_in(plan) is None
    assert "node5: its address 192.168.9.9 is outside lanSubnet" in told(plan)
    assert "node6: node node6 is down" in told(plan)


def test_another_spare_is_taken_only_while_the_others_are_well() -> None:
    """Found by simulated history 123456853: the rule asked for what its guard refuses."""
    gone = with_node(noted(dead(), MINE), "node5", state="down")
    assert notes_in(plan_for(gone, TEXT)) == (Replaced("member-3", "node4", "node6"),)
    unwell = with_member(gone, "member-2", Unknown("timed out"))
    plan = plan_for(unwell, TEXT)
    assert notes_in(plan) is None
    assert refusal(plan, unwell) is None


def test_nobody_is_replaced_beside_one_that_is_to_go_and_has_just_started() -> None:
    """Simulated history 55000114: the guard does not know the file, and refused it."""
    without = text_of(1, 3, spec=f"{ASKED}  acknowledge: [noFailover, evenMembers]\n")
    assert notes_in(plan_for(dead(), without)) == (MINE,)
    starting = status("member-2", "member-1", state="starting", replication_state="")
    observed = with_member(dead(), "member-2", starting)
    plan = plan_for(observed, without)
    assert refusal(plan, observed) is None
    assert notes_in(plan) is None
    assert "member-2 is starting, not streaming" in told(plan)


def test_another_spare_is_taken_only_after_the_time() -> None:
    """An operator that has just begun has not seen the member's node down for long."""
    gone = with_node(noted(dead(59.0), MINE), "node5", state="down")
    plan = plan_for(gone, TEXT)
    assert notes_in(plan) is None
    assert refusal(plan, gone) is None


def test_a_spare_of_another_cluster_is_left_to_it() -> None:
    sixth = (Replaced("member-3", "node4", "node6"),)
    assert notes_in(plan_for(with_another_cluster(dead(), "other", on="node5"), TEXT)) == sixth
    promised = with_another_cluster(dead(), "other", Replaced("db", "node9", "node5"))
    assert notes_in(plan_for(promised, TEXT)) == sixth


@pytest.mark.parametrize(("other", "kept"), [("alpha", False), ("zeta", True)])
def test_of_two_that_noted_one_spare_the_first_by_name_keeps_it(other: str, *, kept: bool) -> None:
    both = noted(dead(), MINE)
    both = with_another_cluster(both, other, Replaced("db", "node9", "node5"))
    plan = plan_for(both, TEXT)
    assert (notes_in(plan) is None) == kept
    if not kept:
        assert notes_in(plan) == (Replaced("member-3", "node4", "node6"),)
        assert refusal(plan, both) is None


def replaced() -> Observed:
    """The third member lives on node5 by its note, and all is well."""
    observed = noted(deployed(1, 2, 3), MINE)
    for kind in (RaftRemove, RemoveService, NoteMembers, NoteMembers):
        gone = with_node(observed, "node4", state="down")
        gone = with_member(gone, "member-3", Unknown("timed out"))
        if kind is RaftRemove:
            gone = with_raft_nodes(gone, raft_nodes([1, 2, 3], down=[3]))
        gone, action = through(gone, TEXT, kind)
        observed = after(gone, action)
    return observed


def test_people_are_told_the_line_to_write() -> None:
    plan = plan_for(replaced(), TEXT)
    hold = next(hold for hold in plan.holds if hold.key == "replace/main_member-3")
    assert hold.is_informational
    assert "is on node5 instead of the file's node4" in hold.reason
    assert "write node: node5 in its line" in hold.reason


def test_the_edited_file_takes_the_note_away() -> None:
    observed = replaced()
    caught_up = TEXT.replace("member-3, node: node4", "member-3, node: node5")
    plan = plan_for(observed, caught_up)
    assert notes_in(plan) == ()
    elsewhere = TEXT.replace("member-3, node: node4", "member-3, node: node6")
    assert notes_in(plan_for(observed, elsewhere)) == ()


def test_a_note_that_is_taken_back_takes_no_vote_with_it() -> None:
    """The file's owner takes `replaceAfter` out while the member's node is still down."""
    plan = plan_for(noted(dead(), MINE), text_of(1, 2, 3))
    assert notes_in(plan) == ()
    assert not any(isinstance(action, RaftRemove) for action in plan.actions)


def test_a_note_that_is_taken_back_takes_no_service_with_it() -> None:
    """The vote has gone already. The member is the file's again: at its next start it joins."""
    observed, note = through(dead(), TEXT, LabelConfig)
    observed, vote = through(after(observed, note), TEXT, RaftRemove)
    observed, _ = through(after(observed, vote), TEXT, RemoveService)
    plan = plan_for(observed, text_of(1, 2, 3))
    assert notes_in(plan) == ()
    assert not any(isinstance(action, RemoveService | NoteMembers) for action in plan.actions)


def test_an_edit_goes_before_the_time() -> None:
    """Its line names a third node: that one is taken, not a spare."""
    edited = TEXT.replace("member-3, node: node4", "member-3, node: node7")
    plan = plan_for(dead(1e6), edited)
    assert notes_in(plan) is None
    assert "moves from node4 to node7" in plan.actions[0].reason
    plan = plan_for(noted(dead(1e6), MINE), edited)
    assert notes_in(plan) == ()


@pytest.mark.parametrize(
    "text",
    ["", "[", "{}", '[["a"]]', '[["member-3", "node4", "node4"]]', '[["a b", "node4", "node5"]]'],
)
def test_a_note_that_cannot_be_is_none(text: str) -> None:
    assert decode_replaced(text) == ()
    labels = {**labels_of(dead(0.0)), REPLACED_LABEL: text}
    observed = with_config_labels(dead(0.0), "main_cluster", labels)
    plan = plan_for(observed, TEXT)
    assert not any(isinstance(action, RaftRemove) for action in plan.actions)
