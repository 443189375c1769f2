"""The command for a member whose data's end nobody says, in the holds for which one compares."""

from __future__ import annotations

import dataclasses

from queenright.core.observed import Observed, Unknown
from queenright.core.planning.plan import Hold
from tests.golden.messages import assert_words
from tests.support.builders import plan_for, swarm_of
from tests.support.changed import with_member, with_swarm
from tests.unit.core.kinds.postgres_cluster.losses.test_lone_raft import without_quorum
from tests.unit.core.kinds.postgres_cluster.losses.test_raft_log import lost, without_logs
from tests.unit.core.kinds.postgres_cluster.switchover.test_leaderless import (
    THIRD,
    after_the_power_loss,
    having,
)

COMMAND = "queenright data-end main"


def hold_of(observed: Observed, key: str) -> Hold:
    return next(hold for hold in plan_for(observed).holds if hold.key == key)


def stopped() -> Observed:
    """Patroni answers, and PostgreSQL does not start."""
    return having(
        after_the_power_loss(), THIRD, None, None, state="start failed", replication_state=""
    )


def test_a_stopped_member_gets_the_command() -> None:
    hold = hold_of(stopped(), "failover/main")
    assert hold.reason.count(COMMAND) == 1
    assert f"the data of {THIRD} end" in hold.reason, "the others say where their data end"
    assert_words(hold)


def test_one_whose_container_does_not_start_gets_it_too() -> None:
    silent = with_member(after_the_power_loss(), THIRD, Unknown("connection refused"))
    assert COMMAND in hold_of(silent, "failover/main").reason


def test_nobody_reads_on_a_node_that_is_down() -> None:
    nodes = tuple(
        dataclasses.replace(node, state="down") if node.name == "node4" else node
        for node in swarm_of(stopped()).nodes
    )
    assert COMMAND not in hold_of(with_swarm(stopped(), nodes=nodes), "failover/main").reason


def test_a_lost_quorum_and_a_lost_log_have_one_command_for_all() -> None:
    quorum = hold_of(without_quorum(), "quorum/main").reason
    assert "the data of member-1, member-2, member-3 end" in quorum
    assert quorum.count(COMMAND) == 1
    observed = with_member(without_logs(), "member-3", Unknown("timed out"))
    log = hold_of(observed, "raft-log/main").reason
    assert "the data of member-3 end" in log
    assert log.count(COMMAND) == 1
    assert lost(1).raft_loss is not None
