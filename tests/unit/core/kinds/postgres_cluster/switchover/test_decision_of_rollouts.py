"""The lead moves for a rollout, and away from a node in maintenance."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

from queenright.core.actions import LabelConfig
from queenright.core.kinds.postgres_cluster.annotations import (
    PendingSwitchover,
    ReturnTo,
    read_annotations,
)
from tests.golden.messages import assert_words
from tests.support.builders import (
    NOW,
    manifest,
    plan_for,
    status,
    summary,
    three_nodes,
)
from tests.support.changed import (
    with_live_service,
    with_member,
    with_notes,
    with_service,
)
from tests.support.plans import note_of


class TestARollout:
    def test_replicas_go_before_the_lead_moves(self) -> None:
        changed = with_service(three_nodes(), "main_member-1", hostname="x")
        changed = with_service(changed, "main_member-3", hostname="x")
        plan = plan_for(changed, manifest(fastSwitchover="false"))
        assert summary(plan)[0] == ["update-service/main_member-3 !main_member-3"]

    def test_then_the_lead_moves_to_the_freshest_replica(self) -> None:
        text = manifest(fastSwitchover="false")
        observed = with_service(three_nodes(text=text), "main_member-1", hostname="x")
        behind = with_member(observed, "member-2", status("member-2", "member-1", lag_bytes=9))
        assert note_of(plan_for(behind, text)).candidate == "member-3"  # type: ignore[union-attr]

    def test_then_the_former_leader_goes(self) -> None:
        observed = with_service(three_nodes("member-3"), "main_member-1", hostname="x")
        assert summary(plan_for(observed))[0] == ["update-service/main_member-1 !main_member-1"]

    def test_a_wish_that_held_holds_again_at_the_end(self) -> None:
        text = manifest(primary="member-1", fastSwitchover="false")
        moved = PendingSwitchover("member-1", "member-3", 1, NOW - timedelta(seconds=5), "rollout")
        observed = with_notes(three_nodes("member-3", text=text), move=moved)
        (action,) = plan_for(observed, text).actions
        assert isinstance(action, LabelConfig)
        assert read_annotations(action.config.labels).return_to == ReturnTo("member-1", 1)
        back = with_notes(observed, move=None, return_to=ReturnTo("member-1", 1))
        assert note_of(plan_for(back, text)).kind == "return"  # type: ignore[union-attr]

    def test_not_after_a_failover_in_between(self) -> None:
        text = manifest(primary="member-1", fastSwitchover="false")
        observed = with_notes(three_nodes("member-3", text=text), return_to=ReturnTo("member-1", 0))
        plan = plan_for(observed, text)
        assert summary(plan) == (["label-config/main_cluster"], ["primary/main"])

    def test_a_member_that_does_not_come_back_stops_it(self) -> None:
        text = manifest(memory="{limit: 3G}")
        observed = with_service(
            three_nodes(text=text),
            "main_member-3",
            resources=dataclasses.replace(
                three_nodes().swarm.value.service("main_member-3").value.resources  # type: ignore[union-attr]
            ),
        )
        observed = with_live_service(
            observed, "main_member-2", updated_at=NOW - timedelta(minutes=3)
        )
        bad = status("member-2", "member-1", state="starting", replication_state="")
        plan = plan_for(with_member(observed, "member-2", bad), text)
        assert not plan.actions
        (hold,) = [hold for hold in plan.holds if hold.key == "rollout/main"]
        assert hold.wants_attention
        assert_words(hold)


def test_the_lead_leaves_a_node_in_maintenance() -> None:
    text = manifest(maintenance="{nodes: [node2]}", fastSwitchover="false")
    plan = plan_for(three_nodes(text=text), text)
    assert note_of(plan).kind == "maintenance"  # type: ignore[union-attr]
    assert_words(*plan.holds, *plan.actions)
