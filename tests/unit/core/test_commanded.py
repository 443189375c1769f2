"""What a command tells a person before it acts, and what it may not do."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest

from queenright.core.actions import FailOver, LabelConfig
from queenright.core.commanded import (
    failover_steps,
    further_member,
    loss_bound,
    pause_patch,
    settings_patch,
    tidying_steps,
    what_follows,
    why_not_commanded,
    why_not_restart,
)
from queenright.core.desired import DesiredMember
from queenright.core.notes import MoveNote, read_notes
from queenright.core.observed import Observed, Unknown
from queenright.core.published import PAUSE_KEY, ROUTE_KEY, Route
from queenright.core.situation import Situation
from tests.builders import (
    MANIFEST,
    NOW,
    desired,
    manifest,
    status,
    swarm_of,
    three_nodes,
    with_member,
    with_notes,
    with_raft,
    with_settings,
)


def situation(observed: Observed, text: str = MANIFEST) -> Situation:
    return Situation(
        desired(text),
        swarm_of(observed),
        observed.members,
        observed.images,
        observed.settings["main"],
        NOW,
        observed.raft,
    )


def named(found: Situation, name: str) -> DesiredMember:
    member = found.member(name)
    assert member is not None
    return member


def leaderless(*, locations: dict[str, int | None]) -> Situation:
    observed = three_nodes()
    for name, location in locations.items():
        fields = {"location": location, "lag_bytes": None, "replication_state": ""}
        observed = with_member(observed, name, status(name, "", **fields))
    return situation(with_member(observed, "member-1", Unknown("timed out")))


def test_the_loss_is_bounded_by_the_lag_while_a_leader_answers() -> None:
    lagging = status("member-2", "member-1", lag_bytes=4096)
    found = situation(with_member(three_nodes(), "member-2", lagging))
    assert loss_bound(found, named(found, "member-2")) == (
        "at most 4096 bytes of WAL that member-1 has and member-2 has not, and whatever is written "
        "until then"
    )


@pytest.mark.parametrize(
    ("locations", "said", "better"),
    [
        ({"member-2": 900, "member-3": 1000}, "member-3 has 100 bytes more", "member-3"),
        ({"member-2": 1000, "member-3": 900}, "no member that answers has more than member-2", ""),
        ({"member-2": 1000, "member-3": 1000}, "no member that answers has more", ""),
        ({"member-2": None, "member-3": 900}, "how far member-2 is, is not known", ""),
    ],
)
def test_without_a_leader_the_loss_is_unknown(
    locations: dict[str, int | None], said: str, better: str
) -> None:
    found = leaderless(locations=locations)
    bound = loss_bound(found, named(found, "member-2"))
    assert "unknown" in bound
    assert said in bound
    assert further_member(found, named(found, "member-2")) == better


def test_a_failover_is_noted_only_where_a_leader_is_known() -> None:
    found = situation(three_nodes())
    note, step = failover_steps(found, named(found, "member-3"))
    assert isinstance(note, LabelConfig)
    assert isinstance(step, FailOver)
    expected = MoveNote("member-1", "member-3", 1, NOW, "command")
    assert read_notes(note.config.labels).move == expected
    assert (step.address, step.candidate, step.disturbs) == (
        "10.77.0.14",
        "member-3",
        "main_member-1",
    )
    alone = leaderless(locations={"member-2": 5, "member-3": 5})
    (only,) = failover_steps(alone, named(alone, "member-3"))
    assert isinstance(only, FailOver)
    assert only.disturbs == ""


def test_a_move_that_is_not_void_yet_is_in_the_way() -> None:
    fresh = MoveNote("member-1", "member-3", 1, NOW - timedelta(seconds=10), "primary")
    found = situation(with_notes(three_nodes(), move=fresh))
    assert why_not_commanded(found, named(found, "member-2")) == (
        "a move from member-1 to member-3 was asked for, and may still happen for 30 s"
    )
    old = dataclasses.replace(fresh, at=NOW - timedelta(minutes=5))
    found = situation(with_notes(three_nodes(), move=old))
    assert why_not_commanded(found, named(found, "member-2")) is None


def test_the_operators_conditions_are_the_commands() -> None:
    found = situation(with_raft(three_nodes(), "member-1", Unknown("timed out")))
    assert "Raft node of member-1" in (why_not_commanded(found, named(found, "member-2")) or "")


@pytest.mark.parametrize(
    ("honoured", "said"),
    [("", "which is not honoured yet: the operator moves the lead there"),
     ("member-3", "failback is manual, so the lead stays where it is")],
)  # fmt: skip
def test_what_the_operator_will_make_of_it(honoured: str, said: str) -> None:
    text = manifest(primary="member-3")
    found = situation(with_notes(three_nodes(text=text), primary=honoured), text)
    assert said in what_follows(found, named(found, "member-2"))
    assert what_follows(found, named(found, "member-3")) == ""
    plain = situation(three_nodes())
    assert what_follows(plain, named(plain, "member-2")) == ""


def test_after_a_move_the_note_goes_first_then_the_hint() -> None:
    hint = str(Route("follow", "member-2", NOW - timedelta(seconds=5)))
    moved = with_settings(three_nodes("member-2"), **{ROUTE_KEY: hint})
    note = MoveNote("member-1", "member-2", 1, NOW, "command")
    keys = [s.key for s in tidying_steps(situation(with_notes(moved, move=note)))]
    assert keys == ["label-config/main_cluster"]
    assert [step.key for step in tidying_steps(situation(moved))] == ["route/main"]
    assert tidying_steps(situation(three_nodes("member-2"))) == ()


def test_a_pause_is_lifted_with_its_mark() -> None:
    assert pause_patch({}, paused=True) == {"pause": True}
    assert pause_patch({"pause": True}, paused=False) == {"pause": None}
    assert pause_patch({"pause": True, PAUSE_KEY: "promotion"}, paused=False) == {
        "pause": None,
        PAUSE_KEY: None,
    }


def test_a_leader_is_restarted_only_while_the_others_stream() -> None:
    found = situation(three_nodes())
    assert why_not_restart(found, named(found, "member-1")) is None
    bad = status("member-3", "member-1", state="starting", replication_state="")
    found = situation(with_member(three_nodes(), "member-3", bad))
    assert why_not_restart(found, named(found, "member-1")) == "member-3 is starting, not streaming"
    assert why_not_restart(found, named(found, "member-2")) is not None
    found = situation(with_member(three_nodes(), "member-3", Unknown("timed out")))
    assert "does not answer" in (why_not_restart(found, named(found, "member-1")) or "")


def test_free_text_is_not_written_into_the_trail() -> None:
    found = {
        "ttl": 30,
        "postgresql": {
            "parameters": {"archive_command": "KEY=hunter2 push %p", "work_mem": "4MB"},
            "recovery_conf": {"restore_command": "KEY=hunter2 fetch"},
        },
    }
    patch = {
        "ttl": 20,
        "postgresql": {
            "parameters": {"archive_command": "KEY=hunter3 push %p", "work_mem": "8MB"},
            "recovery_conf": {"restore_command": None},
        },
    }
    here = situation(three_nodes())
    step = settings_patch(
        here, here.desired.members[0], found, patch, aspect="edit-config", reason="a test"
    )
    assert [(change.path, change.old, change.new) for change in step.changes] == [
        ("ttl", "30", "20"),
        ("postgresql.parameters.archive_command", "(set)", "(set)"),
        ("postgresql.parameters.work_mem", "4MB", "8MB"),
        ("postgresql.recovery_conf.restore_command", "(set)", "(absent)"),
    ]
