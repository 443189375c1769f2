"""Synchronous replication in one cluster: its settings, holds, successors and status."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from queenright.core.actions import (
    LabelConfig,
    PatchSettings,
    Switchover,
    UpdateService,
)
from queenright.core.kinds.postgres_cluster.desired.patroni_yml import render_patroni_template
from queenright.core.kinds.postgres_cluster.replication.conditions import replication_texts
from queenright.core.kinds.postgres_cluster.replication.settings import (
    Replication,
    price,
    read_replication,
)
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.observed import Observed
from queenright.core.planning.plan import Plan
from tests.support.builders import (
    MANIFEST,
    desired,
    document,
    manifest,
    plan_for,
    status,
    summary,
    three_nodes,
)
from tests.support.changed import with_member, with_notes, with_service, with_settings, without
from tests.support.topology_worlds import settled, text_of

QUORUM = manifest(replication="{mode: quorum}")
STRICT = manifest(replication="{mode: synchronous, strict: true, maximumLagOnSync: 1K}")


def in_force(text: str, **parts: str) -> Observed:
    """The converged cluster with these replicas' parts in a commit."""
    observed = three_nodes(text=text)
    for name, part in parts.items():
        member = name.replace("_", "-")
        fields: dict[str, Any] = {"synchronous": part}
        observed = with_member(observed, member, status(member, "member-1", **fields))
    return observed


def both(text: str = QUORUM, part: str = "quorum") -> Observed:
    return in_force(text, member_2=part, member_3=part)


def reasons(plan: Plan) -> str:
    return "; ".join(hold.reason for hold in plan.holds)


def patch_of(plan: Plan) -> PatchSettings:
    found = [step for step in plan.actions if isinstance(step, PatchSettings)]
    assert len(found) == 1
    return found[0]


# Settings


def test_without_the_field_the_template_has_no_word_of_it() -> None:
    assert "synchronous" not in render_patroni_template(document(MANIFEST).resource)
    assert "queenright_replication" not in desired().settings


def test_the_bootstrap_section_has_patronis_own_keys() -> None:
    text = render_patroni_template(document(STRICT).resource)
    for line in (
        "synchronous_mode: 'on'",
        "synchronous_mode_strict: 'on'",
        "synchronous_node_count: 1",
        "maximum_lag_on_syncnode: 1024",
    ):
        assert line in text


def test_the_mode_is_written_with_what_it_costs_and_buys() -> None:
    patch = patch_of(plan_for(three_nodes(), QUORUM))
    assert patch.patch == {
        "queenright_replication": "quorum",
        "synchronous_mode": "quorum",
        "synchronous_node_count": 1,
    }
    assert "each commit waits until the fastest 1 of the replicas" in patch.reason
    assert "a failover loses no acknowledged row" in patch.reason


@pytest.mark.parametrize("text", [MANIFEST, manifest(replication="{mode: asynchronous}")])
def test_the_mode_is_taken_back(text: str) -> None:
    patch = patch_of(plan_for(both(), text))
    assert patch.patch["synchronous_mode"] is None
    assert patch.patch["synchronous_node_count"] is None
    assert "may lose acknowledged rows" in patch.reason


def test_a_mode_set_by_hand_is_left_alone() -> None:
    observed = with_settings(three_nodes(), synchronous_mode=True)
    assert summary(plan_for(observed)) == ([], [])


def test_quorum_and_synchronous_are_two_modes() -> None:
    patch = patch_of(plan_for(both(), manifest(replication="{mode: synchronous}")))
    assert patch.patch["synchronous_mode"] == "on"


@pytest.mark.parametrize(
    ("found", "read"),
    [
        ({}, Replication()),
        ({"synchronous_mode": True}, Replication("synchronous")),
        ({"synchronous_mode": "off"}, Replication()),
        (
            {"synchronous_mode": "Quorum", "synchronous_node_count": "2"},
            Replication("quorum", nodes=2),
        ),
        ({"synchronous_mode": "on", "maximum_lag_on_syncnode": -1}, Replication("synchronous")),
        (
            {
                "synchronous_mode": "on",
                "synchronous_mode_strict": "true",
                "synchronous_node_count": 0,
            },
            Replication("synchronous", strict=True),
        ),
        ({"synchronous_mode": "on", "synchronous_node_count": "many"}, Replication("synchronous")),
    ],
)
def test_settings_are_read_as_patroni_reads_them(
    found: dict[str, object], read: Replication
) -> None:
    assert read_replication(found) == read


def test_a_price_is_told_only_for_a_change() -> None:
    settings = desired(QUORUM).settings
    assert price(settings, settings) == ""


# Holds


def test_nothing_waits_once_the_replicas_confirm() -> None:
    observed = both()
    plan = plan_for(observed, QUORUM)
    assert summary(plan) == ([], [])


def test_a_mode_that_is_not_in_force_yet_is_told() -> None:
    plan = plan_for(in_force(QUORUM), QUORUM)
    assert summary(plan) == ([], ["replication/main"])
    assert "not in force yet" in reasons(plan)
    assert not plan.holds[0].wants_attention


def test_strict_tells_that_commits_wait() -> None:
    plan = plan_for(in_force(STRICT), STRICT)
    assert "commits wait until one is, as replication.strict is true" in reasons(plan)
    assert plan.holds[0].wants_attention


def test_fewer_replicas_than_wished_are_told() -> None:
    text = manifest(replication="{mode: synchronous, nodes: 2}")
    plan = plan_for(in_force(text, member_2="sync"), text)
    assert "member-2 confirms commits, 1 of 2 replicas" in reasons(plan)


def far(observed: Observed, name: str, **fields: Any) -> Observed:
    return with_member(observed, name, status(name, "member-1", lag_bytes=5000, **fields))


def updated(observed: Observed) -> Observed:
    """The replicas' services differ from the file."""
    for name in ("member-2", "member-3"):
        observed = with_service(observed, f"main_{name}", stop_grace_s=1.0)
    return observed


def test_the_only_replica_that_can_confirm_is_not_restarted() -> None:
    observed = updated(far(in_force(STRICT, member_2="sync"), "member-3"))
    plan = plan_for(observed, STRICT)
    keys, holds = summary(plan)
    assert keys == ["update-service/main_member-3 !main_member-3"]
    assert "update-service/main_member-2" in holds
    assert "no replica could confirm commits (synchronous replication) without member-2" in reasons(
        plan
    )


def test_a_guard_of_its_own_refuses_that_too() -> None:
    observed = updated(in_force(STRICT, member_2="sync"))
    plan = plan_for(observed, STRICT)
    assert any(isinstance(step, UpdateService) for step in plan.actions)
    assert first_refusal(plan, observed) is None
    refusal = first_refusal(plan, far(observed, "member-3"))
    assert refusal is not None
    assert refusal.guard == "commits-are-confirmed"


@pytest.mark.parametrize(
    ("tags", "is_refused"),
    [
        ({}, False),
        ({"nosync": True}, True),
        ({"sync_priority": 0}, True),
        ({"sync_priority": "0"}, True),
        ({"sync_priority": -1}, True),
        ({"sync_priority": 2}, False),
        ({"nosync": False, "sync_priority": 0}, False),
    ],
)
def test_a_replica_that_its_tags_keep_out_takes_nobodys_part(
    tags: dict[str, object], is_refused: bool
) -> None:
    observed = updated(in_force(STRICT, member_2="sync"))
    plan = plan_for(observed, STRICT)
    other = with_member(observed, "member-3", status("member-3", "member-1", tags=tags))
    refusal = first_refusal(plan, other)
    assert (refusal is not None) is is_refused
    kept = "update-service/main_member-2" in summary(plan_for(other, STRICT))[1]
    alone = "no replica could confirm commits" in reasons(plan_for(other, STRICT))
    assert kept is alone is is_refused


def test_of_two_members_none_is_restarted_and_the_hold_names_the_way_out() -> None:
    text = text_of(1, 2, spec="  acknowledge: [noFailover, evenMembers]\n")
    text += "  replication: {mode: quorum}\n"
    observed = without(in_force(text, member_2="quorum"), "main_member-3")
    observed = with_service(settled(observed, (1, 2)), "main_member-2", stop_grace_s=1.0)
    plan = plan_for(observed, text)
    assert summary(plan)[0] == []
    assert "write replication: {mode: asynchronous} for that time" in reasons(plan)


# The leadership

PRIMARY = manifest(replication="{mode: synchronous}", primary="member-3", fastSwitchover="false")


def test_only_a_synchronous_standby_takes_over() -> None:
    observed = with_notes(in_force(PRIMARY, member_2="sync"), primary="")
    plan = plan_for(observed, PRIMARY)
    assert not any(isinstance(step, Switchover) for step in plan.actions)
    assert "member-3 is no synchronous standby (synchronous replication; Patroni has" in reasons(
        plan
    )


def test_a_synchronous_standby_does_and_a_guard_asks_again() -> None:
    observed = with_notes(in_force(PRIMARY, member_3="sync"), primary="")
    plan = plan_for(observed, PRIMARY)
    assert [type(step) for step in plan.actions] == [LabelConfig, Switchover]
    assert first_refusal(plan, observed) is None
    refusal = first_refusal(plan, in_force(PRIMARY, member_2="sync"))
    assert refusal is not None


def test_a_maintenance_without_a_quorum_is_not_safe() -> None:
    text = manifest(replication="{mode: quorum}", maintenance="{nodes: [node3, node4]}")
    observed = both(text)
    plan = plan_for(observed, text)
    assert summary(plan)[0] == []
    assert "not safe to power off node3, node4: replication is quorum" in reasons(plan)
    assert "replication: {mode: asynchronous}" in reasons(plan)


def test_the_pause_for_such_a_maintenance_is_refused() -> None:
    text = manifest(maintenance="{nodes: [node3, node4]}")
    plan = plan_for(three_nodes(text=text), text)
    assert patch_of(plan).patch["pause"] is True
    assert first_refusal(plan, three_nodes(text=text)) is None
    observed = with_settings(three_nodes(text=text), synchronous_mode="quorum")
    refusal = first_refusal(plan, observed)
    assert refusal is not None
    assert "wait for its replicas" in refusal.reason


def test_a_node_whose_replica_can_be_spared_is_safe() -> None:
    text = manifest(replication="{mode: quorum}", maintenance="{nodes: [node4]}")
    assert "safe to power off: node4" in reasons(plan_for(both(text), text))
    too_far = manifest(
        replication="{mode: quorum, maximumLagOnSync: 1K}", maintenance="{nodes: [node4]}"
    )
    observed = far(both(too_far), "member-2", synchronous="quorum")
    assert "not yet safe to power off node4: no replica could" in reasons(
        plan_for(observed, too_far)
    )


# Status


def test_the_status_names_who_confirms() -> None:
    texts = [*replication_texts(desired(QUORUM), both())]
    assert texts == ["quorum: commits wait for any 1 of member-2, member-3"]
    assert [*replication_texts(desired(), three_nodes())] == []


def test_the_status_tells_a_wish_that_is_not_in_force() -> None:
    texts = [*replication_texts(desired(QUORUM), three_nodes())]
    assert texts == ["asynchronous is in force, quorum is desired"]
    unknown = dataclasses.replace(three_nodes(), settings={})
    assert [*replication_texts(desired(QUORUM), unknown)] == [
        "quorum is desired; what is in force is unknown"
    ]
