"""Members that have a place and no vote: what is noted of them, and what waits for that."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from queenright.core.actions import (
    AnyAction,
    CreateService,
    LabelConfig,
    NoteMembers,
    RaftTransfer,
    RemoveService,
)
from queenright.core.kinds.postgres_cluster.places import decode_names
from queenright.core.observed import Known, Observed, Unknown, voters_key
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import VOTELESS_LABEL
from tests.golden.messages import assert_words
from tests.support.builders import MANIFEST, plan_for, status, swarm_of, task
from tests.support.changed import live, with_config_labels, with_member, with_swarm
from tests.support.topology_worlds import (
    after,
    deployed,
    raft_nodes,
    refusal,
    text_of,
    voter,
    with_raft_nodes,
)

ALONE = text_of(1, spec="  acknowledge: [noFailover]\n")
RENAMED = text_of(1, 2, 3).replace("member-3, node: node4", "db-3, node: node4")


def before(observed: Observed, text: str, kind: type[AnyAction]) -> tuple[Observed, AnyAction]:
    """Follow the plans until one has such an action; return the observation, and the action."""
    for _ in range(30):
        plan = plan_for(observed, text)
        assert refusal(plan, observed) is None, [action.key for action in plan.actions]
        for action in plan.actions:
            if isinstance(action, kind):
                return observed, action
        observed = after(observed, plan.actions[0])
    raise AssertionError(f"{kind.__name__} never comes")


def voteless(observed: Observed) -> frozenset[str]:
    config = swarm_of(observed).config("main_cluster")
    assert config is not None
    return decode_names(config.value.labels.get(VOTELESS_LABEL, ""))


def guard_of(observed: Observed, action: AnyAction) -> str:
    found = refusal(Plan("main", "digest", (action,)), observed)
    return found.guard if found is not None else ""


def creates(observed: Observed, text: str) -> bool:
    return any(isinstance(action, CreateService) for action in plan_for(observed, text).actions)


def gone() -> tuple[Observed, AnyAction]:
    """The third member on its way to another name, without a vote and a service; and the action
    that makes the service of that."""
    observed, removal = before(deployed(1, 2, 3), RENAMED, RemoveService)
    observed = after(observed, removal)
    _, made = before(observed, MANIFEST, CreateService)
    return observed, made


def test_it_is_noted_before_the_service_goes_and_forgotten_when_the_member_votes() -> None:
    observed, made = gone()
    assert voteless(observed) == {"member-3"}
    assert isinstance(made, CreateService)
    assert made.service.name == "main_member-3"
    observed = with_raft_nodes(after(observed, made), raft_nodes([1, 2, 3]))
    observed, forgets = before(observed, MANIFEST, LabelConfig)
    assert voteless(after(observed, forgets)) == frozenset()


def test_it_is_not_started_by_the_word_of_a_node_without_a_quorum() -> None:
    """The file has it again before its place is cut, and then one of the two voters is lost: the
    other one starts, and lists all three as it did before."""
    observed, made = gone()
    (lone,) = (raft_nodes([1, 2, 3])["main_member-2"],)
    assert isinstance(lone, Known)
    alone = Known(dataclasses.replace(lone.value, has_quorum=False, leader=""))
    silent = Unknown("timed out")
    dark = with_raft_nodes(observed, {"main_member-1": silent, "main_member-2": alone})
    dark = with_member(dark, "member-1", silent)
    assert not creates(dark, MANIFEST)
    assert guard_of(dark, made) == "votes-change-safely"


def test_it_is_not_started_while_no_raft_node_answers() -> None:
    """Its address is in the partners' lists of the others."""
    observed, made = gone()
    dark = with_raft_nodes(observed, dict.fromkeys(observed.raft, Unknown("timed out")))
    assert not creates(dark, MANIFEST)
    assert guard_of(dark, made) == "votes-change-safely"


def test_a_voter_whose_service_was_removed_by_hand_is_started_at_once() -> None:
    """Also while the others have no quorum: it may be the one that is missing for that."""
    observed = deployed(1, 2, 3)
    (found,) = (s for s in swarm_of(observed).services if s.value.name == "main_member-3")
    observed = after(observed, RemoveService(found.id, found.value.name, reason=""))
    dark = with_raft_nodes(observed, dict.fromkeys(observed.raft, Unknown("timed out")))
    assert creates(dark, MANIFEST)


def test_the_note_stays_while_the_member_does_not_vote() -> None:
    observed, _ = gone()
    config = swarm_of(observed).config("main_cluster")
    assert config is not None
    labels = {k: v for k, v in config.value.labels.items() if k != VOTELESS_LABEL}
    wanted = dataclasses.replace(config.value, labels=labels)
    for kind in (LabelConfig, NoteMembers):
        forgets = kind(config.id, config.version, wanted, reason="")
        assert guard_of(observed, forgets) == "places-cover-what-runs"


def test_a_member_without_a_vote_that_an_earlier_release_left_is_noted_first() -> None:
    observed, _ = gone()
    config = swarm_of(observed).config("main_cluster")
    assert config is not None
    labels = {k: v for k, v in config.value.labels.items() if k != VOTELESS_LABEL}
    plan = plan_for(with_config_labels(observed, "main_cluster", labels), MANIFEST)
    assert [action.key for action in plan.actions] == ["note-members/main_cluster"]


def test_a_voter_is_not_noted_by_the_word_of_a_node_without_a_quorum() -> None:
    """That node has not heard yet who has joined, and waits for the vote of that member."""
    observed = deployed(1, 2, 3)
    (found,) = (s for s in swarm_of(observed).services if s.value.name == "main_member-3")
    observed = after(observed, RemoveService(found.id, found.value.name, reason=""))
    known = raft_nodes([1, 2])["main_member-2"]
    assert isinstance(known, Known)
    lone = Known(dataclasses.replace(known.value, has_quorum=False, leader=""))
    silent = Unknown("timed out")
    dark = with_raft_nodes(observed, {"main_member-1": silent, "main_member-2": lone})
    plan = plan_for(with_member(dark, "member-1", silent), MANIFEST)
    assert not any(isinstance(action, NoteMembers | CreateService) for action in plan.actions)


def test_a_service_stays_until_the_only_voter_left_has_that_on_its_disk() -> None:
    """A power cut would give it its former list back, in which it is no majority."""
    observed, first = before(deployed(1, 2, 3), ALONE, RemoveService)
    observed, removal = before(after(observed, first), ALONE, RemoveService)
    assert guard_of(observed, removal) == ""
    seen = {**observed.seen_s_ago, voters_key("main_member-1"): 34.0}
    young = dataclasses.replace(observed, seen_s_ago=seen)
    plan = plan_for(young, ALONE)
    assert not any(isinstance(action, RemoveService) for action in plan.actions)
    assert guard_of(young, removal) == "removal-is-asked-for"


def test_rafts_leadership_waits_for_a_member_that_does_not_answer() -> None:
    """It is to be renamed, which waits for its answer too."""
    text = text_of(1, 2, 5, spec="  acknowledge: [evenMembers]\n")
    text = text.replace("member-5, node: node6", "db-3, node: node4")
    observed = with_raft_nodes(deployed(1, 2, 3, 4), raft_nodes(range(1, 5), leader=4))
    transfers = any(isinstance(a, RaftTransfer) for a in plan_for(observed, text).actions)
    assert transfers
    silent = {**raft_nodes(range(1, 5), leader=4), "main_member-3": Unknown("timed out")}
    observed = with_member(with_raft_nodes(observed, silent), "member-3", Unknown("timed out"))
    plan = plan_for(observed, text)
    assert not any(isinstance(action, RaftTransfer) for action in plan.actions)
    told = next(hold for hold in plan.holds if hold.key == "membership/main_member-4")
    assert "member-3 does not answer" in told.reason


def missed(**fields: Any) -> tuple[Observed, CreateService]:
    """The only voter left lists the last member that went, which had started once more in that
    moment; and the action that makes that one's service. ``fields`` are of the voter's Raft
    node."""
    observed, first = before(deployed(1, 2, 3), ALONE, RemoveService)
    observed, removal = before(after(observed, first), ALONE, RemoveService)
    assert isinstance(removal, RemoveService)
    made = CreateService(live(observed, removal.name).value, reason="")
    alone = raft_nodes([1, int(removal.name[-1])])["main_member-1"]
    assert isinstance(alone, Known)
    no_quorum = {"has_quorum": False, "leader": "", "state": "candidate"}
    found = dataclasses.replace(alone.value, **{**no_quorum, **fields})
    observed = with_raft_nodes(after(observed, removal), {"main_member-1": Known(found)})
    return with_member(observed, "member-1", status("member-1", "nobody")), made


def test_one_whose_vote_the_only_other_node_waits_for_starts_once_more() -> None:
    observed, made = missed()
    plan = plan_for(observed, ALONE)
    (action,) = (a for a in plan.actions if isinstance(a, CreateService))
    assert action.service.name == made.service.name
    assert refusal(plan, observed) is None
    assert guard_of(observed, made) == ""
    assert_words(action)
    # and where the file has it again
    assert creates(observed, MANIFEST)


def still_running(observed: Observed) -> Observed:
    """A task of the removed service may still run on the member's node."""
    ending = task("former", "node4", slot=1)
    return with_swarm(observed, tasks=(*swarm_of(observed).tasks, ending))


NOT_MISSED: dict[str, Callable[[], Observed]] = {
    "the other leads": lambda: with_member(
        missed()[0], "member-1", status("member-1", "member-1", timeline=1)
    ),
    "the other has a quorum": lambda: missed(has_quorum=True)[0],
    "the other hears a leader": lambda: missed(leader=voter(3))[0],
    "two more vote": lambda: missed(unreachable=frozenset({voter(3), voter(2), voter(4)}))[0],
    "the list is young": lambda: dataclasses.replace(
        missed()[0],
        seen_s_ago={**missed()[0].seen_s_ago, voters_key("main_member-1"): 34.0},
    ),
    "its task may run": lambda: still_running(missed()[0]),
}


@pytest.mark.parametrize("case", NOT_MISSED)
def test_otherwise_one_that_went_does_not_start(case: str) -> None:
    observed, made = NOT_MISSED[case](), missed()[1]
    assert not creates(observed, ALONE)
    assert guard_of(observed, made) == "votes-change-safely"
