"""The status lines about leader, pauses, maintenance and pending restarts."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest

from queenright.core.kinds.postgres_cluster.annotations import PendingSwitchover
from queenright.core.kinds.postgres_cluster.patroni.config_keys import PAUSE_KEY
from queenright.core.kinds.postgres_cluster.status.conditions import conditions
from queenright.core.kinds.postgres_cluster.status.rows import ClusterStatus, cluster_status
from queenright.core.observed import Known, Observed, Unknown
from tests.golden.messages import Text, assert_words
from tests.support.builders import (
    MANIFEST,
    MEMBERS,
    NOW,
    VIP,
    desired,
    document,
    manifest,
    plan_for,
    status,
    swarm_of,
    three_nodes,
)
from tests.support.changed import with_member, with_notes, with_settings, without
from tests.support.plans import make_plan

WITH_VIP = manifest(vip=VIP)


def seen(observed: Observed, text: str = MANIFEST) -> ClusterStatus:
    decision = make_plan(document(text), observed, NOW)
    return cluster_status("main", decision.desired, decision.plan, observed, NOW)


def told(observed: Observed, text: str = MANIFEST) -> list[tuple[str, bool]]:
    """Return each line's subject, and if it needs a person; the page has its words."""
    lines = seen(observed, text).lines
    assert_words(*(Text(f"status {line.about}", line.text) for line in lines))
    return [(line.about, line.wants_attention) for line in lines]


def paused(observed: Observed, *names: str, **settings: object) -> Observed:
    for name in names or MEMBERS:
        observed = with_member(observed, name, status(name, "member-1", paused=True))
    return with_settings(observed, pause=True, **settings)


def test_nothing_is_told_of_a_cluster_without_wishes() -> None:
    assert told(three_nodes()) == []


def test_a_wish_that_a_failover_has_overtaken() -> None:
    text = manifest(primary="member-2")
    found = seen(three_nodes("member-3", text=text), text)
    assert told(three_nodes("member-3", text=text), text) == [("Leader", False)]
    assert found.holds == ()
    assert found.plan.holds


def test_a_wish_that_holds() -> None:
    text = manifest(primary="member-2", failback="automatic")
    assert told(three_nodes("member-2", text=text), text) == [("Leader", False)]


def test_a_move_that_is_under_way() -> None:
    move = PendingSwitchover("member-1", "member-2", 1, NOW - timedelta(seconds=5), "command")
    assert told(with_notes(three_nodes(), move=move)) == [("Move", False)]


def test_a_pause_by_hand_needs_a_person() -> None:
    found = seen(paused(three_nodes()))
    assert told(paused(three_nodes())) == [("Promotion", True)]
    assert not [hold for hold in found.holds if hold.key.startswith("promotion/")]


@pytest.mark.parametrize(
    ("reason", "spec"),
    [
        ("maintenance", {"maintenance": "{nodes: [node3, node4]}"}),
        ("promotion", {"promotion": "paused"}),
        ("promotion", {"promotion": "{state: paused, until: 2026-12-01T06:00Z}"}),
    ],
    ids=["maintenance", "promotion", "promotion until"],
)
def test_a_pause_of_the_operators_own(reason: str, spec: dict[str, str]) -> None:
    written = manifest(**spec)
    observed = paused(three_nodes(text=written), **{PAUSE_KEY: reason})
    assert ("Promotion", False) in told(observed, written)


def test_members_that_do_not_agree_yet() -> None:
    text = manifest(maintenance="{nodes: [node3, node4]}")
    observed = paused(three_nodes(text=text), "member-1", **{PAUSE_KEY: "maintenance"})
    assert ("Promotion", False) in told(observed, text)


def test_a_pause_whose_owner_is_unknown() -> None:
    observed = dataclasses.replace(paused(three_nodes()), settings={"main": Unknown("timed out")})
    assert told(observed) == [("Promotion", True)]


def test_a_pause_that_is_just_lifted() -> None:
    observed = with_member(three_nodes(), "member-3", status("member-3", "member-1", paused=True))
    assert told(observed) == [("Promotion", False)]


def test_what_waits_for_a_restart() -> None:
    waiting = status(
        "member-2",
        "member-1",
        pending_restart=True,
        pending_changes={"max_connections": ("100", "200"), "max_wal_senders": ("5", "6")},
    )
    assert ("Restart", False) in told(with_member(three_nodes(), "member-2", waiting))


def test_a_reconciliation_that_is_paused() -> None:
    text = manifest(reconcile="{state: paused, until: 2026-12-01T06:00Z}")
    assert told(three_nodes(text=text), text) == [("Reconcile", False)]


def in_json(seen: Observed, text: str) -> object:
    found = cluster_status("main", desired(text), plan_for(seen, text), seen, NOW)
    return found.details().get("virtual_ip")


def test_the_status_tells_who_has_the_virtual_address_where_that_is_known() -> None:
    observed = three_nodes(text=WITH_VIP, down={"node3"})

    def told(seen: Observed) -> list[str]:
        plan = plan_for(seen, WITH_VIP)
        lines = conditions(desired(WITH_VIP), plan, seen, swarm_of(seen), NOW)
        return [line.text for line in lines if line.about == "Virtual IP"]

    unknown = "10.77.0.100, its node is unknown; keepalived runs on"
    assert told(observed) == [f"{unknown} node2, node4"]
    assert told(without(observed, "main_vip")) == [f"{unknown} no node"]
    silent = dataclasses.replace(observed, holders={"main": Unknown("nobody answered")})
    assert told(silent) == told(observed)
    held = dataclasses.replace(observed, holders={"main": Known("member-3")})
    assert told(held) == ["10.77.0.100, on node4; keepalived runs on node2, node4"]
    assert in_json(observed, WITH_VIP) == {"address": "10.77.0.100", "node": None}
    assert in_json(held, WITH_VIP) == {"address": "10.77.0.100", "node": "node4"}
    assert in_json(three_nodes(), MANIFEST) is None
    plan = plan_for(three_nodes())
    assert conditions(desired(), plan, three_nodes(), swarm_of(three_nodes()), NOW) == ()
