"""Restarts that parameters wait for: the file's, others', and those that would not help."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import timedelta

import pytest

from queenright.core.kinds.postgres_cluster.patroni.pending_restart import (
    PendingRestart,
    pending_restart,
)
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import Observed, Unknown
from queenright.core.planning.plan import Hold
from tests.golden.messages import assert_words
from tests.support.builders import (
    MANIFEST,
    NOW,
    desired,
    manifest,
    plan_for,
    status,
    swarm_of,
    three_nodes,
)
from tests.support.changed import with_member, with_settings

Changes = Mapping[str, tuple[str, str]]
LOWERED = {"max_connections": ("300", "200")}


def waiting(changes: Changes, *names: str, observed: Observed | None = None) -> Observed:
    """These members report a pending restart; member-1 leads."""
    found = observed or three_nodes()
    for name in names:
        told = status(name, "member-1", pending_restart=True, pending_changes=changes)
        found = with_member(found, name, told)
    return found


def pending(observed: Observed, name: str, text: str = MANIFEST) -> PendingRestart | None:
    wanted = desired(text)
    state = ClusterState(wanted, swarm_of(observed), observed, NOW)
    member = state.member(name)
    assert member is not None
    return pending_restart(state, member)


def hold_of(observed: Observed, key: str, text: str = MANIFEST) -> Hold | None:
    return next((hold for hold in plan_for(observed, text).holds if hold.key == key), None)


def test_nothing_waits_where_nothing_is_told() -> None:
    assert pending(three_nodes(), "member-2") is None
    assert pending(three_nodes(unknown=["member-2"]), "member-2") is None


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"shared_buffers": ("128MB", "256MB")}, PendingRestart(owned=("shared_buffers",))),
        ({"shared_buffers": ("128MB", "?")}, PendingRestart(owned=("shared_buffers",))),
        ({"max_connections": ("100", "200")}, PendingRestart(owned=("max_connections",))),
        ({"max_worker_processes": ("8", "16")}, PendingRestart(foreign=("max_worker_processes",))),
        ({"shared_buffers": ("256MB", "1GB")}, PendingRestart(unsettled=("shared_buffers",))),
        ({"wal_level": ("logical", "replica")}, PendingRestart(owned=("wal_level",))),
        ({}, PendingRestart(is_unexplained=True)),
    ],
)
def test_whose_a_wait_is(changes: Changes, expected: PendingRestart) -> None:
    assert pending(waiting(changes, "member-2"), "member-2") == expected


def test_a_value_that_is_repaired_first_is_no_reason_to_restart() -> None:
    section = desired().settings["postgresql"]
    edited = {**section, "parameters": {**section["parameters"], "max_connections": 500}}
    observed = waiting({"max_connections": ("200", "500")}, "member-2")
    found = with_settings(observed, postgresql=edited)
    assert pending(found, "member-2") == PendingRestart(unsettled=("max_connections",))
    assert [action.key for action in plan_for(found).actions] == ["settings/main"]


def test_a_member_that_has_not_heard_of_the_new_value_is_waited_for() -> None:
    observed = waiting({"max_connections": ("200", "500")}, "member-2")
    assert plan_for(observed).actions == ()
    hold = hold_of(observed, "settings/main")
    assert hold is not None
    assert_words(hold)


def test_with_unknown_settings_nothing_is_certain() -> None:
    observed = waiting({"shared_buffers": ("128MB", "256MB")}, "member-2")
    unknown = dataclasses.replace(observed, settings={"main": Unknown("x")})
    assert pending(unknown, "member-2") == PendingRestart(unsettled=("shared_buffers",))


def test_a_value_that_postgresql_works_out_is_trusted() -> None:
    text = manifest(postgresql="{parameters: {wal_buffers: -1}}")
    observed = waiting({"wal_buffers": ("4MB", "8MB")}, "member-2", observed=three_nodes(text=text))
    assert pending(observed, "member-2", text) == PendingRestart(owned=("wal_buffers",))


def test_a_removed_parameter_is_the_files_while_it_is_noted() -> None:
    at = (NOW - timedelta(days=1)).timestamp()
    noted = with_settings(three_nodes(), queenright_parameters=f"huge_pages@{at:.0f}")
    observed = waiting({"huge_pages": ("off", "try")}, "member-2", observed=noted)
    assert pending(observed, "member-2") == PendingRestart(owned=("huge_pages",))


def test_what_is_lowered_waits_for_the_leader() -> None:
    everywhere = waiting(LOWERED, "member-1", "member-2", "member-3")
    for name in ("member-1", "member-2"):
        assert pending(everywhere, name) == PendingRestart(
            owned=("max_connections",), primary_first=("max_connections",)
        )
    hold = hold_of(everywhere, "leader-restart/main")
    assert hold is not None
    assert hold.wants_attention
    assert_words(hold)
    assert plan_for(everywhere).actions == ()


def test_holds_and_reasons_name_the_field_as_the_file_has_it() -> None:
    field, all_three = "postgresql.parameters.max_connections", ("member-1", "member-2", "member-3")
    lowered = hold_of(waiting(LOWERED, *all_three), "leader-restart/main")
    unheard = hold_of(waiting({"max_connections": ("200", "500")}, "member-2"), "settings/main")
    (restart,) = plan_for(waiting({"max_connections": ("100", "200")}, "member-2")).actions
    leader_last = plan_for(waiting({"max_connections": ("100", "200")}, "member-1"))
    held = [hold.reason for hold in leader_last.holds]
    moved = [action.reason for action in leader_last.actions]
    for text in (lowered and lowered.reason, unheard and unheard.reason, restart.reason):
        assert text is not None
        assert field in text
    assert [*held, *moved]
    assert all(field in text for text in (*held, *moved) if "max_connections" in text)


def test_once_the_leader_has_it_the_replicas_follow() -> None:
    replicas = waiting(LOWERED, "member-2", "member-3")
    assert pending(replicas, "member-2") == PendingRestart(owned=("max_connections",))
    assert hold_of(replicas, "leader-restart/main") is None
    keys = [action.key for action in plan_for(replicas).actions]
    assert keys == ["restart-postgres/main_member-2"]


def test_what_is_lowered_does_not_stop_what_is_not() -> None:
    both = {**LOWERED, "shared_buffers": ("128MB", "256MB")}
    observed = waiting(both, "member-1", "member-2", "member-3")
    assert pending(observed, "member-2") == PendingRestart(
        owned=("max_connections", "shared_buffers"), primary_first=("max_connections",)
    )
    keys = [action.key for action in plan_for(observed).actions]
    assert keys == ["restart-postgres/main_member-2"]


def test_amounts_that_cannot_be_read_count_as_lowered() -> None:
    observed = waiting({"max_connections": ("?", "200")}, "member-1", "member-2")
    found = pending(observed, "member-2")
    assert found is not None
    assert found.primary_first == ("max_connections",)


def test_without_a_leader_what_is_lowered_waits() -> None:
    observed = waiting(LOWERED, "member-2")
    leaderless = with_member(observed, "member-1", status("member-1", "nobody"))
    found = pending(leaderless, "member-2")
    assert found is not None
    assert found.primary_first == ("max_connections",)


def test_nothing_is_restarted_for_what_the_file_does_not_set() -> None:
    observed = waiting({"max_worker_processes": ("8", "16")}, "member-2", "member-3")
    assert plan_for(observed).actions == ()
    hold = hold_of(observed, "foreign-restart/main")
    assert hold is not None
    assert not hold.wants_attention
    assert_words(hold)


def test_nothing_is_restarted_for_what_nobody_explains() -> None:
    observed = waiting({}, "member-2")
    assert plan_for(observed).actions == ()
    hold = hold_of(observed, "unexplained-restart/main")
    assert hold is not None
    assert hold.wants_attention
    assert_words(hold)
