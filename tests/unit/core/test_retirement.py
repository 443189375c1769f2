"""A document that is gone: held, or removed in order; volumes and secrets stay and are named."""

from __future__ import annotations

import dataclasses

from queenright.core.observed import Known, Observed
from queenright.core.plan import Plan
from queenright.core.planner import make_retirement_plan
from queenright.core.resources import DELETION_POLICY_LABEL
from queenright.core.retirement import owned_clusters
from tests.builders import (
    NOW,
    bare_swarm,
    desired,
    summary,
    swarm_of,
    three_nodes,
    with_config_labels,
    with_swarm,
    without,
)


def retire(observed: Observed) -> Plan:
    return make_retirement_plan("main", observed, NOW).plan


def to_be_removed() -> Observed:
    labels = {**desired().anchor.labels, DELETION_POLICY_LABEL: "remove"}
    return with_config_labels(three_nodes(), "main_cluster", labels)


def test_without_a_word_everything_is_kept() -> None:
    plan = retire(three_nodes())
    assert summary(plan) == ([], ["retire/main"])
    assert "spec.deletionPolicy: remove" in plan.holds[0].reason
    assert plan.holds[0].wants_attention


def test_without_the_anchor_everything_is_kept() -> None:
    assert summary(retire(without(to_be_removed(), "main_cluster"))) == ([], ["retire/main"])


def test_services_go_first_and_the_proxies_before_the_members() -> None:
    plan = retire(to_be_removed())
    assert summary(plan) == (
        [
            "remove-service/main_proxy",
            "remove-service/main_member-1",
            "remove-service/main_member-2",
            "remove-service/main_member-3",
        ],
        [],
    )
    reason = plan.actions[1].reason
    for stays in (
        "volume main_member-1-data",
        "volume main_member-1-raft",
        "secret pg_superuser_pw",
    ):
        assert stays in reason


def test_then_labels_network_and_configs_and_the_anchor_last() -> None:
    names = [service.name for service in desired().services]
    plan = retire(without(to_be_removed(), *names))
    assert summary(plan) == (
        [
            "label-node/node2",
            "label-node/node3",
            "label-node/node4",
            "remove-network/main_patroni",
            *sorted(f"remove-config/{c.name}" for c in desired().configs if c != desired().anchor),
            "remove-config/main_cluster",
        ],
        [],
    )


def test_no_secret_is_ever_among_what_goes() -> None:
    observed = to_be_removed()
    for _ in range(4):
        plan = retire(observed)
        assert not any("secret" in action.key for action in plan.actions)
        observed = without(observed, *(action.key.partition("/")[2] for action in plan.actions))
    assert {live.value.name for live in swarm_of(observed).secrets} == {
        secret.name for secret in desired().secrets
    }


def test_clusters_are_found_by_what_they_own() -> None:
    assert owned_clusters(swarm_of(bare_swarm())) == frozenset()
    assert owned_clusters(swarm_of(three_nodes())) == {"main"}
    names = [service.name for service in desired().services]
    assert owned_clusters(swarm_of(without(three_nodes(), *names))) == {"main"}
    assert owned_clusters(swarm_of(with_swarm(three_nodes(), configs=(), services=()))) == set()


def test_nothing_is_decided_on_a_swarm_that_was_not_read() -> None:
    locked = dataclasses.replace(swarm_of(three_nodes()).engine, swarm_state="locked")
    observed = with_swarm(to_be_removed(), engine=locked)
    assert isinstance(observed.swarm, Known)
    assert summary(retire(observed)) == ([], ["preflight/swarm"])
