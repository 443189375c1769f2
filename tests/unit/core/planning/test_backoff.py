"""Backoff: an action without effect waits longer each time, and a hold says so."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from typing import Any

import pytest

from queenright.core.actions import AdjustService, LabelConfig, PatchSettings, UpdateService
from queenright.core.observed import Attempt, Observed
from queenright.core.planning.backoff import attempt_key, delay_s
from queenright.core.planning.node_labels import relabelled_node
from queenright.core.swarm.objects import BOOTSTRAPPED_LABEL
from tests.golden.messages import assert_words
from tests.support.builders import (
    MANIFEST,
    NOW,
    desired,
    found_images,
    manifest,
    plan_for,
    summary,
    three_nodes,
)
from tests.support.changed import live, with_config_labels, with_service, without

KEY = "update-service/main_member-2"


def drifted(**fields: Any) -> Observed:
    return with_service(three_nodes(), "main_member-2", **(fields or {"hostname": "x"}))


def tried(observed: Observed, count: int, error: str = "", text: str = MANIFEST) -> Observed:
    """Return the observation after so many tries of the only planned action."""
    (action,) = plan_for(observed, text).actions
    return dataclasses.replace(observed, attempts={attempt_key(action): Attempt(count, 0, error)})


@pytest.mark.parametrize(
    ("count", "plain"), [(1, 0.5), (2, 1), (3, 2), (8, 64), (10, 256), (11, 300), (60, 300)]
)
def test_the_delay_doubles_up_to_five_minutes_within_a_fifth(count: int, plain: float) -> None:
    delays = {delay_s(f"key-{number}", count) for number in range(50)}
    assert all(0.79 * plain < delay < 1.21 * plain for delay in delays)
    assert len(delays) > 10, "keys do not wait in step"
    assert delay_s("key", count) == delay_s("key", count)


def test_labels_of_two_clusters_on_a_node_are_counted_apart() -> None:
    node = three_nodes().swarm.value.nodes[0]  # type: ignore[union-attr]
    main, side = (relabelled_node(node, {key: "x"}, "a test") for key in ("main", "side"))
    assert main.key == side.key
    assert attempt_key(main) != attempt_key(side)


def test_nothing_tried_nothing_waited() -> None:
    assert delay_s("key", 0) == 0


@pytest.mark.parametrize(("count", "wants_attention"), [(1, False), (2, False), (3, True)])
def test_an_action_tried_in_vain_is_held_until_its_time(count: int, wants_attention: bool) -> None:
    observed = tried(drifted(), count)
    plan = plan_for(observed)
    assert summary(plan) == ([], [KEY])
    (hold,) = plan.holds
    due = NOW + timedelta(seconds=delay_s(KEY, count))
    assert (hold.recheck_at, hold.wants_attention) == (due, wants_attention)
    assert plan.recheck_at == due
    ((key, attempt),) = observed.attempts.items()
    late = dataclasses.replace(attempt, ago_s=delay_s(KEY, count))
    observed = dataclasses.replace(observed, attempts={key: late})
    for hours in (-6, 0, 6):  # whatever the clock says by then
        moved = plan_for(observed, now=NOW + timedelta(hours=hours))
        assert [action.key for action in moved.actions if action.key == KEY] == [KEY] * (hours >= 0)


def test_what_it_met_with_is_told() -> None:
    (hold,) = plan_for(tried(drifted(), 2, "no space left on device")).holds
    assert_words(hold)


@pytest.mark.parametrize(
    ("observed", "kind", "before", "after"),
    [
        (drifted(), UpdateService, MANIFEST, manifest(memory="{limit: 3G}")),
        (three_nodes(), LabelConfig, manifest(deletionPolicy="remove"), MANIFEST),
        (drifted(replicas=0), AdjustService, MANIFEST, MANIFEST),
        (
            three_nodes(),
            PatchSettings,
            manifest(replication="{mode: quorum}"),
            manifest(replication="{mode: synchronous}"),
        ),
    ],
)
def test_another_edit_of_the_same_object_is_not_the_same_attempt(
    observed: Observed, kind: type, before: str, after: str
) -> None:
    if kind is LabelConfig:
        noted = {**desired(before).state_config.labels, BOOTSTRAPPED_LABEL: "true", "old": "note"}
        held = tried(observed, 9, text=before)
        assert summary(plan_for(held, before))[0] == []
        again = with_config_labels(held, "main_cluster", noted)
    elif kind is AdjustService:
        held = tried(observed, 9)
        assert summary(plan_for(held))[0] == []
        labels = {**live(held, "main_member-2").value.labels, "backup": "daily"}
        again = with_service(held, "main_member-2", labels=labels)
    else:
        again = tried(observed, 9, text=before)
        assert summary(plan_for(again, before))[0] == []
    assert [type(action) for action in plan_for(again, after).actions] == [kind]


def test_one_that_waits_does_not_keep_others_waiting() -> None:
    observed = dataclasses.replace(
        without(tried(drifted(), 9), "main_patroni"), images=found_images()
    )
    assert summary(plan_for(observed))[0] == ["create-network/main_patroni"]
