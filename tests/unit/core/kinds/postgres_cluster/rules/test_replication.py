"""Synchronous replication in one cluster: its settings, holds, successors and status."""

from __future__ import annotations

import dataclasses

import pytest

from queenright.core.kinds.postgres_cluster.desired.patroni_yml import render_patroni_template
from queenright.core.kinds.postgres_cluster.replication.conditions import replication_texts
from queenright.core.kinds.postgres_cluster.replication.settings import (
    STRICT_KEY,
    Replication,
    price,
    read_replication,
)
from queenright.core.kinds.ruleset import first_refusal
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
from tests.support.changed import with_member, with_service, with_settings, without
from tests.support.replication_worlds import (
    QUORUM,
    STRICT,
    both,
    far,
    in_force,
    patch_of,
    reasons,
    updated,
)
from tests.support.topology_worlds import settled, text_of

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


def test_strict_is_not_written_before_a_replica_can_confirm() -> None:
    observed = three_nodes()
    for name in ("member-2", "member-3"):
        observed = with_member(observed, name, status(name, "member-1", state="starting"))
    plan = plan_for(observed, STRICT)
    patch = patch_of(plan)
    assert patch.patch["synchronous_mode"] == "on"
    assert "synchronous_mode_strict" not in patch.patch
    assert "commits wait" not in patch.reason.replace("each commit waits", "")
    waiting = with_settings(observed, **{**desired(STRICT).settings, STRICT_KEY: None})
    assert "replication.strict is written when a replica can confirm" in reasons(
        plan_for(waiting, STRICT)
    )
    assert not [step for step in plan_for(waiting, STRICT).actions if step.kind == patch.kind]


def test_strict_is_written_with_the_first_replica_and_stays_without_one() -> None:
    assert patch_of(plan_for(three_nodes(), STRICT)).patch[STRICT_KEY] == "on"
    observed = three_nodes(text=STRICT)
    for name in ("member-2", "member-3"):
        observed = with_member(observed, name, status(name, "member-1", state="starting"))
    assert not [step for step in plan_for(observed, STRICT).actions if "settings" in step.key]


def test_fewer_replicas_than_desired_are_told() -> None:
    text = manifest(replication="{mode: synchronous, nodes: 2}")
    plan = plan_for(in_force(text, member_2="sync"), text)
    assert "member-2 confirms commits, 1 of 2 replicas" in reasons(plan)


def test_the_only_replica_that_can_confirm_is_not_restarted() -> None:
    observed = updated(far(in_force(STRICT, member_2="sync"), "member-3"))
    plan = plan_for(observed, STRICT)
    keys, holds = summary(plan)
    assert keys == ["update-service/main_member-3 !main_member-3"]
    assert "update-service/main_member-2" in holds
    assert "no replica could confirm commits (synchronous replication) without member-2" in reasons(
        plan
    )


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
