"""Members that fail while others are added or removed: no two steps wait for each other."""

from __future__ import annotations

import dataclasses
from functools import cache

from queenright.core.actions import RaftRemove, Reinitialize
from queenright.core.observed import Known, MemberStatus, Observed, Unknown, hung_key
from queenright.core.planning.plan import Plan
from tests.support.builders import desired, plan_for, status, swarm_of
from tests.support.changed import with_member, with_service, with_settings
from tests.support.topology_worlds import (
    deployed,
    raft_nodes,
    refusal,
    text_of,
    voter,
    with_raft_nodes,
    without_vote,
)

EVEN = "  acknowledge: [evenMembers]\n"
STRICT = "  replication: {mode: synchronous, strict: true}\n"
BROKEN = status("member-5", "member-1", state="start failed", replication_state="")
EMPTY = MemberStatus(state="stopped", role="uninitialized")
GHOST = "10.77.0.17:5010"


@cache
def five() -> Observed:
    return deployed(1, 2, 3, 4, 5)


def keys(plan: Plan) -> list[str]:
    return [action.key for action in plan.actions]


def reason(plan: Plan, key: str) -> str:
    return next(hold.reason for hold in plan.holds if hold.key == key)


def without_3(observed: Observed) -> Observed:
    """Neither Patroni nor Raft of ``member-3`` answers."""
    return with_member(observed, "member-3", Unknown("timed out"))


def test_a_broken_member_is_removed_before_a_well_one() -> None:
    """The removal of the well one would wait for the broken one for ever."""
    observed = with_member(five(), "member-5", BROKEN)
    plan = plan_for(observed, text_of(1, 2, 3))
    assert keys(plan) == [f"raft-remove/main/{voter(5)}"]
    assert refusal(plan, observed) is None


def test_a_successor_does_not_wait_for_the_broken_member_that_it_replaces() -> None:
    observed = with_member(deployed(1, 2, 3), "member-2", BROKEN)
    plan = plan_for(observed, text_of(1, 3, 4))
    assert keys(plan) == ["note-members/main_cluster"]
    assert refusal(plan, observed) is None


def test_a_successor_waits_for_the_vote_of_the_broken_member() -> None:
    """Its Raft node counts for the quorum until its vote is gone."""
    observed = with_member(deployed(1, 2, 3), "member-2", BROKEN)
    observed = with_raft_nodes(observed, raft_nodes([1, 2, 3], down=[2]))
    plan = plan_for(observed, text_of(1, 3, 4))
    assert keys(plan) == []
    assert f"does not reach {voter(2)}" in reason(plan, "membership/main_member-4")


def test_an_interrupted_copy_begins_again_while_the_replaced_member_is_dead() -> None:
    """The dead one may have been the source, and its removal waits for the successor's copy."""
    observed = without_3(with_member(deployed(1, 2, 3, 4), "member-4", EMPTY))
    for number in (1, 2, 3):  # their lists follow when all changes are done
        first = swarm_of(deployed(1, 2, 3)).service(f"main_member-{number}")
        assert first is not None
        observed = with_service(observed, first.value.name, environment=first.value.environment)
    observed = with_raft_nodes(observed, raft_nodes([1, 2, 3, 4], down=[3]))
    seen = {**observed.seen_s_ago, hung_key("main_member-4"): 100.0}
    observed = dataclasses.replace(observed, seen_s_ago=seen)
    plan = plan_for(observed, text_of(1, 2, 4))
    found = [action.member for action in plan.actions if isinstance(action, Reinitialize)]
    assert found == ["member-4"]
    assert refusal(plan, observed) is None


def test_a_ghost_goes_while_a_dead_member_waits_for_its_removal() -> None:
    """The dead one's removal waits for the ghost's."""
    observed = without_3(deployed(1, 2, 3))
    observed = with_raft_nodes(observed, raft_nodes([1, 2, 3, GHOST], down=[3]))
    plan = plan_for(observed, text_of(1, 2, 4))
    assert keys(plan) == [f"raft-remove/main/{GHOST}"]
    assert refusal(plan, observed) is None


def test_a_ghost_stays_while_raft_names_the_dead_member_as_its_leader() -> None:
    """Raft's followers name a leader for a while after its death."""
    observed = without_3(deployed(1, 2, 3))
    found = raft_nodes([1, 2, 3, GHOST], leader=3, down=[3])
    plan = plan_for(with_raft_nodes(observed, found), text_of(1, 2, 4))
    assert keys(plan) == []
    assert "Raft's leader is silent" in reason(plan, f"ghost/main/{GHOST}")


def with_one_standby() -> Observed:
    """Commits wait for ``member-5``, and Patroni may choose no other."""
    observed = with_settings(five(), **desired(text_of(1, 2, 3, spec=STRICT)).settings)
    for number in range(2, 5):
        other = status(f"member-{number}", "member-1", tags={"nosync": True})
        observed = with_member(observed, f"member-{number}", other)
    standby = status("member-5", "member-1", synchronous="sync")
    return with_member(observed, "member-5", standby)


def test_the_only_standby_keeps_its_vote() -> None:
    observed = with_one_standby()
    plan = plan_for(observed, text_of(1, 2, 3, 4, spec=STRICT + EVEN))
    assert keys(plan) == []
    assert "commits would wait" in reason(plan, "membership/main_member-5")


def test_the_guard_keeps_the_only_standby_too() -> None:
    observed = with_one_standby()
    plan = plan_for(five(), text_of(1, 2, 3, 4, spec=EVEN))
    assert any(isinstance(action, RaftRemove) for action in plan.actions)
    assert refusal(plan, five()) is None
    found = refusal(plan, observed)
    assert found is not None
    assert found.guard == "commits-are-confirmed"


def test_a_dead_standby_may_go() -> None:
    observed = with_member(with_one_standby(), "member-5", Unknown("timed out"))
    observed = with_raft_nodes(observed, raft_nodes(range(1, 6), down=[5]))
    plan = plan_for(observed, text_of(1, 2, 3, 4, spec=STRICT + EVEN))
    assert keys(plan) == [f"raft-remove/main/{voter(5)}"]
    assert refusal(plan, observed) is None


def test_a_member_without_a_vote_is_not_started_again_while_its_answer_is_unknown() -> None:
    """The guards would refuse it, and everything else of the plan with it."""
    orphan = dataclasses.replace(five(), raft=dict(without_vote(five(), voter(5))))
    text = text_of(1, 2, 3, 4, 5)
    assert "restart-service/main_member-5" in keys(plan_for(orphan, text))
    observed = with_member(orphan, "member-5", Unknown("timed out"))
    plan = plan_for(observed, text)
    assert keys(plan) == []
    assert "does not answer" in reason(plan, "membership/main_member-5")


def dead_beside_an_orphan(*ghosts: str) -> Observed:
    """``member-4`` is dead, and ``member-5`` streams, but is no voter."""
    observed = with_member(five(), "member-4", Unknown("timed out"))
    found = raft_nodes([1, 2, 3, 4, *ghosts], down=[4, *ghosts], orphans=[5])
    return with_raft_nodes(observed, found)


def test_a_dead_member_goes_before_one_without_a_vote_joins_again() -> None:
    """No new voter starts while a listed one is dead, so the other has to come first."""
    observed, text = dead_beside_an_orphan(), text_of(1, 2, 3, 5, spec=EVEN)
    plan = plan_for(observed, text)
    assert keys(plan) == [f"raft-remove/main/{voter(4)}"]
    assert refusal(plan, observed) is None
    ghostly = dead_beside_an_orphan(GHOST)
    plan = plan_for(ghostly, text)
    assert keys(plan) == [f"raft-remove/main/{GHOST}"]
    assert refusal(plan, ghostly) is None


def test_a_live_member_waits_for_one_without_a_vote() -> None:
    """It joins again first: the voters become no fewer meanwhile."""
    observed = with_raft_nodes(five(), raft_nodes([1, 2, 3, 4], orphans=[5]))
    plan = plan_for(observed, text_of(1, 2, 3, 5, spec=EVEN))
    assert keys(plan) == ["restart-service/main_member-5"]
    (removal,) = plan_for(dead_beside_an_orphan(), text_of(1, 2, 3, 5, spec=EVEN)).actions
    found = refusal(Plan("main", "digest", (removal,)), observed)
    assert found is not None
    assert found.guard == "votes-change-safely"


def test_a_voter_without_a_quorum_is_waited_for() -> None:
    """It is listed, and cut off: it is no member without a vote."""
    observed = with_member(five(), "member-4", Unknown("timed out"))
    found = raft_nodes([1, 2, 3, 4, 5], down=[4])
    lone = found["main_member-5"]
    assert isinstance(lone, Known)
    cut_off = dataclasses.replace(lone.value, has_quorum=False, leader="")
    observed = with_raft_nodes(observed, {**found, "main_member-5": Known(cut_off)})
    plan = plan_for(observed, text_of(1, 2, 3, 5, spec=EVEN))
    assert not any(isinstance(action, RaftRemove) for action in plan.actions)
