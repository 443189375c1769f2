"""An application whose document is gone: held, or removed in order; its data and secrets stay."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest

from queenright.core.actions import LabelConfig
from queenright.core.kinds.claims import claimed_labels
from queenright.core.kinds.notes_app.deletion import owned_apps
from queenright.core.kinds.postgres_cluster.deletion import owned_clusters
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.observed import Observed
from queenright.core.planning.deletion import ABSENCE
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import DELETION_POLICY_LABEL, NODE_LABELS_LABEL, RETIRING_LABEL
from tests.golden.messages import assert_words
from tests.support.app_builders import WEB, app_manifest, app_plan, desired_app, documents, served
from tests.support.builders import NOW, summary, swarm_of
from tests.support.changed import with_config_labels, with_node, with_swarm, without
from tests.support.plans import plan_app_deletion

ANCHOR = "notes_application"


def retire(observed: Observed) -> Plan:
    return plan_app_deletion("notes", observed, NOW)


def to_be_removed(since: str = (NOW - ABSENCE).isoformat()) -> Observed:
    labels = {
        **desired_app().state_config.labels,
        DELETION_POLICY_LABEL: "remove",
        RETIRING_LABEL: since,
    }
    return absent(with_config_labels(served(), ANCHOR, labels))


def absent(observed: Observed, seconds: float = 60) -> Observed:
    """Return the observation of an operator that has looked for the document for so long."""
    return dataclasses.replace(observed, absent_s={"notes": seconds})


def test_neither_kind_takes_the_others_objects_for_its_own() -> None:
    swarm = swarm_of(served())
    assert owned_apps(swarm) == {"notes"}
    assert owned_clusters(swarm) == {"main"}


def test_it_is_kept_unless_its_owner_had_said_otherwise() -> None:
    plan = retire(served())
    assert summary(plan) == ([], ["retire/notes"])
    assert plan.holds[0].wants_attention
    assert_words(*plan.holds, *plan.actions)


def test_its_services_go_first_and_what_stays_is_named() -> None:
    plan = retire(to_be_removed())
    assert summary(plan) == ([f"remove-service/{WEB}"], [])
    reason = plan.actions[0].reason
    url = desired_app().url_secret.name
    assert f"these stay: secret app_encryption_key, secret {url}, and its database" in reason
    assert first_refusal(plan, to_be_removed()) is None
    assert_words(*plan.holds, *plan.actions)


def test_then_the_network_and_the_anchor_last() -> None:
    observed = without(to_be_removed(), WEB)
    actions, _ = summary(retire(observed))
    assert actions == ["remove-network/notes_app", f"remove-config/{ANCHOR}"]


def test_the_wait_is_noted_first_and_over_when_the_document_is_back() -> None:
    assert summary(retire(to_be_removed("")))[0] == [f"label-config/{ANCHOR}"]
    assert summary(retire(absent(to_be_removed(NOW.isoformat()), 1)))[1] == ["retire/notes"]
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


def about_to_give_up(keys: str) -> Observed:
    """An application that is to go, its replicas gone, with the keys of its node labels noted."""
    labels = {
        **desired_app().state_config.labels,
        DELETION_POLICY_LABEL: "remove",
        RETIRING_LABEL: (NOW - ABSENCE).isoformat(),
        NODE_LABELS_LABEL: keys,
    }
    return absent(with_config_labels(without(served(), WEB), ANCHOR, labels))


def test_a_node_label_that_another_application_wants_stays() -> None:
    """One that was given another name, say, with its edge placed by the same key."""
    observed = about_to_give_up("edge,web")
    observed = with_node(observed, "node2", labels={"edge": "true", "web": "true"})
    edge = "{image: edge:1, nodes: [node2], label: edge}"
    other = app_manifest(edge=edge, placement="{nodes: [node2], label: web}")
    named = documents(other.replace("name: notes", "name: other"))
    assert "label-node/node2" in summary(retire(observed))[0]
    plan = plan_app_deletion("notes", observed, NOW, claimed_labels(named))
    assert "label-node/node2" not in summary(plan)[0]


def test_a_node_label_that_a_cluster_wants_stays() -> None:
    """Without it the member that it places would end."""
    observed = about_to_give_up("pg-node")
    assert "label-node/node2" in summary(retire(observed))[0]
    plan = plan_app_deletion("notes", observed, NOW, claimed_labels(documents()))
    assert not [key for key in summary(plan)[0] if key.startswith("label-node/")]


def with_a_former_label(key: str) -> Observed:
    """The application once placed its tasks by this key, as its state config records."""
    labels = {**desired_app().state_config.labels, NODE_LABELS_LABEL: key}
    return with_config_labels(served(), ANCHOR, labels)


def test_a_former_label_is_left_to_the_document_that_uses_it_now() -> None:
    """Its removal would stop a member of the cluster. The state config drops it."""
    plan = app_plan(with_a_former_label("pg-node"))
    assert summary(plan)[0] == [f"label-config/{ANCHOR}"]
    (noted,) = plan.actions
    assert isinstance(noted, LabelConfig)
    assert NODE_LABELS_LABEL not in noted.config.labels


def test_a_former_label_that_nobody_else_uses_goes() -> None:
    observed = with_node(with_a_former_label("web"), "node3", labels={"web": "true"})
    assert "label-node/node3" in summary(app_plan(observed))[0]


@pytest.mark.parametrize("ago", [timedelta(days=3), timedelta(hours=-6)])
def test_a_note_of_another_time_is_written_anew_and_proves_no_absence(ago: timedelta) -> None:
    """The document was back in between, paused, so that nothing was written here."""
    stale = absent(to_be_removed((NOW - ago).isoformat()), 1)
    plan = retire(stale)
    assert summary(plan) == ([f"label-config/{ANCHOR}"], [])
    (action,) = plan.actions
    assert isinstance(action, LabelConfig)
    assert action.config.labels[RETIRING_LABEL] == NOW.isoformat()
    noted = absent(with_config_labels(served(), ANCHOR, action.config.labels), 1)
    assert summary(retire(noted)) == ([], ["retire/notes"])


def test_a_removal_without_a_minutes_absence_is_refused() -> None:
    plan = retire(to_be_removed())
    for seconds in (0, 59):
        refusal = first_refusal(plan, absent(to_be_removed(), seconds))
        assert refusal is not None
        assert refusal.guard == "absence-is-certain"
