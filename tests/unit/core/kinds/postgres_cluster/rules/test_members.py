"""Repairs without a restart, or with a person: surplus replicas, missing images."""

from __future__ import annotations

import dataclasses

import pytest

from queenright.core.actions import AdjustService, UpdateService
from queenright.core.observed import ImageFound, ImageMissing, Known, Observed, Unknown, joining_key
from queenright.core.swarm.objects import (
    IMAGE_LABEL,
)
from tests.golden.messages import assert_words
from tests.support.builders import (
    MANIFEST,
    NOW,
    found_images,
    plan_for,
    status,
    summary,
    task,
    three_nodes,
)
from tests.support.changed import live, with_member, with_service, with_tasks

REPLICA, LEADER, PROXY = "main_member-2", "main_member-1", "main_proxy"


class TestTooManyReplicas:
    """Swarm chooses which of a member's tasks goes when there are to be fewer."""

    def test_are_put_back_on_a_replica_though_the_surplus_can_not_run(self) -> None:
        assert summary(plan_for(doubled(REPLICA, "node3"))) == (
            [f"adjust-service/{REPLICA} !{REPLICA}"],
            [],
        )

    def test_on_the_leader_make_the_lead_move_first(self) -> None:
        plan = plan_for(doubled(LEADER, "node2"))
        assert summary(plan) == (["route/main"], [f"update-service/{LEADER}"])
        assert_words(plan.holds[0])

    def test_of_one_member_are_no_obstacle_to_another(self) -> None:
        plan = plan_for(with_service(doubled(LEADER, "node2"), REPLICA, hostname="x"))
        actions = [f"update-service/{REPLICA} !{REPLICA}"]
        assert summary(plan) == (actions, [f"update-service/{LEADER}"])

    def test_are_not_among_the_harmless_part(self) -> None:
        observed = with_service(doubled(LEADER, "node2"), LEADER, replicas=2, labels={})
        plan = plan_for(dataclasses.replace(observed, images=found_images()))
        action = plan.actions[0]
        assert isinstance(action, AdjustService)
        assert (action.service.replicas, action.disrupts) == (2, "")


class TestAMemberThatComesBack:
    """An edit is written while a member may be rewound."""

    @pytest.mark.parametrize("state", ["running", "starting", "stopped", "start failed"])
    def test_is_updated_after_the_time_that_a_rewind_takes(self, state: str) -> None:
        found = status("member-2", "member-1", state=state, replication_state="")
        observed = with_member(three_nodes(), "member-2", found)
        changed = with_service(observed, REPLICA, hostname="x")
        action, hold = f"update-service/{REPLICA}", f"update-service/{REPLICA} !{REPLICA}"
        for seen, actions in (({}, []), ({joining_key(REPLICA): 59.0}, [])):
            plan = plan_for(dataclasses.replace(changed, seen_s_ago=seen))
            assert summary(plan)[0] == actions
            (waits,) = (hold for hold in plan.holds if hold.key == action)
            assert waits.recheck_at is not None
            assert_words(waits)
        plan = plan_for(dataclasses.replace(changed, seen_s_ago={joining_key(REPLICA): 60.0}))
        assert hold in summary(plan)[0]

    def test_is_not_put_off_without_a_change(self) -> None:
        found = status("member-2", "member-1", state="stopped", replication_state="")
        plan = plan_for(with_member(three_nodes(), "member-2", found))
        assert [hold.key for hold in plan.holds] == ["cluster/main"]


def doubled(service: str, node: str) -> Observed:
    """Two replicas by hand: the second task finds the ports taken."""
    first = task(service, node, slot=1)
    second = task(service, "", slot=2, state="pending", error="host-mode port already in use")
    return with_tasks(with_service(three_nodes(), service, replicas=2), service, first, second)


def test_a_held_image_is_not_noted_as_deployed() -> None:
    """Else the next pass would take the image that runs for the one that is wanted."""
    text = MANIFEST.replace("queenright-member:16", "queenright-member:17")
    reference = "10.77.0.1:5000/queenright-member:17"
    found = {**found_images(), reference: Known(ImageFound(f"sha256:{'c' * 64}"))}
    observed = dataclasses.replace(with_service(three_nodes(), LEADER, replicas=0), images=found)
    plan = plan_for(observed, text)
    assert f"update-service/{LEADER}" in summary(plan)[1]
    (adjusted,) = (action for action in plan.actions if isinstance(action, AdjustService))
    present = live(three_nodes(), LEADER).value
    assert adjusted.service.image == present.image
    assert adjusted.service.labels[IMAGE_LABEL] == present.labels[IMAGE_LABEL]


class TestAnImageThatIsNotToBeHad:
    """The missing image of a deployed service: the rest of its drift does not wait for it."""

    TEXT = MANIFEST.replace("queenright-member:16", "queenright-member:17")

    @pytest.mark.parametrize("reading", [Known(ImageMissing("manifest unknown")), Unknown("no")])
    def test_holds_the_image_alone(self, reading: Known[ImageMissing] | Unknown) -> None:
        images = {"10.77.0.1:5000/queenright-member:17": reading}
        observed = with_service(three_nodes(), REPLICA, hostname="x")
        plan = plan_for(dataclasses.replace(observed, images=images), self.TEXT)
        members = [f"image/main_member-{number}" for number in (1, 2, 3)]
        assert summary(plan) == ([f"update-service/{REPLICA} !{REPLICA}"], members)
        (action,) = plan.actions
        assert isinstance(action, UpdateService)
        assert action.service == live(three_nodes(), REPLICA).value

    def test_leaves_a_stranded_task_to_be_started_again(self) -> None:
        ended = task(REPLICA, "node3", slot=1, state="complete", at=NOW)
        observed = with_tasks(three_nodes(unknown={"member-2"}), REPLICA, ended)
        plan = plan_for(dataclasses.replace(observed, images={}), self.TEXT)
        assert f"restart-service/{REPLICA}" in summary(plan)[0]
