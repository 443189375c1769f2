"""Members are moved, replaced and renamed by their lines: rows C, D and E."""

from __future__ import annotations

import dataclasses
import re

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
from tests.support.changed import with_config_labels, with_member, with_node
from tests.support.topology_worlds import (
    after,
    deployed,
    raft_nodes,
    refusal,
    text_of,
    voter,
    with_raft_nodes,
)

MOVED = text_of(1, 2, 3).replace("member-3, node: node4", "member-3, node: node5")
READDRESSED = text_of(1, 2, 3).replace("node: node4", "node: node4, address: 10.77.0.99")
RENAMED = text_of(1, 2, 3).replace("member-3, node: node4", "db-3, node: node4")


def keys(plan: Plan) -> list[str]:
    return [action.key for action in plan.actions]


def reason(plan: Plan, key: str) -> str:
    return next(hold.reason for hold in plan.holds if hold.key == key)


def places_noted(plan: Plan) -> tuple[DeployedMember, ...]:
    (action,) = (a for a in plan.actions if isinstance(a, NoteMembers))
    return decode_places(action.config.labels[MEMBERS_LABEL])


def dead(state: str = "down") -> Observed:
    """The third member's node is gone."""
    observed = with_node(deployed(1, 2, 3), "node4", state=state)
    observed = with_member(observed, "member-3", Unknown("timed out"))
    return with_raft_nodes(observed, raft_nodes([1, 2, 3], down=[3]))


def steps_until(observed: Observed, text: str, kind: type) -> tuple[Observed, Plan]:
    """Follow the plans until one has such an action."""
    for _ in range(20):
        plan = plan_for(observed, text)
        assert refusal(plan, observed) is None, keys(plan)
        if any(isinstance(action, kind) for action in plan.actions):
            return observed, plan
        assert plan.actions, [hold.reason for hold in plan.holds]
        observed = after(observed, plan.actions[0])
    raise AssertionError("never")


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


def test_one_lost_answer_is_no_death() -> None:
    """The other Raft nodes reach the member, and its node is ready: its vote stays."""
    observed = with_member(deployed(1, 2, 3), "member-3", Unknown("timed out"))
    observed = dataclasses.replace(
        observed, raft={**observed.raft, "main_member-3": Unknown("timed out")}
    )
    plan = plan_for(observed, MOVED)
    assert not any(isinstance(action, RaftRemove | NoteMembers) for action in plan.actions)
    assert "it does not answer, and neither is node4 down" in reason(
        plan, "membership/main_member-3"
    )


def test_a_dead_member_is_not_renamed() -> None:
    plan = plan_for(dead(), RENAMED)
    assert not any(isinstance(action, RaftRemove | NoteMembers) for action in plan.actions)
    assert "is renamed when it does" in reason(plan, "membership/main_member-3")


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


def test_a_renamed_member_keeps_its_volumes() -> None:
    observed = deployed(1, 2, 3)
    for kind in (RaftRemove, RemoveService):
        observed, plan = steps_until(observed, RENAMED, kind)
        observed = after(observed, plan.actions[-1])
    observed, plan = steps_until(observed, RENAMED, NoteMembers)
    named = DeployedMember("db-3", "node4", "10.77.0.14", volumes="main_member-3")
    assert places_noted(plan)[2] == named
    assert refusal(plan, observed) is None


@pytest.mark.parametrize(
    "bent",
    [
        DeployedMember("db-3", "node6", "10.77.0.14", volumes="main_member-3"),
        DeployedMember("db-3", "node4", "10.77.0.98", volumes="main_member-3"),
        DeployedMember("db-3", "node4", "10.77.0.14"),
    ],
    ids=["node", "address", "volumes"],
)
def test_a_place_is_renamed_only_as_it_is(bent: DeployedMember) -> None:
    observed = deployed(1, 2, 3)
    for kind in (RaftRemove, RemoveService):
        observed, plan = steps_until(observed, RENAMED, kind)
        observed = after(observed, plan.actions[-1])
    observed, plan = steps_until(observed, RENAMED, NoteMembers)
    (action,) = (a for a in plan.actions if isinstance(a, NoteMembers))
    first, second, _ = decode_places(action.config.labels[MEMBERS_LABEL])
    labels = {**action.config.labels, MEMBERS_LABEL: encode_places((first, second, bent))}
    bad = dataclasses.replace(action, config=dataclasses.replace(action.config, labels=labels))
    found = refusal(Plan("main", "digest", (bad,)), observed)
    assert found is not None
    assert found.guard == "places-cover-what-runs"


def test_a_renamed_place_has_its_former_volumes_mounted() -> None:
    place = encode_places(
        (
            DeployedMember("member-1", "node2", "10.77.0.12"),
            DeployedMember("member-2", "node3", "10.77.0.13"),
            DeployedMember("db-3", "node4", "10.77.0.14", volumes="main_member-3"),
        )
    )
    observed = deployed(1, 2, 3)
    labels = {**dict(_labels(observed)), MEMBERS_LABEL: place}
    observed = with_config_labels(observed, "main_cluster", labels)
    (found,) = (s for s in swarm_of(observed).services if s.value.name == "main_member-3")
    observed = after(observed, RemoveService(found.id, found.value.name, reason=""))
    observed = with_raft_nodes(observed, raft_nodes([1, 2]))
    observed, plan = steps_until(observed, RENAMED, CreateService)
    (made,) = (a.service for a in plan.actions if isinstance(a, CreateService))
    assert made.name == "main_db-3"
    volumes = {mount.source for mount in made.mounts if mount.kind == "volume"}
    assert volumes == {"main_member-3-data", "main_member-3-raft"}


def _labels(observed: Observed) -> list[tuple[str, str]]:
    (found,) = (c for c in swarm_of(observed).configs if c.value.name == "main_cluster")
    return [*found.value.labels.items()]


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
