"""An application whose document is gone: held, or removed in order; its data and secrets stay."""

from __future__ import annotations

import dataclasses

from queenright.core.actions import LabelConfig
from queenright.core.app.planner import make_app_retirement_plan
from queenright.core.app.retirement import owned_apps
from queenright.core.guards import first_refusal
from queenright.core.observed import Observed
from queenright.core.plan import Plan
from queenright.core.resources import DELETION_POLICY_LABEL, NODE_LABELS_LABEL, RETIRING_LABEL
from queenright.core.retirement import ABSENCE, owned_clusters
from tests.app_builders import WEB, app_manifest, app_plan, desired_app, documents, served
from tests.builders import (
    NOW,
    summary,
    swarm_of,
    with_config_labels,
    with_node,
    with_swarm,
    without,
)

ANCHOR = "notes_application"


def retire(observed: Observed) -> Plan:
    return make_app_retirement_plan("notes", observed, NOW).plan


def to_be_removed(since: str = (NOW - ABSENCE).isoformat()) -> Observed:
    labels = {
        **desired_app().anchor.labels,
        DELETION_POLICY_LABEL: "remove",
        RETIRING_LABEL: since,
    }
    return with_config_labels(served(), ANCHOR, labels)


def test_neither_kind_takes_the_others_objects_for_its_own() -> None:
    swarm = swarm_of(served())
    assert owned_apps(swarm) == {"notes"}
    assert owned_clusters(swarm) == {"main"}


def test_it_is_kept_unless_its_owner_had_said_otherwise() -> None:
    plan = retire(served())
    assert summary(plan) == ([], ["retire/notes"])
    assert plan.holds[0].wants_attention


def test_its_services_go_first_and_what_stays_is_named() -> None:
    plan = retire(to_be_removed())
    assert summary(plan) == ([f"remove-service/{WEB}"], [])
    reason = plan.actions[0].reason
    url = desired_app().url_secret.name
    assert f"these stay: secret app_encryption_key, secret {url}, and its database" in reason
    assert first_refusal(plan, to_be_removed()) is None


def test_then_the_network_and_the_anchor_last() -> None:
    observed = without(to_be_removed(), WEB)
    actions, _ = summary(retire(observed))
    assert actions == ["remove-network/notes_app", f"remove-config/{ANCHOR}"]


def test_the_wait_is_noted_first_and_over_when_the_document_is_back() -> None:
    assert summary(retire(to_be_removed("")))[0] == [f"label-config/{ANCHOR}"]
    assert summary(retire(to_be_removed(NOW.isoformat())))[1] == ["retire/notes"]
    assert f"label-config/{ANCHOR}" in summary(app_plan(to_be_removed()))[0]


def test_a_removal_while_the_document_is_there_is_refused() -> None:
    plan = dataclasses.replace(retire(to_be_removed()), desired_digest="there")
    refusal = first_refusal(plan, to_be_removed())
    assert refusal is not None
    assert refusal.guard == "removal-is-asked-for"


def test_the_clusters_network_stays() -> None:
    observed = without(to_be_removed(), WEB)
    names = {live.value.name for live in swarm_of(observed).networks}
    assert names == {"main_patroni", "notes_app"}
    gone = with_swarm(observed, networks=())
    assert "remove-network/notes_app" not in summary(retire(gone))[0]


def test_a_node_label_that_another_application_wants_stays() -> None:
    """One that was given another name, say, with its edge placed by the same key."""
    labels = {
        **desired_app().anchor.labels,
        DELETION_POLICY_LABEL: "remove",
        RETIRING_LABEL: (NOW - ABSENCE).isoformat(),
        NODE_LABELS_LABEL: "edge,web",
    }
    observed = with_config_labels(without(served(), WEB), ANCHOR, labels)
    observed = with_node(observed, "node2", labels={"edge": "true", "web": "true"})
    edge = "{image: edge:1, nodes: [node2], label: edge}"
    other = app_manifest(edge=edge, placement="{nodes: [node2], label: web}")
    named = documents(other.replace("name: notes", "name: other"))
    assert "label-node/node2" in summary(retire(observed))[0]
    plan = make_app_retirement_plan("notes", observed, NOW, named).plan
    assert "label-node/node2" not in summary(plan)[0]


def test_a_node_label_that_a_cluster_wants_stays() -> None:
    """Without it the member that it places would end."""
    labels = {
        **desired_app().anchor.labels,
        DELETION_POLICY_LABEL: "remove",
        RETIRING_LABEL: (NOW - ABSENCE).isoformat(),
        NODE_LABELS_LABEL: "pg-node",
    }
    observed = with_config_labels(without(served(), WEB), ANCHOR, labels)
    assert "label-node/node2" in summary(retire(observed))[0]
    plan = make_app_retirement_plan("notes", observed, NOW, documents()).plan
    assert not [key for key in summary(plan)[0] if key.startswith("label-node/")]


def with_a_former_label(key: str) -> Observed:
    """The application once placed its tasks by this key, as its anchor notes."""
    labels = {**desired_app().anchor.labels, NODE_LABELS_LABEL: key}
    return with_config_labels(served(), ANCHOR, labels)


def test_a_former_label_is_left_to_the_document_that_uses_it_now() -> None:
    """Taken away, it would stop a member of the cluster. The anchor forgets it."""
    plan = app_plan(with_a_former_label("pg-node"))
    assert summary(plan)[0] == [f"label-config/{ANCHOR}"]
    (noted,) = plan.actions
    assert isinstance(noted, LabelConfig)
    assert NODE_LABELS_LABEL not in noted.config.labels


def test_a_former_label_that_nobody_else_uses_goes() -> None:
    observed = with_node(with_a_former_label("web"), "node3", labels={"web": "true"})
    assert "label-node/node3" in summary(app_plan(observed))[0]
