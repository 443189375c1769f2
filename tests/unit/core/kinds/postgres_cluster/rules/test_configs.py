"""A cluster's configs: made, kept for a rollback, removed; and its state config's labels."""

from __future__ import annotations

import dataclasses
from typing import Any

from queenright.core.actions import LabelConfig
from queenright.core.observed import Live, Observed, Unknown
from queenright.core.swarm.objects import (
    BOOTSTRAPPED_LABEL,
    RETIRING_LABEL,
)
from tests.support.builders import (
    MANIFEST,
    NOW,
    desired,
    manifest,
    plan_for,
    status,
    summary,
    swarm_of,
    three_nodes,
)
from tests.support.changed import (
    with_config_labels,
    with_first_template,
    with_live_service,
    with_member,
    with_swarm,
)

REPLICA = "main_member-2"


def test_outdated_ones_go_when_no_service_uses_them() -> None:
    text = manifest(postgresql="{parameters: {work_mem: 8MB}}")
    observed = with_swarm(
        three_nodes(text=text),
        configs=(*swarm_of(three_nodes(text=text)).configs, *only_template()),
    )
    assert summary(plan_for(observed, text)) == (
        [f"remove-config/{desired().template.name}"],
        [],
    )


def test_outdated_ones_stay_for_a_rollback() -> None:
    text = manifest(postgresql="{parameters: {work_mem: 8MB}}")
    observed = with_swarm(
        three_nodes(text=text),
        configs=(*swarm_of(three_nodes(text=text)).configs, *only_template()),
    )
    previous = frozenset({desired().template.name})
    observed = with_live_service(observed, REPLICA, previous_configs=previous)
    assert plan_for(observed, text).is_converged


def test_a_bootstrap_setting_changes_no_template_once_the_cluster_was_whole() -> None:
    text = manifest(postgresql="{parameters: {work_mem: 8MB}}")
    assert summary(plan_for(three_nodes(), text)) == (["settings/main"], [])


def test_a_bootstrap_setting_restarts_nobody_before() -> None:
    text = manifest(postgresql="{parameters: {work_mem: 8MB}}")
    observed = never_whole()
    plan = plan_for(observed, text)
    assert f"create-config/{desired(text).template.name}" in summary(plan)[0]
    assert not any(action.disrupts for action in plan.actions)
    made = with_swarm(observed, configs=(*swarm_of(observed).configs, *only_template(text)))
    assert not any(action.disrupts for action in plan_for(made, text).actions)


def test_other_content_under_our_name_is_told() -> None:
    configs = [
        dataclasses.replace(c, value=dataclasses.replace(c.value, data=b"x"))
        if c.value.name == desired().haproxy.name
        else c
        for c in swarm_of(three_nodes()).configs
    ]
    plan = plan_for(with_swarm(three_nodes(), configs=tuple(configs)))
    assert summary(plan) == ([], [f"config/{desired().haproxy.name}"])


def test_the_deletion_policy_is_noted_in_the_anchor() -> None:
    plan = plan_for(three_nodes(), manifest(deletionPolicy="remove"))
    assert summary(plan) == (["label-config/main_cluster"], [])


def test_the_note_that_the_document_is_gone_goes_when_it_is_back() -> None:
    labels = swarm_of(three_nodes()).config("main_cluster").value.labels  # type: ignore[union-attr]
    noted = {**labels, RETIRING_LABEL: NOW.isoformat()}
    plan = plan_for(with_config_labels(three_nodes(), "main_cluster", noted))
    assert summary(plan) == (["label-config/main_cluster"], [])
    (action,) = plan.actions
    assert isinstance(action, LabelConfig)
    assert action.config.labels == labels


def test_the_note_that_the_cluster_was_whole_is_made_again() -> None:
    labels = dict(swarm_of(three_nodes()).config("main_cluster").value.labels)  # type: ignore[union-attr]
    del labels[BOOTSTRAPPED_LABEL]
    observed = with_config_labels(three_nodes(), "main_cluster", labels)
    assert summary(plan_for(observed))[0] == ["label-config/main_cluster"]
    unwell = with_member(observed, "member-3", Unknown("timed out"))
    assert summary(plan_for(unwell))[0] == []


def only_template(text: str = MANIFEST) -> list[Any]:
    template = desired(text).template
    return [Live(f"id-{template.name}", 60, template)]


def never_whole() -> Observed:
    """A cluster in its first deployment."""
    observed = with_first_template(three_nodes())
    labels = dict(swarm_of(observed).config("main_cluster").value.labels)  # type: ignore[union-attr]
    del labels[BOOTSTRAPPED_LABEL]
    lagging = status("member-3", "member-1", lag_bytes=7)
    return with_member(with_config_labels(observed, "main_cluster", labels), "member-3", lagging)
