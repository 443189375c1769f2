"""The guard of restores in place, against plans that no rule of ours makes."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime

import pytest

from queenright.core.actions import (
    AdjustService,
    AnyAction,
    CreateService,
    LabelConfig,
    RemoveService,
    UpdateService,
)
from queenright.core.kinds.postgres_cluster.in_place.note import (
    Restored,
    RestoreRequest,
    WantedRestore,
    with_request,
    with_restored,
)
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.observed import MemberStatus, Observed
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import BOOTSTRAPPED_LABEL, ROLE_LABEL
from tests.support.builders import desired, swarm_of, three_nodes
from tests.support.changed import live, with_config_labels, with_member, with_service, with_swarm

LEADER, REPLICA, OTHER = "main_member-1", "main_member-2", "main_member-3"
WISH = WantedRestore(datetime(2026, 1, 1, tzinfo=UTC))
ASKED = with_request({}, RestoreRequest(WISH))
BEGUN = with_request({}, RestoreRequest(WISH, has_begun=True))
RESTORED = with_restored({}, Restored(WISH))
NAME = "restores-are-asked-for"


def refusal(observed: Observed, *actions: AnyAction) -> str:
    found = first_refusal(Plan("main", "d", actions), observed)
    return found.guard if found is not None else ""


def noted(observed: Observed, labels: dict[str, str]) -> Observed:
    """The observation whose state config has these labels beside its own."""
    (config,) = (c for c in swarm_of(observed).configs if c.value.name == "main_cluster")
    return with_config_labels(observed, "main_cluster", {**config.value.labels, **labels})


def stop(name: str) -> AdjustService:
    found = live(three_nodes(), name)
    wanted = dataclasses.replace(found.value, replicas=0)
    return AdjustService(found.id, found.version, wanted, reason="a test")


def relabelled(observed: Observed, labels: dict[str, str]) -> LabelConfig:
    (found,) = (c for c in swarm_of(observed).configs if c.value.name == "main_cluster")
    wanted = dataclasses.replace(found.value, labels=labels)
    return LabelConfig(found.id, found.version, wanted, reason="a test")


def without_members(observed: Observed) -> Observed:
    kept = (s for s in swarm_of(observed).services if s.value.labels.get(ROLE_LABEL) != "member")
    return dataclasses.replace(with_swarm(observed, services=tuple(kept)), members={})


@pytest.mark.parametrize("labels", [{}, ASKED])
def test_no_member_is_stopped_for_a_request_that_has_not_begun(labels: dict[str, str]) -> None:
    assert refusal(noted(three_nodes(), labels), stop(REPLICA)) == NAME
    assert refusal(noted(three_nodes(), labels), stop(LEADER)) == "leader-is-safe"


def test_every_member_is_stopped_for_one_that_has_begun() -> None:
    observed = noted(three_nodes(unknown=("member-3",)), BEGUN)
    for name in (LEADER, REPLICA, OTHER):
        assert refusal(observed, stop(name)) == ""


def test_a_members_service_goes_only_when_no_task_can_be_running() -> None:
    found = live(three_nodes(), REPLICA)
    remove = RemoveService(found.id, REPLICA, reason="a test")
    begun = noted(three_nodes(), BEGUN)
    assert refusal(begun, remove) == "removal-is-asked-for"
    stopped = with_service(begun, REPLICA, replicas=0)
    assert refusal(stopped, remove) == "removal-is-asked-for"
    tasks = tuple(t for t in swarm_of(stopped).tasks if t.service_id != found.id)
    assert refusal(with_swarm(stopped, tasks=tasks), remove) == ""
    unasked = with_service(with_swarm(three_nodes(), tasks=tasks), REPLICA, replicas=0)
    assert refusal(unasked, remove) == "removal-is-asked-for"


def test_the_notes_of_the_data_stay_while_a_member_is_there_or_nobody_asked() -> None:
    begun = noted(three_nodes(), BEGUN)
    assert BOOTSTRAPPED_LABEL in noted_labels(begun)
    for observed in (begun, without_members(three_nodes())):
        kept = {k: v for k, v in noted_labels(observed).items() if k != BOOTSTRAPPED_LABEL}
        assert refusal(observed, relabelled(observed, kept)) == NAME
    alone = without_members(begun)
    anew = {k: v for k, v in noted_labels(alone).items() if k != BOOTSTRAPPED_LABEL}
    assert refusal(alone, relabelled(alone, {**anew, **RESTORED})) == ""


def noted_labels(observed: Observed) -> dict[str, str]:
    (found,) = (c for c in swarm_of(observed).configs if c.value.name == "main_cluster")
    return dict(found.value.labels)


def test_nothing_starts_before_all_former_members_are_gone() -> None:
    create = CreateService(live(three_nodes(), REPLICA).value, reason="a test")
    assert refusal(without_members(noted(three_nodes(), BEGUN)), create) == NAME


def test_no_empty_database_begins_in_place_of_one_that_is_restored() -> None:
    first = desired().members[0].service
    bare = without_members(three_nodes())
    labels = {k: v for k, v in noted_labels(bare).items() if k != BOOTSTRAPPED_LABEL}
    observed = with_config_labels(bare, "main_cluster", {**labels, **RESTORED})
    template = desired().template
    observed = with_swarm(
        observed,
        configs=(
            *swarm_of(observed).configs,
            dataclasses.replace(swarm_of(observed).configs[0], value=template, id="template"),
        ),
    )
    assert refusal(observed, CreateService(first, reason="a test")) == NAME
    own = dataclasses.replace(first, environment={**first.environment, "RESTORE_IN_PLACE": "yes"})
    assert refusal(observed, CreateService(own, reason="a test")) == ""


FAILED = MemberStatus(
    state="running custom bootstrap script",
    role="uninitialized",
    tags={"queenright_restore": "the target is not covered"},
)


def test_a_restore_that_has_failed_may_begin_again_in_a_cluster_that_was_never_whole() -> None:
    found = live(three_nodes(), LEADER)
    wanted = dataclasses.replace(found.value, hostname="x")
    update = UpdateService(found.id, found.version, wanted, 0, reason="a test")
    waiting = MemberStatus(state="creating replica", role="uninitialized")
    whole = three_nodes()
    for name in (REPLICA, OTHER):
        whole = with_member(whole, name.removeprefix("main_"), waiting)
    whole = with_member(whole, "member-1", FAILED)
    assert refusal(whole, update) == "leader-is-safe"
    kept = {k: v for k, v in noted_labels(whole).items() if k != BOOTSTRAPPED_LABEL}
    never = with_config_labels(whole, "main_cluster", kept)
    assert refusal(never, update) == ""
    begins = with_member(never, "member-1", dataclasses.replace(FAILED, tags={}))
    assert refusal(begins, update) == "leader-is-safe"
