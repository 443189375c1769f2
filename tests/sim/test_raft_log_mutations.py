"""The comparison of lost Raft logs, and the guard of it, are needed: an operator without one is
caught."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import pytest

from queenright.core.actions import AnyAction
from queenright.core.kinds.postgres_cluster.kind import POSTGRES_CLUSTER
from queenright.core.kinds.postgres_cluster.rules.raft_log import plan_raft_log
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.ruleset import RULESET, Ruleset
from queenright.core.observed import Known, MemberStatus, RaftStatus
from queenright.core.observed.patroni import END_TAG
from queenright.core.planning.plan import Hold
from tests.fakes.virtual_loop import run_virtual
from tests.sim.lost_logs import all_but_the_leader, logs_lost
from tests.sim.mutations import ruleset_with


def with_eyes(eyes: Callable[[ClusterState], ClusterState], *, guards: bool) -> Ruleset:
    """The operator whose rule for lost logs sees something else."""

    def bent(state: ClusterState) -> Iterator[AnyAction | Hold]:
        yield from plan_raft_log(eyes(state))

    rules = tuple(bent if rule is plan_raft_log else rule for rule in POSTGRES_CLUSTER.rules)
    return ruleset_with(rules, RULESET.guards if guards else ())


def with_members(state: ClusterState, found: dict[str, Known[MemberStatus]]) -> ClusterState:
    members = {**state.observed.members, **found}
    return dataclasses.replace(state, observed=dataclasses.replace(state.observed, members=members))


def unreachable_is_damaged(state: ClusterState) -> ClusterState:
    """Takes a member that does not answer for one whose log is lost, without newer data."""
    nothing = {"number": "0" * 12, "term": 1, "system": "", "timeline": 0, "location": 0}
    tags = {"queenright_finding": "raft-log-lost", END_TAG: {**nothing, "history": ""}}
    lost = Known(MemberStatus("raft log lost", "replica", tags=tags))
    return with_members(
        state,
        {
            member.service.name: lost
            for member in state.desired.members
            if state.status(member) is None and state.raft_of(member) is None
        },
    )


def oldest_first(state: ClusterState) -> ClusterState:
    """Takes the WAL position alone for how new the data are."""
    found = {}
    for member in state.desired.members:
        status = state.status(member)
        if status is not None and (loss := status.raft_loss) is not None:
            end = {**dict(status.tags[END_TAG]), "timeline": 1}  # type: ignore[call-overload]
            assert loss.number
            tags = {**status.tags, END_TAG: end}
            found[member.service.name] = Known(dataclasses.replace(status, tags=tags))
    return with_members(state, found)


def logs_are_empty(state: ClusterState) -> ClusterState:
    """Takes a Raft log that somebody has for an empty one."""
    raft = {
        name: Known(dataclasses.replace(known.value, commit_index=1, last_applied=1))
        if isinstance(known, Known) and isinstance(known.value, RaftStatus)
        else known
        for name, known in state.observed.raft.items()
    }
    return dataclasses.replace(state, observed=dataclasses.replace(state.observed, raft=raft))


BENT = {
    "an unreachable member counted as damaged": (
        unreachable_is_damaged,
        {"away": "former", "damage": all_but_the_leader},
        "another member has",
    ),
    "the less advanced member chosen": (oldest_first, {"stale": True}, "leads on from"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BENT)
def test_a_bent_operator_is_caught_and_the_guard_refuses_it(name: str) -> None:
    eyes, scene, words = BENT[name]
    end = run_virtual(lambda: logs_lost(with_eyes(eyes, guards=False), **scene))  # type: ignore[arg-type]
    assert any(words in text for text in end.found), end.found
    end = run_virtual(lambda: logs_lost(with_eyes(eyes, guards=True), **scene))  # type: ignore[arg-type]
    assert end.found == []
    assert end.leader == ""
