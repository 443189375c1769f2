"""Commands: the messages before they act, and their limits."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest

from queenright.core.actions import Failover, LabelConfig
from queenright.core.kinds.postgres_cluster.annotations import PendingSwitchover, read_annotations
from queenright.core.kinds.postgres_cluster.commands import (
    failover_steps,
    further_member,
    loss_bound,
    tidying_steps,
    what_follows,
    why_not_commanded,
    why_not_restart,
)
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.patroni.config_keys import ROUTE_KEY, Route
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import Known, Observed, Unknown
from tests.golden.messages import Text, assert_words
from tests.support.builders import MANIFEST, NOW, desired, manifest, status, swarm_of, three_nodes
from tests.support.changed import with_member, with_notes, with_raft, with_settings


def state(observed: Observed, text: str = MANIFEST) -> ClusterState:
    return ClusterState(
        desired(text),
        swarm_of(observed),
        observed,
        NOW,
    )


def named(found: ClusterState, name: str) -> DesiredMember:
    member = found.member(name)
    assert member is not None
    return member


def leaderless(*, locations: dict[str, int | None]) -> ClusterState:
    observed = three_nodes()
    for name, location in locations.items():
        fields = {"location": location, "lag_bytes": None, "replication_state": ""}
        observed = with_member(observed, name, status(name, "", **fields))
    return state(with_member(observed, "member-1", Unknown("timed out")))


def test_the_loss_is_bounded_by_the_lag_while_a_leader_answers() -> None:
    lagging = status("member-2", "member-1", lag_bytes=4096)
    found = state(with_member(three_nodes(), "member-2", lagging))
    assert loss_bound(found, named(found, "member-2")) == (
        "at most 4096 bytes of WAL that member-1 has and member-2 has not, and whatever is written "
        "until then"
    )


@pytest.mark.parametrize(
    ("locations", "better"),
    [
        ({"member-2": 900, "member-3": 1000}, "member-3"),
        ({"member-2": 1000, "member-3": 900}, ""),
        ({"member-2": 1000, "member-3": 1000}, ""),
        ({"member-2": None, "member-3": 900}, ""),
    ],
    ids=["behind", "ahead", "equal", "not known"],
)
def test_without_a_leader_the_loss_is_unknown(
    locations: dict[str, int | None], better: str
) -> None:
    found = leaderless(locations=locations)
    bound = loss_bound(found, named(found, "member-2"))
    assert_words(Text("loss of a failover", bound))
    assert further_member(found, named(found, "member-2")) == better


def test_without_a_leader_patronis_note_bounds_the_loss_from_below() -> None:
    found = leaderless(locations={"member-2": 4000, "member-3": 4000})
    noted = dataclasses.replace(found.observed, leader_locations={"main": Known(4800)})
    bound = loss_bound(state(noted), named(state(noted), "member-2"))
    assert "at least 800 bytes" in bound
    assert_words(Text("loss of a failover", bound))


def test_a_failover_is_noted_only_where_a_leader_is_known() -> None:
    found = state(three_nodes())
    note, step = failover_steps(found, named(found, "member-3"))
    assert isinstance(note, LabelConfig)
    assert isinstance(step, Failover)
    expected = PendingSwitchover("member-1", "member-3", 1, NOW, "command")
    assert read_annotations(note.config.labels).move == expected
    assert (step.address, step.candidate, step.disrupts) == (
        "10.77.0.14",
        "member-3",
        "main_member-1",
    )
    alone = leaderless(locations={"member-2": 5, "member-3": 5})
    (only,) = failover_steps(alone, named(alone, "member-3"))
    assert isinstance(only, Failover)
    assert only.disrupts == ""
    assert_words(step)
    assert_words(note)


def test_a_move_that_is_not_void_yet_is_in_the_way() -> None:
    fresh = PendingSwitchover("member-1", "member-3", 1, NOW - timedelta(seconds=10), "primary")
    found = state(with_notes(three_nodes(), move=fresh))
    why = why_not_commanded(found, named(found, "member-2"))
    assert why is not None
    assert_words(Text("no switchover by command", why))
    old = dataclasses.replace(fresh, at=NOW - timedelta(minutes=5))
    found = state(with_notes(three_nodes(), move=old))
    assert why_not_commanded(found, named(found, "member-2")) is None


def test_the_operators_conditions_are_the_commands() -> None:
    found = state(with_raft(three_nodes(), "member-1", Unknown("timed out")))
    why = why_not_commanded(found, named(found, "member-2"))
    assert why is not None
    assert_words(Text("no switchover by command", why))


def test_no_command_has_a_member_lead_that_leaves() -> None:
    found = state(three_nodes())
    leaving = dataclasses.replace(found.desired.topology, leaving=frozenset({"member-2"}))
    found = dataclasses.replace(found, desired=dataclasses.replace(found.desired, topology=leaving))
    why = why_not_commanded(found, named(found, "member-2"))
    assert why is not None
    assert_words(Text("no switchover by command", why))
    assert why_not_commanded(found, named(found, "member-3")) is None


@pytest.mark.parametrize("honoured", ["", "member-3"], ids=["not yet", "honoured"])
def test_what_the_operator_will_make_of_it(honoured: str) -> None:
    text = manifest(primary="member-3")
    found = state(with_notes(three_nodes(text=text), primary=honoured), text)
    follows = what_follows(found, named(found, "member-2"))
    assert follows
    assert_words(Text("after a switchover by command", follows))
    assert what_follows(found, named(found, "member-3")) == ""
    plain = state(three_nodes())
    assert what_follows(plain, named(plain, "member-2")) == ""


def test_after_a_move_the_note_goes_first_then_the_hint() -> None:
    hint = str(Route("follow", "member-2", NOW - timedelta(seconds=5)))
    moved = with_settings(three_nodes("member-2"), **{ROUTE_KEY: hint})
    note = PendingSwitchover("member-1", "member-2", 1, NOW, "command")
    keys = [s.key for s in tidying_steps(state(with_notes(moved, move=note)))]
    assert keys == ["label-config/main_cluster"]
    assert [step.key for step in tidying_steps(state(moved))] == ["route/main"]
    assert tidying_steps(state(three_nodes("member-2"))) == ()


def test_a_leader_is_restarted_only_while_the_others_stream() -> None:
    found = state(three_nodes())
    assert why_not_restart(found, named(found, "member-1")) is None
    bad = status("member-3", "member-1", state="starting", replication_state="")
    found = state(with_member(three_nodes(), "member-3", bad))
    why = why_not_restart(found, named(found, "member-1"))
    assert why is not None
    assert_words(Text("no restart of the leader", why))
    assert why_not_restart(found, named(found, "member-2")) is not None
    found = state(with_member(three_nodes(), "member-3", Unknown("timed out")))
    why = why_not_restart(found, named(found, "member-1"))
    assert why is not None
    assert_words(Text("no restart of the leader", why))
