"""Members are added one at a time: rows A1 to A6, and what the next pass sees after a kill."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pytest

from queenright.core.actions import CreateService, NoteMembers
from queenright.core.kinds.postgres_cluster.places import decode_places
from queenright.core.observed import Known, Observed, Unknown, voters_key
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import MEMBERS_LABEL
from tests.support.builders import desired, plan_for, status, swarm_of, three_nodes
from tests.support.changed import with_member, with_node, with_settings, with_swarm
from tests.support.topology_worlds import (
    FIVE,
    after,
    deployed,
    joined,
    raft_nodes,
    refusal,
    text_of,
    until,
    whole,
    with_raft_nodes,
)


def keys(plan: Plan) -> list[str]:
    return [action.key for action in plan.actions]


def reason(plan: Plan, key: str) -> str:
    return next(hold.reason for hold in plan.holds if hold.key == key)


def test_a1_notes_the_place_before_anything_else() -> None:
    observed = deployed(1, 2, 3)
    plan = plan_for(observed, FIVE)
    assert keys(plan) == ["note-members/main_cluster"]
    (action,) = plan.actions
    assert isinstance(action, NoteMembers)
    places = decode_places(action.config.labels[MEMBERS_LABEL])
    assert [(place.name, place.node, place.number) for place in places[3:]] == [
        ("member-4", "node5", 0)
    ]
    assert "quorum 2 of 3, then quorum 3 of 4" in action.reason
    assert "one change at a time" in reason(plan, "membership/main_member-5")
    assert refusal(plan, observed) is None


def test_a2_labels_the_node_after_the_note() -> None:
    observed = deployed(1, 2, 3)
    observed = after(observed, plan_for(observed, FIVE).actions[0])
    assert keys(plan_for(observed, FIVE))[0] == "label-node/node5"


def test_a3_creates_the_service_with_the_present_partners() -> None:
    _, plan = until(deployed(1, 2, 3), FIVE, "create-service/main_member-4")
    made = [action for action in plan.actions if isinstance(action, CreateService)]
    assert [action.service.name for action in made] == ["main_member-4"]
    partners = made[0].service.environment["RAFT_PARTNERS"]
    assert partners == '["10.77.0.12:5010", "10.77.0.13:5010", "10.77.0.14:5010"]'


def before_a3() -> Observed:
    return until(deployed(1, 2, 3), FIVE, "create-service/main_member-4")[0]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda o: with_raft_nodes(o, raft_nodes([1, 2, 3], down=[3])), "does not reach"),
        (lambda o: with_raft_nodes(o, raft_nodes([1, 2, 3, 6])), "10.77.0.17:5010"),
        (lambda o: with_raft_nodes(o, raft_nodes([1, 2, 3]), seen_s=59), "has to last 60 s"),
        (lambda o: with_member(o, "member-2", Unknown("timed out")), "member-2 does not answer"),
        (
            lambda o: with_member(o, "member-2", status("member-2", "", replication_state="")),
            "member-2 is running, not streaming",
        ),
        (
            lambda o: with_member(o, "member-2", status("member-2", "member-1", paused=True)),
            "Patroni is paused",
        ),
        (lambda o: with_member(o, "member-1", status("member-1", "member-2")), "leader lock"),
    ],
)
def test_a3_waits_while_another_member_is_not_well(change: object, why: str) -> None:
    assert callable(change)
    observed = change(before_a3())
    plan = plan_for(observed, FIVE)
    assert "create-service/main_member-4" not in keys(plan)
    told = [hold.reason for hold in plan.holds if hold.key.startswith(("create-", "ghost/"))]
    assert any(why in text for text in told), told


def test_a3_does_not_wait_for_a_restart_that_waits_for_it() -> None:
    """Between the note of its place and its service, nobody restarts: the place is not filled."""
    due = status(
        "member-2",
        "member-1",
        pending_restart=True,
        pending_changes={"max_connections": ("100", "200")},
    )
    more = "  postgresql: {parameters: {max_connections: 200}}\n"
    text, now = text_of(1, 2, 3, 4, 5, spec=more), desired(text_of(1, 2, 3, spec=more)).settings
    observed = with_settings(with_member(before_a3(), "member-2", due), **now)
    assert "create-service/main_member-4" in keys(plan_for(observed, text))
    assert "restart-postgres/main_member-2" not in keys(plan_for(observed, text))


def test_a_repaired_member_waits_for_nobody() -> None:
    """Its vote counts already, so that its absence is the danger."""
    observed = with_raft_nodes(three_nodes(), raft_nodes([1, 2, 3], down=[2, 3]), seen_s=0.0)
    live = next(s for s in swarm_of(observed).services if s.value.name == "main_member-3")
    swarm = dataclasses.replace(
        swarm_of(observed),
        services=tuple(s for s in swarm_of(observed).services if s is not live),
        tasks=tuple(t for t in swarm_of(observed).tasks if t.service_id != live.id),
    )
    observed = dataclasses.replace(deployed(1, 2, 3), swarm=Known(swarm), raft=observed.raft)
    plan = plan_for(observed)
    assert "create-service/main_member-3" in keys(plan)
    assert refusal(plan, observed) is None


def test_a5_the_next_member_begins_when_the_first_is_whole() -> None:
    observed = joined(status("member-4", "member-1"))
    plan = plan_for(observed, FIVE)
    assert keys(plan)[0] == "label-config/main_cluster", "member-4 is no member without a vote now"
    assert refusal(plan, observed) is None
    assert "note-members/main_cluster" in keys(plan_for(after(observed, plan.actions[0]), FIVE))


def test_a6_replicas_take_the_new_partners_and_the_leader_waits() -> None:
    observed = deployed(1, 2, 3, 4, 5)
    assert keys(plan_for(observed, FIVE)) == [], "deployed() goes on until nothing is left"
    plan = plan_for(observed, FIVE)
    assert "until its next restart" in reason(plan, "partners/main_member-1")
    found = {live.value.name: live.value for live in swarm_of(observed).services}
    lists = {n: found[f"main_member-{n}"].environment["RAFT_PARTNERS"] for n in range(1, 6)}
    assert lists[1].count("5010") == 2
    assert all(lists[n].count("5010") == 4 for n in range(2, 6))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda o: with_node(o, "node5", state="down"), "node node5 is down"),
        (lambda o: with_node(o, "node5", availability="drain"), "set to drain"),
        (lambda o: with_node(o, "node5", labels={"pg-node": "9"}), "has the label pg-node=9"),
        (lambda o: with_node(o, "node7", labels={"pg-node": "4"}), "node7 has the label"),
        (
            lambda o: with_node(o, "node5", address="192.168.1.5"),
            "node5 has the address 192.168.1.5, which is outside lanSubnet 10.77.0.0/24",
        ),
    ],
)
def test_a_node_that_is_not_fit_is_told(change: object, why: str) -> None:
    assert callable(change)
    plan = plan_for(change(deployed(1, 2, 3)), FIVE)
    assert not any(key.startswith("note-members/") for key in keys(plan))
    assert why in reason(plan, "membership/main_member-4")


def test_a_node_of_another_member_is_told() -> None:
    """That one moves only when its own new node is free, which it never is."""
    text = text_of(1, 2, 3).replace("member-3, node: node4", "member-3, node: node3")
    text = text.replace("member-2, node: node3", "member-2, node: node5")
    observed = with_node(deployed(1, 2, 3), "node5", state="down")
    plan = plan_for(observed, text)
    assert keys(plan) == []
    assert "member-2 is on node3" in reason(plan, "membership/main_member-3")


def test_a_raft_node_that_answers_there_is_told() -> None:
    observed = deployed(1, 2, 3)
    answers = {**observed.raft, "main_member-4@10.77.0.15": observed.raft["main_member-1"]}
    plan = plan_for(dataclasses.replace(observed, raft=answers), FIVE)
    assert keys(plan) == []
    assert "a Raft node answers" in reason(plan, "membership/main_member-4")


def test_too_few_wal_senders_are_told() -> None:
    spec = "  postgresql: {parameters: {max_wal_senders: 4}}\n"
    plan = plan_for(deployed(1, 2, 3, 4), text_of(1, 2, 3, 4, 5, spec=spec))
    assert not any(key.startswith("note-members/") for key in keys(plan))
    assert "max_wal_senders is 4" in reason(plan, "membership/main_member-5")


def notes_of(plan: Plan) -> list[str]:
    return [key for key in keys(plan) if key.startswith("note-members/")]


def labels_of(observed: Observed) -> Mapping[str, str]:
    config = swarm_of(observed).config("main_cluster")
    assert config is not None
    return config.value.labels


def calls(plan: Plan) -> list[str]:
    return [hold.key for hold in plan.holds if hold.wants_attention]


def test_of_several_members_none_is_added_while_one_can_not_be() -> None:
    """The operator would rest at four members, which survive no more failures than three."""
    plan = plan_for(with_node(deployed(1, 2, 3), "node6", state="down"), FIVE)
    assert notes_of(plan) == []
    assert "node node6 is down" in reason(plan, "membership/main_member-5")
    assert calls(plan) == ["membership/main_member-5"]
    told = reason(plan, "membership/main_member-4")
    assert "nobody is added before member-5 can be" in told


def test_the_last_of_several_members_needs_its_wal_senders_before_the_first_begins() -> None:
    spec = "  postgresql: {parameters: {max_wal_senders: 4}}\n"
    plan = plan_for(deployed(1, 2, 3), text_of(1, 2, 3, 4, 5, spec=spec))
    assert notes_of(plan) == []
    assert "max_wal_senders is 4, and 4 members need 3" in reason(plan, "membership/main_member-5")
    assert calls(plan) == ["membership/main_member-5"]


def test_the_label_of_the_last_of_several_members_has_to_be_free() -> None:
    """It gets the number after that of the one before it."""
    plan = plan_for(with_node(deployed(1, 2, 3), "node7", labels={"pg-node": "5"}), FIVE)
    assert notes_of(plan) == []
    assert "node7 has the label pg-node=5" in reason(plan, "membership/main_member-5")


def test_one_of_several_members_that_has_begun_goes_on() -> None:
    observed = deployed(1, 2, 3)
    observed = after(observed, plan_for(observed, FIVE).actions[0])
    plan = plan_for(with_node(observed, "node6", state="down"), FIVE)
    assert keys(plan)[0] == "label-node/node5"
    observed = joined(status("member-4", "member-1"))
    plan = plan_for(with_node(observed, "node6", state="down"), FIVE)
    assert keys(plan)[0] == "label-config/main_cluster", "member-4 stays, and is whole"


def test_an_even_number_that_is_meant_waits_for_nobody() -> None:
    text = text_of(1, 2, 3, 4, 5, 6, spec="  acknowledge: [evenMembers]\n")
    observed = with_node(deployed(1, 2, 3), "node7", state="down")
    assert notes_of(plan_for(observed, text))


def test_members_that_grow_wait_for_none_that_takes_a_place() -> None:
    """Two more and another name: the third new one needs more WAL senders than there are."""
    assert notes_of(plan_for(deployed(1, 2, 3), text_of(1, 2, 4, 5, 6)))


def test_members_that_take_the_places_of_dead_ones_wait_for_nobody() -> None:
    """Both of five are dead, and gone from the places: their lines name other nodes."""
    text = FIVE.replace("node: node5", "node: node7").replace("node: node6", "node: node8")
    observed = with_node(deployed(1, 2, 3, 4, 5), "node5", state="down")
    observed = with_node(observed, "node6", state="down")
    for name in ("member-4", "member-5"):
        observed = with_member(observed, name, Unknown("timed out"))
    observed = with_raft_nodes(observed, raft_nodes([1, 2, 3, 4, 5], down=[4, 5]))
    spare = dataclasses.replace(
        swarm_of(observed).nodes[-1], id="id-node8", name="node8", address="10.77.0.18"
    )
    observed = with_swarm(observed, nodes=(*swarm_of(observed).nodes, spare))
    for _ in range(20):
        plan = plan_for(observed, text)
        names = [place.name for place in decode_places(labels_of(observed)[MEMBERS_LABEL])]
        if len(names) == 3:
            break
        observed = after(observed, plan.actions[0])
    assert names == ["member-1", "member-2", "member-3"]
    observed = with_node(observed, "node8", state="down")
    until(observed, text, "note-members/main_cluster")


def test_nothing_begins_before_the_cluster_was_whole() -> None:
    observed = deployed(1, 2, 3)
    config = swarm_of(observed).config("main_cluster")
    assert config is not None
    labels = {k: v for k, v in config.value.labels.items() if "bootstrapped" not in k}
    unproven = dataclasses.replace(config, value=dataclasses.replace(config.value, labels=labels))
    others = (c for c in swarm_of(observed).configs if c.id != config.id)
    swarm = dataclasses.replace(swarm_of(observed), configs=(*others, unproven))
    plan = plan_for(dataclasses.replace(observed, swarm=Known(swarm)), FIVE)
    assert not any(key.startswith("note-members/") for key in keys(plan))
    assert "healthy once first" in reason(plan, "membership/main_member-4")


def test_every_pass_of_an_addition_is_allowed_by_the_guards() -> None:
    observed = deployed(1, 2, 3)
    for _ in range(40):
        plan = plan_for(observed, FIVE)
        assert refusal(plan, observed) is None
        if not plan.actions:
            break
        action = plan.actions[0]
        observed = after(observed, action)
        if isinstance(action, CreateService):
            observed = whole(observed)
    names = {live.value.name for live in swarm_of(observed).services}
    assert {"main_member-4", "main_member-5"} <= names
    assert voters_key("main_member-5") in observed.seen_s_ago
