"""The right to initialise a cluster: the preferred member has it until all were healthy once."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest

from queenright.core.actions import CreateConfig, CreateService, RestartService, UpdateService
from queenright.core.kinds.postgres_cluster.desired.patroni_yml import bootstraps
from queenright.core.kinds.postgres_cluster.desired.services import TEMPLATE_TARGET
from queenright.core.kinds.postgres_cluster.raft_reset import with_request
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.observed import Observed, Unknown, raft_key
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import BOOTSTRAPPED_LABEL, Service
from tests.support.builders import (
    NOW,
    desired,
    found_images,
    manifest,
    pinned,
    plan_for,
    raft_status,
    summary,
    swarm_of,
    task,
    three_nodes,
)
from tests.support.changed import (
    live,
    seen_for,
    with_config_labels,
    with_first_template,
    with_member,
    with_raft,
    with_swarm,
    with_tasks,
    without,
)

FIRST = "main_member-1"
MORE_MEMORY = "{limit: 3G}"


def may_initialise(observed: Observed, service: Service) -> bool:
    """Return True if the template that the service mounts has a bootstrap section."""
    (name,) = (file.name for file in service.configs if file.target == TEMPLATE_TARGET)
    texts = {
        config.name: config.data for config in (desired().template, desired().follower_template)
    }
    texts |= {found.value.name: found.value.data for found in swarm_of(observed).configs}
    return bootstraps(texts[name])


def unlabelled(observed: Observed) -> Observed:
    """Return it with a state config that does not say that the cluster was healthy once."""
    labels = dict(swarm_of(observed).config("main_cluster").value.labels)  # type: ignore[union-attr]
    del labels[BOOTSTRAPPED_LABEL]
    return with_config_labels(observed, "main_cluster", labels)


def test_the_preferred_member_alone_may_before_the_first_start() -> None:
    found = [bootstraps(desired().template.data)]
    found += [
        member.service.configs[0].name == desired().template.name for member in desired().members
    ]
    assert found == [True, True, False, False]


def test_nobody_may_once_the_cluster_was_whole() -> None:
    configs = {file.name for m in desired(was_whole=True).members for file in m.service.configs}
    assert configs == {desired().follower_template.name}
    assert not bootstraps(desired().follower_template.data)


def test_the_former_template_alone_restarts_nobody() -> None:
    assert plan_for(with_first_template(three_nodes())).is_converged


def test_it_goes_along_with_the_next_restart() -> None:
    text = manifest(memory=MORE_MEMORY)
    observed = with_first_template(three_nodes(leader="member-3", text=text))
    (action,) = plan_for(with_limit(observed), text).actions
    assert isinstance(action, UpdateService)
    assert action.service.name == FIRST
    assert not may_initialise(observed, action.service)


def with_limit(observed: Observed) -> Observed:
    """The preferred member has another memory limit than the file."""
    swarm = swarm_of(observed)
    services = tuple(
        dataclasses.replace(
            found, value=dataclasses.replace(found.value, resources=desired().proxy.resources)
        )
        if found.value.name == FIRST
        else found
        for found in swarm.services
    )
    return with_swarm(observed, services=services)


def test_it_goes_along_where_swarm_has_given_up() -> None:
    observed = with_first_template(three_nodes(leader="member-3"))
    observed = with_member(observed, "member-1", Unknown("connection refused"))
    ended = task(FIRST, "node2", slot=1, state="failed", at=NOW - timedelta(minutes=2))
    (action,) = plan_for(with_tasks(observed, FIRST, ended)).actions
    assert isinstance(action, RestartService)
    assert not may_initialise(observed, action.service)


def gone(observed: Observed) -> Observed:
    """Return it without the preferred member's service."""
    return dataclasses.replace(without(observed, FIRST), images=found_images())


def test_a_service_made_anew_may_not() -> None:
    observed = gone(with_first_template(three_nodes(leader="member-3")))
    (action,) = plan_for(observed).actions
    assert isinstance(action, CreateService)
    assert not may_initialise(observed, action.service)


@pytest.mark.parametrize("change", [unlabelled, lambda o: without(o, "main_cluster")])
def test_nor_may_one_whose_state_config_was_touched_by_hand(change: object) -> None:
    observed = change(three_nodes(leader="member-3"))  # type: ignore[operator]
    assert "create-config/main_patroni" not in str(summary(plan_for(observed))[0])


def test_a_first_deployment_that_is_not_finished_still_may() -> None:
    observed = unlabelled(with_first_template(three_nodes()))
    observed = with_member(observed, "member-3", Unknown("timed out"))
    observed = gone(observed)
    (action,) = plan_for(observed).actions
    assert isinstance(action, CreateService)
    assert may_initialise(observed, action.service)


def test_the_guard_refuses_a_start_that_may() -> None:
    observed = with_first_template(three_nodes(leader="member-3"))
    found = live(observed, FIRST)
    first = pinned(desired().members[0].service)
    starts = (
        CreateService(first, reason="a test"),
        UpdateService(found.id, found.version, first, 1, reason="a test", disrupts=FIRST),
        RestartService(found.id, found.version, first, 1, reason="a test", disrupts=FIRST),
    )
    for start in starts:
        refused = first_refusal(Plan("main", "d", (start,)), observed)
        assert refused is not None
        assert refused.guard == "initialised-once"
        assert first_refusal(Plan("main", "d", (start,)), unlabelled(observed)) is None
    follows = UpdateService(
        found.id, found.version, pinned(desired(was_whole=True).members[0].service), 1, reason="a"
    )
    assert first_refusal(Plan("main", "d", (follows,)), observed) is None


def test_a_template_that_is_only_planned_is_read_too() -> None:
    observed = three_nodes(leader="member-3")
    first = pinned(desired().members[0].service)
    plan = Plan(
        "main",
        "d",
        (CreateConfig(desired().template, reason="a test"), CreateService(first, reason="a test")),
    )
    refused = first_refusal(plan, without(observed, FIRST))
    assert refused is not None
    assert refused.guard == "initialised-once"


def test_a_member_that_sets_its_raft_log_aside_keeps_its_template() -> None:
    """The others are a quorum with everything, so its Patroni finds the cluster initialised."""
    observed = with_first_template(three_nodes(leader="member-3", unknown=["member-1"]))
    for name in ("member-2", "member-3"):
        observed = with_raft(observed, name, raft_status(name))
    found = live(observed, FIRST)
    asked = UpdateService(found.id, found.version, with_request(found), 0, reason="a test")
    behind = dataclasses.replace(raft_status("member-1"), last_applied=1)
    stuck = dataclasses.replace(
        with_raft(observed, "member-1", behind), seen_s_ago={raft_key(FIRST): 60.0}
    )
    for settled in ("main_member-2", "main_member-3"):
        stuck = seen_for(stuck, settled, 60.0)
    assert first_refusal(Plan("main", "d", (asked,)), stuck) is None
    refused = first_refusal(Plan("main", "d", (asked,)), observed)
    assert refused is not None
    assert refused.guard == "raft-log-is-spared"
