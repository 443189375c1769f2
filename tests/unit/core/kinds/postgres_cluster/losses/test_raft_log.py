"""Lost Raft logs in the middle of an edit of the members: who counts, and what helps."""

from __future__ import annotations

import dataclasses

import pytest

from queenright.core.actions import NoteMembers, UpdateService
from queenright.core.observed import MemberStatus, Observed, Unknown, mute_key
from queenright.core.observed.patroni import END_TAG
from queenright.core.planning.plan import Hold, Plan
from queenright.core.swarm.label_values import read_json
from queenright.core.swarm.objects import (
    PARTNERS_VARIABLE,
    RAFT_RESET_VARIABLE,
    VOTELESS_LABEL,
)
from tests.golden.messages import assert_words
from tests.support.builders import plan_for, swarm_of, task, three_nodes
from tests.support.changed import with_config_labels, with_member, with_raft, with_swarm
from tests.support.replacing_worlds import labels_of
from tests.support.topology_worlds import after, deployed, refusal, text_of, voter

FOUR = text_of(1, 2, 3, 4, spec="  acknowledge: [evenMembers]\n")
THREE = text_of(1, 2, 3)


def lost(number: int) -> MemberStatus:
    """A member that waits, and whose data are the newer, the lower its number is."""
    end = {"number": f"{number:012}", "term": 1, "system": "7", "timeline": 1, "history": ""}
    end["location"] = 9000 - number
    tags = {"queenright_finding": "raft-log-lost", END_TAG: end}
    return MemberStatus("raft log lost", "replica", tags=tags)


def without_logs() -> Observed:
    """The fourth member's place is noted, and the three others have lost their logs."""
    observed = deployed(1, 2, 3)
    (note,) = (a for a in plan_for(observed, FOUR).actions if isinstance(a, NoteMembers))
    observed = after(observed, note)
    for number in (1, 2, 3):
        observed = with_member(observed, f"member-{number}", lost(number))
    silent = {f"main_member-{number}": Unknown("refused") for number in (1, 2, 3)}
    return dataclasses.replace(observed, raft={**silent})


def hold(plan: Plan) -> Hold:
    (found,) = (hold for hold in plan.holds if hold.key == "raft-log/main")
    return found


@pytest.mark.parametrize("text", [FOUR, THREE], ids=["the edit goes on", "it is taken back"])
def test_a_member_that_has_not_begun_is_not_waited_for(text: str) -> None:
    observed = without_logs()
    plan = plan_for(observed, text)
    (action,) = (a for a in plan.actions if isinstance(a, UpdateService))
    assert action.service.name == "main_member-1"
    asked = action.service.environment
    assert asked[RAFT_RESET_VARIABLE] == "anew:member-1:000000000001"
    assert read_json(asked[PARTNERS_VARIABLE]) == [voter(2), voter(3)]
    assert refusal(plan, observed) is None


def test_one_that_may_have_voted_is_waited_for() -> None:
    """Its service was removed by hand: it is not noted as one without a vote."""
    observed = without_logs()
    labels = {k: v for k, v in labels_of(observed).items() if k != VOTELESS_LABEL}
    voted = with_config_labels(observed, "main_cluster", labels)
    plan = plan_for(voted, FOUR)
    assert not any(isinstance(action, UpdateService) for action in plan.actions)
    assert hold(plan).wants_attention, "nobody leads, and nobody makes the service again"
    assert_words(hold(plan))
    found = refusal(plan_for(observed, FOUR), voted)
    assert found is not None
    assert "main_member-4 has no service" in found.reason


def waiting_beside_a_quorum(seen_s: float) -> Observed:
    observed = with_member(three_nodes(), "member-2", lost(2))
    observed = with_raft(observed, "member-2", Unknown("timed out"))
    return dataclasses.replace(observed, seen_s_ago={mute_key("main_member-2"): seen_s})


def test_a_quorum_that_does_not_spare_a_log_for_long_needs_a_person() -> None:
    early, late = (hold(plan_for(waiting_beside_a_quorum(seen_s))) for seen_s in (119.0, 120.0))
    assert (early.wants_attention, late.wants_attention) == (False, True)
    assert_words(early, late)
    keys = [found.key for found in plan_for(waiting_beside_a_quorum(120.0)).holds]
    assert "silent-raft/main_member-2" not in keys, "its disk is not full"


def test_one_that_was_changed_a_moment_ago_calls_nobody_yet() -> None:
    observed = with_member(deployed(1, 2, 3), "member-1", lost(1))
    silent = {f"main_member-{number}": Unknown("refused") for number in (1, 2, 3)}
    observed = dataclasses.replace(observed, raft=silent)
    assert hold(plan_for(observed, THREE)).wants_attention
    changed = dataclasses.replace(observed, touched_s_ago={"main_member-2": 1.0})
    assert not hold(plan_for(changed, THREE)).wants_attention


def test_one_whose_container_may_run_is_waited_for() -> None:
    observed = without_logs()
    ghost = task("main_member-4", "node5", slot=1)
    running = with_swarm(observed, tasks=(*swarm_of(observed).tasks, ghost))
    plan = plan_for(running, FOUR)
    assert not any(isinstance(action, UpdateService) for action in plan.actions)
    assert_words(hold(plan))
    found = refusal(plan_for(observed, FOUR), running)
    assert found is not None
    assert "may still run on node5" in found.reason


def test_where_members_leave_people_are_told_the_lines_to_write() -> None:
    observed = without_logs()
    spec = "  acknowledge: [evenMembers, noFailover]\n"
    plan = plan_for(observed, text_of(1, 2, spec=spec))
    assert not any(isinstance(action, UpdateService) for action in plan.actions)
    assert hold(plan).wants_attention
    assert_words(hold(plan))
    moved = FOUR.replace("member-2, node: node3", "member-2, node: node6")
    assert_words(hold(plan_for(observed, moved)))
