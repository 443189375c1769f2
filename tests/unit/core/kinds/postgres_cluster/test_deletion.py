"""A document that is gone: held, or removed in order; volumes and secrets stay and are named."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from datetime import datetime, timedelta

import pytest

from queenright.core.actions import LabelConfig, LabelNode
from queenright.core.kinds.claims import claimed_labels
from queenright.core.kinds.postgres_cluster.deletion import owned_clusters
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.manifest.document import Document
from queenright.core.observed import Known, Observed
from queenright.core.planning.deletion import ABSENCE
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import BOOTSTRAPPED_LABEL, DELETION_POLICY_LABEL, RETIRING_LABEL
from tests.golden.messages import assert_words
from tests.support.builders import (
    MANIFEST,
    NOW,
    bare_swarm,
    desired,
    document,
    manifest,
    plan_for,
    summary,
    swarm_of,
    three_nodes,
)
from tests.support.changed import with_config_labels, with_swarm, without
from tests.support.plans import plan_cluster_deletion


def retire(observed: Observed, now: datetime = NOW, documents: Iterable[Document] = ()) -> Plan:
    return plan_cluster_deletion("main", observed, now, claimed_labels(documents))


def to_be_removed(since: str = (NOW - ABSENCE).isoformat()) -> Observed:
    """Return it with an owner who wants removal, and a document that is gone long enough."""
    labels = {
        **desired().state_config.labels,
        DELETION_POLICY_LABEL: "remove",
        RETIRING_LABEL: since,
    }
    return absent(with_config_labels(three_nodes(), "main_cluster", labels))


def absent(observed: Observed, seconds: float = 60) -> Observed:
    """Return the observation of an operator that has looked for the document for so long."""
    return dataclasses.replace(observed, absent_s={"main": seconds})


@pytest.mark.parametrize("since", ["", "yesterday"])
def test_since_when_the_document_is_gone_is_noted_first(since: str) -> None:
    plan = retire(to_be_removed(since))
    assert summary(plan) == (["label-config/main_cluster"], [])
    (action,) = plan.actions
    assert isinstance(action, LabelConfig)
    assert action.config.labels == {
        **desired().state_config.labels,
        DELETION_POLICY_LABEL: "remove",
        RETIRING_LABEL: NOW.isoformat(),
    }


def test_until_it_has_been_gone_for_a_minute_nothing_goes() -> None:
    observed = to_be_removed(NOW.isoformat())
    for gone_s in (0, 30, 59.9):
        plan = retire(absent(observed, gone_s), NOW + timedelta(seconds=gone_s))
        assert summary(plan) == ([], ["retire/main"])
        assert plan.recheck_at == NOW + timedelta(seconds=60)
    assert "remove-service/main_proxy" in summary(retire(observed, NOW + ABSENCE))[0]
    assert_words(*plan.holds, *plan.actions)


@pytest.mark.parametrize("ago", [timedelta(days=3), timedelta(hours=-6)])
def test_a_note_of_another_time_is_written_anew_and_proves_no_absence(ago: timedelta) -> None:
    """The document was back in between, paused, so that nothing was written here."""
    stale = absent(to_be_removed((NOW - ago).isoformat()), 1)
    plan = retire(stale)
    assert summary(plan) == (["label-config/main_cluster"], [])
    (action,) = plan.actions
    assert isinstance(action, LabelConfig)
    assert action.config.labels[RETIRING_LABEL] == NOW.isoformat()
    noted = absent(with_config_labels(stale, "main_cluster", action.config.labels), 1)
    assert summary(retire(noted)) == ([], ["retire/main"])


def test_a_clock_that_jumps_neither_shortens_the_wait_nor_draws_it_out() -> None:
    observed = to_be_removed(NOW.isoformat())
    for hours in (-6, 6):
        now = NOW + timedelta(hours=hours)
        again = retire(absent(observed, 30), now)
        assert summary(again) == (["label-config/main_cluster"], [])
        noted = to_be_removed(now.isoformat())
        assert summary(retire(absent(noted, 30), now)) == ([], ["retire/main"])
        assert "remove-service/main_proxy" in summary(retire(absent(noted, 60), now))[0]
    assert_words(*again.holds, *again.actions)


def test_who_looks_once_is_told_of_the_wait() -> None:
    seen = dataclasses.replace(to_be_removed(), absent_s={})
    plan = retire(seen)
    assert summary(plan) == ([], ["retire/main"])
    assert plan.recheck_at is None


def test_a_removal_without_a_minutes_absence_is_refused() -> None:
    names = [service.name for service in desired().services]
    for observed in (to_be_removed(), without(to_be_removed(), *names)):
        plan = retire(observed)
        assert first_refusal(plan, observed) is None
        for seconds in (0, 59):
            refusal = first_refusal(plan, absent(observed, seconds))
            assert refusal is not None
            assert refusal.guard == "absence-is-certain"
    assert_words(*plan.holds, *plan.actions)


def test_a_document_that_is_back_begins_the_wait_anew() -> None:
    text = manifest(deletionPolicy="remove")
    labels = {**desired(text).state_config.labels, BOOTSTRAPPED_LABEL: "true"}
    noted = {**labels, RETIRING_LABEL: (NOW - timedelta(seconds=30)).isoformat()}
    observed = with_config_labels(three_nodes(text=text), "main_cluster", noted)
    plan = plan_for(observed, text)
    assert summary(plan) == (["label-config/main_cluster"], [])
    (action,) = plan.actions
    assert isinstance(action, LabelConfig)
    again = with_config_labels(observed, "main_cluster", action.config.labels)
    later = NOW + timedelta(hours=1)
    assert summary(retire(again, later)) == (["label-config/main_cluster"], [])


def test_labels_that_another_document_wants_stay() -> None:
    names = [service.name for service in desired().services]
    other = document(MANIFEST.replace("name: main", "name: other").replace("node4", "node1"))
    actions = retire(without(to_be_removed(), *names), documents=[other]).actions
    taken = {
        (action.node, key)
        for action in actions
        if isinstance(action, LabelNode)
        for key in action.labels
    }
    assert taken == {("node4", "pg-node"), ("node4", "pg-ha-node")}


def test_without_a_word_everything_is_kept() -> None:
    plan = retire(three_nodes())
    assert summary(plan) == ([], ["retire/main"])
    assert_words(plan.holds[0])
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
            *sorted(
                f"remove-config/{c.name}"
                for c in desired(was_whole=True).configs
                if c != desired(was_whole=True).state_config
            ),
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
