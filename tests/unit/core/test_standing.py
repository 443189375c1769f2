"""The status lines about leader, pauses, maintenance and pending restarts."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest

from queenright.core.notes import MoveNote
from queenright.core.observed import Observed, Unknown
from queenright.core.planner import make_plan
from queenright.core.published import PAUSE_KEY
from queenright.core.status import ClusterStatus, cluster_status
from tests.builders import (
    MANIFEST,
    MEMBERS,
    NOW,
    document,
    manifest,
    status,
    three_nodes,
    with_member,
    with_notes,
    with_settings,
)


def seen(observed: Observed, text: str = MANIFEST) -> ClusterStatus:
    decision = make_plan(document(text), observed, NOW)
    return cluster_status("main", decision.desired, decision.plan, observed, NOW)


def told(observed: Observed, text: str = MANIFEST) -> list[str]:
    return [f"{line.about}: {line.text}" for line in seen(observed, text).lines]


def paused(observed: Observed, *names: str, **settings: object) -> Observed:
    for name in names or MEMBERS:
        observed = with_member(observed, name, status(name, "member-1", paused=True))
    return with_settings(observed, pause=True, **settings)


def test_nothing_is_told_of_a_cluster_without_wishes() -> None:
    assert told(three_nodes()) == []


def test_a_wish_that_a_failover_has_overtaken() -> None:
    text = manifest(primary="member-2")
    found = seen(three_nodes("member-3", text=text), text)
    assert [line.text for line in found.lines] == [
        "leader is member-3, wished member-2, failback manual"
    ]
    assert found.holds == ()
    assert found.plan.holds


def test_a_wish_that_holds() -> None:
    text = manifest(primary="member-2", failback="automatic")
    assert told(three_nodes("member-2", text=text), text) == [
        "Leader: member-2 is wished, failback automatic; it leads"
    ]


def test_a_move_that_is_under_way() -> None:
    move = MoveNote("member-1", "member-2", 1, NOW - timedelta(seconds=5), "command")
    assert told(with_notes(three_nodes(), move=move)) == [
        "Move: from member-1 to member-2, asked for at 2026-01-01T11:59:55Z (command)"
    ]


def test_a_pause_by_hand_needs_a_person() -> None:
    found = seen(paused(three_nodes()))
    (line,) = found.lines
    assert line.about == "Promotion"
    assert "paused, and not by the operator, which does not lift that" in line.text
    assert line.wants_attention
    assert not [hold for hold in found.holds if hold.key.startswith("promotion/")]


@pytest.mark.parametrize(
    ("reason", "spec", "text"),
    [
        (
            "maintenance",
            {"maintenance": "{nodes: [node3, node4]}"},
            "paused by the operator, for maintenance",
        ),
        (
            "promotion",
            {"promotion": "paused"},
            "promotion is paused, as the file wants it: there is no automatic failover",
        ),
        (
            "promotion",
            {"promotion": "{state: paused, until: 2026-12-01T06:00Z}"},
            (
                "promotion is paused, as the file wants it: there is no automatic failover "
                "(until 2026-12-01T06:00Z)"
            ),
        ),
    ],
)
def test_a_pause_of_the_operators_own(reason: str, spec: dict[str, str], text: str) -> None:
    written = manifest(**spec)
    observed = paused(three_nodes(text=written), **{PAUSE_KEY: reason})
    assert [line.text for line in seen(observed, written).lines if line.about == "Promotion"] == [
        text
    ]


def test_members_that_do_not_agree_yet() -> None:
    text = manifest(maintenance="{nodes: [node3, node4]}")
    observed = paused(three_nodes(text=text), "member-1", **{PAUSE_KEY: "maintenance"})
    assert (
        "Promotion: paused by the operator, for maintenance; not every member has taken it up yet"
    ) in told(observed, text)


def test_a_pause_whose_owner_is_unknown() -> None:
    observed = dataclasses.replace(paused(three_nodes()), settings={"main": Unknown("timed out")})
    assert "it is not known by whom" in told(observed)[0]


def test_a_pause_that_is_just_lifted() -> None:
    observed = with_member(three_nodes(), "member-3", status("member-3", "member-1", paused=True))
    assert told(observed) == ["Promotion: resumed, and not every member has taken it up yet"]


def test_what_waits_for_a_restart() -> None:
    waiting = status(
        "member-2",
        "member-1",
        pending_restart=True,
        pending_changes={"max_connections": ("100", "200"), "max_wal_senders": ("5", "6")},
    )
    lines = told(with_member(three_nodes(), "member-2", waiting))
    assert (
        "Restart: member-2 waits for one: max_connections 100 -> 200, max_wal_senders 5 -> 6"
        in (lines)
    )


def test_a_reconciliation_that_is_paused() -> None:
    text = manifest(reconcile="{state: paused, until: 2026-12-01T06:00Z}")
    (line,) = seen(three_nodes(text=text), text).lines
    assert line.about == "Reconcile"
    assert line.text.startswith("reconciliation is paused until 2026-12-01T06:00")
