"""Members are renamed by their lines, and keep their volumes: row E."""

from __future__ import annotations

import dataclasses

import pytest

from queenright.core.actions import CreateService, NoteMembers, RaftRemove, RemoveService
from queenright.core.kinds.postgres_cluster.places import (
    DeployedMember,
    decode_places,
    encode_places,
)
from queenright.core.observed import Observed
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import MEMBERS_LABEL
from tests.support.builders import plan_for, swarm_of
from tests.support.changed import with_config_labels
from tests.support.moving_worlds import (
    RENAMED,
    dead,
    places_noted,
    reason,
    steps_until,
)
from tests.support.topology_worlds import (
    after,
    deployed,
    raft_nodes,
    refusal,
    with_raft_nodes,
)


def test_a_dead_member_is_not_renamed() -> None:
    plan = plan_for(dead(), RENAMED)
    assert not any(isinstance(action, RaftRemove | NoteMembers) for action in plan.actions)
    assert "is renamed when it does" in reason(plan, "membership/main_member-3")


def test_a_vote_that_comes_back_when_the_service_is_gone_goes_again() -> None:
    observed = deployed(1, 2, 3)
    for kind in (RaftRemove, RemoveService):
        observed, plan = steps_until(observed, RENAMED, kind)
        observed = after(observed, plan.actions[-1])
    listed = with_raft_nodes(observed, raft_nodes([1, 2, 3], down=[3]))
    plan = plan_for(listed, RENAMED)
    assert [action.key for action in plan.actions] == ["raft-remove/main/10.77.0.14:5010"]
    assert refusal(plan, listed) is None


def test_a_renamed_member_keeps_its_volumes() -> None:
    observed = deployed(1, 2, 3)
    for kind in (RaftRemove, RemoveService):
        observed, plan = steps_until(observed, RENAMED, kind)
        observed = after(observed, plan.actions[-1])
    observed, plan = steps_until(observed, RENAMED, NoteMembers)
    named = DeployedMember("db-3", "node4", "10.77.0.14", volumes="main_member-3")
    assert places_noted(plan)[2] == named
    assert refusal(plan, observed) is None


@pytest.mark.parametrize(
    "bent",
    [
        DeployedMember("db-3", "node6", "10.77.0.14", volumes="main_member-3"),
        DeployedMember("db-3", "node4", "10.77.0.98", volumes="main_member-3"),
        DeployedMember("db-3", "node4", "10.77.0.14"),
    ],
    ids=["node", "address", "volumes"],
)
def test_a_place_is_renamed_only_as_it_is(bent: DeployedMember) -> None:
    observed = deployed(1, 2, 3)
    for kind in (RaftRemove, RemoveService):
        observed, plan = steps_until(observed, RENAMED, kind)
        observed = after(observed, plan.actions[-1])
    observed, plan = steps_until(observed, RENAMED, NoteMembers)
    (action,) = (a for a in plan.actions if isinstance(a, NoteMembers))
    first, second, _ = decode_places(action.config.labels[MEMBERS_LABEL])
    labels = {**action.config.labels, MEMBERS_LABEL: encode_places((first, second, bent))}
    bad = dataclasses.replace(action, config=dataclasses.replace(action.config, labels=labels))
    found = refusal(Plan("main", "digest", (bad,)), observed)
    assert found is not None
    assert found.guard == "places-cover-what-runs"


def test_a_renamed_place_has_its_former_volumes_mounted() -> None:
    place = encode_places(
        (
            DeployedMember("member-1", "node2", "10.77.0.12"),
            DeployedMember("member-2", "node3", "10.77.0.13"),
            DeployedMember("db-3", "node4", "10.77.0.14", volumes="main_member-3"),
        )
    )
    observed = deployed(1, 2, 3)
    labels = {**dict(_labels(observed)), MEMBERS_LABEL: place}
    observed = with_config_labels(observed, "main_cluster", labels)
    (found,) = (s for s in swarm_of(observed).services if s.value.name == "main_member-3")
    observed = after(observed, RemoveService(found.id, found.value.name, reason=""))
    observed = with_raft_nodes(observed, raft_nodes([1, 2]))
    observed, plan = steps_until(observed, RENAMED, CreateService)
    (made,) = (a.service for a in plan.actions if isinstance(a, CreateService))
    assert made.name == "main_db-3"
    volumes = {mount.source for mount in made.mounts if mount.kind == "volume"}
    assert volumes == {"main_member-3-data", "main_member-3-raft"}


def _labels(observed: Observed) -> list[tuple[str, str]]:
    (found,) = (c for c in swarm_of(observed).configs if c.value.name == "main_cluster")
    return [*found.value.labels.items()]
