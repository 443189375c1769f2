"""A member that comes back on its node has the volumes that it had, however these are named."""

from __future__ import annotations

import dataclasses

import pytest

from queenright.core.actions import (
    CreateService,
    LabelConfig,
    NoteMembers,
    RaftRemove,
    RemoveService,
)
from queenright.core.kinds.postgres_cluster.places import (
    DeployedMember,
    decode_places,
    encode_names,
    encode_places,
    with_place,
)
from queenright.core.kinds.postgres_cluster.topology.replaced import (
    REPLACED_LABEL,
    Replaced,
    decode_replaced,
    encode_replaced,
)
from queenright.core.observed import Observed
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import MEMBERS_LABEL, VOTELESS_LABEL
from tests.golden.messages import assert_words
from tests.support.builders import plan_for, swarm_of
from tests.support.changed import with_config_labels, with_node
from tests.support.moving_worlds import READDRESSED, places_noted, steps_until
from tests.support.replacing_worlds import TEXT, dead, labels_of, with_another_cluster
from tests.support.topology_worlds import (
    after,
    deployed,
    raft_nodes,
    refusal,
    with_raft_nodes,
)

VOLUMES = "main_member-3-moved"
HERE = DeployedMember("member-3", "node4", "10.77.0.14", volumes=VOLUMES)
THERE = dataclasses.replace(HERE, address="10.77.0.99")


def with_volumes(observed: Observed) -> Observed:
    """The third member was moved to its node, and its volumes bear its stand-in's name."""
    labels = labels_of(observed)
    places = (*decode_places(labels[MEMBERS_LABEL])[:2], HERE)
    labels = {**labels, MEMBERS_LABEL: encode_places(places)}
    return with_config_labels(observed, "main_cluster", labels)


def renumbered() -> Observed:
    """Its node has another address."""
    return with_node(with_volumes(deployed(1, 2, 3)), "node4", address=THERE.address)


def without_service() -> Observed:
    observed = renumbered()
    for kind in (RaftRemove, RemoveService):
        observed, plan = steps_until(observed, READDRESSED, kind)
        observed = after(observed, plan.actions[-1])
    return observed


def test_another_address_is_noted_in_one_step_when_its_service_is_gone() -> None:
    observed, plan = steps_until(without_service(), READDRESSED, NoteMembers)
    assert places_noted(plan)[2] == THERE
    (action,) = (a for a in plan.actions if isinstance(a, NoteMembers))
    assert_words(action)
    assert action.config.labels[VOTELESS_LABEL] == encode_names(["member-3"])
    observed, plan = steps_until(after(observed, action), READDRESSED, CreateService)
    (created,) = (a.service for a in plan.actions if isinstance(a, CreateService))
    assert created.environment["RAFT_SELF"] == f"{THERE.address}:5010"
    assert {m.source for m in created.mounts if m.kind == "volume"} == {
        f"{VOLUMES}-data",
        f"{VOLUMES}-raft",
    }


def noting(observed: Observed, *places: DeployedMember, voteless: str = "member-3") -> Plan:
    (found,) = (c for c in swarm_of(observed).configs if c.value.name == "main_cluster")
    labels = {**found.value.labels, MEMBERS_LABEL: encode_places(places)}
    labels[VOTELESS_LABEL] = encode_names([voteless] if voteless else [])
    config = dataclasses.replace(found.value, labels=labels)
    return Plan(
        "main", "digest", (NoteMembers(found.id, found.version, config, reason="", changes=()),)
    )


def test_the_guard_lets_the_address_alone_change() -> None:
    observed = without_service()
    first = decode_places(labels_of(observed)[MEMBERS_LABEL])[:2]
    assert refusal(noting(observed, *first, THERE), observed) is None
    for wrong in (
        dataclasses.replace(THERE, volumes=""),
        dataclasses.replace(THERE, node="node5"),
        dataclasses.replace(THERE, number=4),
    ):
        found = refusal(noting(observed, *first, wrong), observed)
        assert found is not None
        assert found.guard == "places-cover-what-runs", wrong
    others = (dataclasses.replace(first[0], address="10.77.0.98"), first[1])
    assert refusal(noting(observed, *others, THERE), observed) is not None


def test_the_guard_keeps_an_address_that_may_be_in_use() -> None:
    first = decode_places(labels_of(renumbered())[MEMBERS_LABEL])[:2]
    gone = without_service()
    for observed, voteless, why in (
        (renumbered(), "member-3", "is deployed"),
        (gone, "", "is not noted as without a vote"),
        (with_raft_nodes(gone, raft_nodes([1, 2, 3], down=[3])), "member-3", "lists 10.77.0.14"),
    ):
        found = refusal(noting(observed, *first, THERE, voteless=voteless), observed)
        assert found is not None
        assert found.guard == "places-cover-what-runs"
        assert why in found.reason


def cut() -> Observed:
    """The third member was on a dead node, and its place is free."""
    observed = with_volumes(dead())
    for kind in (LabelConfig, RaftRemove, RemoveService, NoteMembers):
        observed, plan = steps_until(observed, TEXT, kind)
        observed = after(observed, next(a for a in plan.actions if isinstance(a, kind)))
    return observed


def test_a_replaced_member_that_returns_has_its_volumes() -> None:
    observed = cut()
    note = Replaced("member-3", "node4", "node5", VOLUMES)
    assert decode_replaced(labels_of(observed)[REPLACED_LABEL]) == (note,)
    for node in ("node5", "node6"):
        observed = with_node(observed, node, availability="drain")
    observed = with_node(observed, "node4", state="ready")
    observed, plan = steps_until(observed, TEXT, NoteMembers)
    assert places_noted(plan)[2] == HERE
    (action,) = (a for a in plan.actions if isinstance(a, NoteMembers))
    bare = dataclasses.replace(HERE, volumes="")
    found = refusal(noting(observed, *places_noted(plan)[:2], bare), observed)
    assert found is not None
    assert f"again without its volumes {VOLUMES}" in found.reason
    observed = after(observed, action)
    plan = plan_for(observed, TEXT)
    (note_gone,) = (a for a in plan.actions if isinstance(a, LabelConfig))
    assert REPLACED_LABEL not in note_gone.config.labels
    assert refusal(plan, observed) is None


def test_one_that_returns_where_another_cluster_is_by_now_is_held() -> None:
    """Its note says that it returns all the same."""
    observed = with_another_cluster(cut(), "other", on="node4")
    for node in ("node5", "node6"):
        observed = with_node(observed, node, availability="drain")
    observed = with_node(observed, "node4", state="ready", labels={"pg-other": "1"})
    observed, plan = steps_until(observed, TEXT, LabelConfig)
    observed = after(observed, next(a for a in plan.actions if isinstance(a, LabelConfig)))
    assert refusal(plan_for(observed, TEXT), observed) is None


def test_one_whose_note_says_that_it_returns_goes_elsewhere_when_its_node_dies_again() -> None:
    observed = cut()
    for node in ("node5", "node6"):
        observed = with_node(observed, node, availability="drain")
    back = with_node(observed, "node4", state="ready")
    observed, plan = steps_until(back, TEXT, LabelConfig)
    observed = after(observed, next(a for a in plan.actions if isinstance(a, LabelConfig)))
    home = Replaced("member-3", "node4", "node4", VOLUMES)
    assert decode_replaced(labels_of(observed)[REPLACED_LABEL]) == (home,)
    observed = with_node(observed, "node4", state="down")
    observed = with_node(observed, "node6", availability="active")
    observed, plan = steps_until(observed, TEXT, LabelConfig)
    observed = after(observed, next(a for a in plan.actions if isinstance(a, LabelConfig)))
    note = Replaced("member-3", "node4", "node6", VOLUMES)
    assert decode_replaced(labels_of(observed)[REPLACED_LABEL]) == (note,)


@pytest.mark.parametrize("volumes", ["", "main_member-3", "main_other"])
def test_the_guard_keeps_the_volumes_in_a_note(volumes: str) -> None:
    observed = with_volumes(dead())
    (found,) = (c for c in swarm_of(observed).configs if c.value.name == "main_cluster")
    note = Replaced("member-3", "node4", "node5", volumes)
    labels = {**found.value.labels, REPLACED_LABEL: encode_replaced([note])}
    config = dataclasses.replace(found.value, labels=labels)
    plan = Plan("main", "digest", (LabelConfig(found.id, found.version, config, reason=""),))
    refused = refusal(plan, observed)
    assert refused is not None
    assert f"the volumes of member-3 on node4 are {VOLUMES}" in refused.reason


def test_after_a_restore_in_place_former_volumes_stay_where_they_are() -> None:
    stamp = "-20260101t120000"
    others = [DeployedMember("member-1", "node2", "10.77.0.12", volumes=f"main_member-1{stamp}")]
    for former, volumes in (
        (VOLUMES, f"main_member-3{stamp}"),
        (f"{VOLUMES}{stamp}", f"{VOLUMES}{stamp}"),
        ("", f"main_member-3{stamp}"),
    ):
        places = with_place(others, "member-3", "node4", "10.77.0.14", "main", former=former)
        assert places[1].volumes == volumes


@pytest.mark.parametrize(
    "text",
    [
        '[["member-3", "node4", "node5", ""]]',
        '[["member-3", "node4", "node4"]]',
        '[["member-3", "node4", "node5", "../x"]]',
    ],
)
def test_a_note_with_volumes_that_cannot_be_is_none(text: str) -> None:
    assert decode_replaced(text) == ()


def test_a_note_without_volumes_is_written_as_earlier_releases_did() -> None:
    assert encode_replaced([Replaced("member-3", "node4", "node5")]) == (
        '[["member-3", "node4", "node5"]]'
    )
    other = (Replaced("member-3", "node4", "node5", VOLUMES),)
    assert decode_replaced(encode_replaced(other)) == other
