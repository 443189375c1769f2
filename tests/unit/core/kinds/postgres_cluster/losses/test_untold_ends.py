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

COMMAND = "docker run --rm --network none -v main_{}-data:/home/postgres/pgdata:ro "


def hold_of(observed: Observed, key: str) -> Hold:
    return next(hold for hold in plan_for(observed).holds if hold.key == key)


def stopped() -> Observed:
    """Patroni answers, and PostgreSQL does not start."""
    return having(
        after_the_power_loss(), THIRD, None, None, state="start failed", replication_state=""
    )


def test_a_stopped_member_gets_the_command_with_its_node_volume_and_image() -> None:
    hold = hold_of(stopped(), "failover/main")
    live = swarm_of(stopped()).service(f"main_{THIRD}")
    assert live is not None
    command = f"type on node4: {COMMAND.format(THIRD)}--entrypoint data-end {live.value.image}"
    assert command in hold.reason
    assert hold.reason.count("docker run") == 1, "the others say where their data end"
    assert_words(hold)


def test_one_whose_container_does_not_start_gets_it_too() -> None:
    silent = with_member(after_the_power_loss(), THIRD, Unknown("connection refused"))
    assert COMMAND.format(THIRD) in hold_of(silent, "failover/main").reason


def test_nobody_types_on_a_node_that_is_down() -> None:
    nodes = tuple(
        dataclasses.replace(node, state="down") if node.name == "node4" else node
        for node in swarm_of(stopped()).nodes
    )
    assert "docker run" not in hold_of(with_swarm(stopped(), nodes=nodes), "failover/main").reason


def test_a_lost_quorum_and_a_lost_log_have_it_for_each_that_is_not_known() -> None:
    quorum = hold_of(without_quorum(), "quorum/main").reason
    assert all(COMMAND.format(f"member-{number}") in quorum for number in (1, 2, 3))
    observed = with_member(without_logs(), "member-3", Unknown("timed out"))
    log = hold_of(observed, "raft-log/main").reason
    assert COMMAND.format("member-3") in log
    assert log.count("docker run") == 1
    assert lost(1).raft_loss is not None
