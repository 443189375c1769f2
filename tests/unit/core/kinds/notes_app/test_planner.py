"""Whole plans of an application: from nothing to served, and what is done when it differs."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest

from queenright.core.actions import CreateService, CreateUrlSecret, UpdateService
from queenright.core.kinds.notes_app.desired.app import DesiredApp
from queenright.core.kinds.postgres_cluster.places import decode_places, encode_places
from queenright.core.kinds.postgres_cluster.topology.replaced import (
    REPLACED_LABEL,
    Replaced,
    encode_replaced,
)
from queenright.core.observed import Known, Observed, Unknown
from queenright.core.postgres.catalog import Catalog
from queenright.core.swarm.objects import MEMBERS_LABEL
from tests.golden.messages import assert_words
from tests.support.app_builders import (
    APP,
    APP_DIGESTS,
    APP_IMAGE,
    KEY,
    NEXT_IMAGE,
    PASSWORD,
    WEB,
    app_manifest,
    app_plan,
    bare,
    cluster_plan,
    desired_app,
    documents,
    pinned_app,
    served,
    undeployed,
)
from tests.support.app_upgrades import hold
from tests.support.builders import MANIFEST, NOW, manifest, status, summary, swarm_of
from tests.support.changed import (
    with_config_labels,
    with_live_service,
    with_member,
    with_node,
    with_service,
    without,
)
from tests.support.plans import make_plan
from tests.support.topology_worlds import text_of, with_nodes

NAGS = "key/notes"
"""The reminder that the key has to be kept elsewhere, which is there until the file says so."""


def test_on_a_bare_swarm_what_needs_no_database_is_made_at_once() -> None:
    actions, holds = summary(app_plan(bare()))
    assert actions == ["create-network/notes_app", f"create-secret/{KEY}"]
    assert holds == [f"create-service/{WEB}", f"secret/{PASSWORD}"]


def test_the_cluster_is_asked_for_an_owner_a_login_and_a_database() -> None:
    observed = dataclasses.replace(undeployed(), catalogs={"main": Known(Catalog())})
    login = desired_app().catalog.roles[1]
    actions, _ = summary(cluster_plan(observed))
    assert actions[-2:] == ["create-role/main/notes", f"create-role/main/{login.name}"]
    assert (login.login, login.member_of, login.password_secret) == (True, ("notes",), PASSWORD)
    (database,) = desired_app().catalog.databases
    assert (database.name, database.owner, database.connect) == ("notes", "notes", (login.name,))


def test_with_the_password_there_the_connection_string_is_made() -> None:
    plan = app_plan(undeployed())
    wanted = desired_app()
    assert summary(plan)[0] == [
        "create-network/notes_app",
        f"create-secret/{KEY}",
        f"create-secret/{wanted.url_secret.name}",
    ]
    (made,) = (action for action in plan.actions if isinstance(action, CreateUrlSecret))
    assert made.password_secret == PASSWORD
    assert made.url.hosts == ("10.77.0.12", "10.77.0.13", "10.77.0.14")
    assert made.url.text in made.reason
    assert_words(*plan.holds, *plan.actions)


def test_the_anchor_comes_before_the_replicas_and_they_last() -> None:
    observed = without(served(), WEB, "notes_application")
    plan = app_plan(observed)
    held = ["create-config/notes_application", f"create-service/{WEB}"]
    assert summary(plan) == (held, [NAGS])
    created = plan.actions[-1]
    assert isinstance(created, CreateService)
    assert created.service.image == f"{APP_IMAGE}@{APP_DIGESTS[APP_IMAGE]}"


def test_a_converged_application_has_nothing_to_do_but_a_reminder() -> None:
    plan = app_plan(served())
    assert summary(plan) == ([], [NAGS])
    assert plan.is_converged
    text = app_manifest(encryptionKey="{backedUp: true}")
    assert summary(app_plan(served(text), text)) == ([], [])


LEADERLESS = Unknown("timed out")


def leaderless(observed: Observed) -> Observed:
    return with_member(observed, "member-1", status("member-1", "nobody"))


@pytest.mark.parametrize(
    "observed",
    [
        pytest.param(leaderless(without(served(), WEB)), id="no leader"),
        pytest.param(
            dataclasses.replace(without(served(), WEB), catalogs={"main": Unknown("timed out")}),
            id="unknown catalog",
        ),
        pytest.param(
            dataclasses.replace(without(served(), WEB), catalogs={"main": Known(Catalog())}),
            id="no database",
        ),
        pytest.param(without(served(), WEB, "main_patroni", "notes_app"), id="no network"),
    ],
)
def test_no_replica_is_made_before_its_database_is_there(observed: Observed) -> None:
    assert f"create-service/{WEB}" not in summary(app_plan(observed))[0]


def test_an_edit_updates_the_replicas_in_one_write() -> None:
    text = app_manifest(maxAttachment="512M")
    plan = app_plan(served(), text)
    assert summary(plan) == ([f"update-service/{WEB} !{WEB}"], [NAGS])
    (update,) = plan.actions
    assert [change.path for change in update.changes] == ["environment[MAX_ATTACHMENT_MB]"]


def test_more_replicas_disrupt_nobody() -> None:
    text = app_manifest(replicas=3)
    assert summary(app_plan(served(), text)) == ([f"adjust-service/{WEB}"], [NAGS])


@pytest.mark.parametrize(
    "observed",
    [
        pytest.param(leaderless(served()), id="no leader"),
        pytest.param(
            with_live_service(served(), "main_member-2", updated_at=NOW - timedelta(seconds=1)),
            id="a member was changed a moment ago",
        ),
        pytest.param(
            with_live_service(served(), "main_member-2", update_state="updating", updated_at=NOW),
            id="a member is being updated",
        ),
    ],
)
def test_replicas_are_not_replaced_while_their_database_is_not_settled(observed: Observed) -> None:
    plan = app_plan(observed, app_manifest(maxAttachment="512M"))
    assert not [action for action in plan.actions if action.disrupts]
    assert f"update-service/{WEB}" in summary(plan)[1]


def test_a_replica_of_the_database_that_is_down_is_no_obstacle() -> None:
    observed = with_member(served(), "member-3", Unknown("timed out"))
    plan = app_plan(observed, app_manifest(maxAttachment="512M"))
    assert summary(plan)[0] == [f"update-service/{WEB} !{WEB}"]


@pytest.mark.parametrize("gone", ["no address", "no node"])
def test_a_proxys_node_that_is_not_seen_disrupts_nobody(gone: str) -> None:
    """Another list of hosts would be another string, and every replica would be started anew."""
    observed = with_node(served(), "node3", address="")
    if gone == "no node":
        assert isinstance(observed.swarm, Known)
        swarm = observed.swarm.value
        kept = tuple(node for node in swarm.nodes if node.name != "node3")
        observed = dataclasses.replace(
            observed, swarm=Known(dataclasses.replace(swarm, nodes=kept))
        )
    plan = app_plan(observed)
    assert plan.actions == ()
    (held,) = (found for found in plan.holds if found.key.startswith("create-secret/"))
    assert_words(held)
    assert held.wants_attention


def hosts_now(observed: Observed, cluster: str) -> tuple[str, ...]:
    """The hosts of the connection string that is wanted while the cluster's file is this one."""
    found = documents(APP, cluster)
    wanted = make_plan(found[-1], observed, NOW, found).desired
    assert isinstance(wanted, DesiredApp)
    assert wanted.url is not None
    return wanted.url.hosts


def address(number: int) -> str:
    return f"10.77.0.{10 + number}"


def test_while_a_member_is_to_move_both_of_its_nodes_are_named() -> None:
    """The proxies follow the members step by step: the new node has none yet."""
    observed = with_nodes(served())
    moved = MANIFEST.replace("member-3, node: node4", "member-3, node: node6")
    assert hosts_now(observed, moved) == tuple(map(address, (2, 3, 4, 6)))


def test_of_a_file_that_moves_all_members_the_deployed_proxies_come_first() -> None:
    observed, text = with_nodes(served()), MANIFEST
    for number, node in ((1, 5), (2, 6), (3, 7)):
        text = text.replace(
            f"member-{number}, node: node{number + 1}", f"member-{number}, node: node{node}"
        )
    assert hosts_now(observed, text) == tuple(map(address, (2, 3, 4, 5, 6, 7)))


def test_a_member_that_goes_keeps_its_proxy_until_it_is_gone() -> None:
    observed, alone = with_nodes(served()), text_of(1, spec="  acknowledge: [noFailover]\n")
    assert hosts_now(observed, alone) == tuple(map(address, (2, 3, 4)))


def test_a_node_that_is_still_to_join_is_named_when_it_has() -> None:
    wider = text_of(1, 2, 3, 4, 5)
    assert hosts_now(served(), wider) == tuple(map(address, (2, 3, 4)))
    assert hosts_now(with_nodes(served()), wider) == tuple(map(address, (2, 3, 4, 5, 6)))


def test_a_member_that_was_replaced_is_named_at_its_new_node() -> None:
    """The file still names the dead one."""
    text = manifest(replaceAfter="30m", spareNodes="[node6]")
    observed = with_nodes(served())
    config = swarm_of(observed).config("main_cluster")
    assert config is not None
    places = decode_places(config.value.labels[MEMBERS_LABEL])
    there = tuple(
        dataclasses.replace(one, node="node6", address=address(6))
        if one.name == "member-3"
        else one
        for one in places
    )
    labels = {
        **config.value.labels,
        MEMBERS_LABEL: encode_places(there),
        REPLACED_LABEL: encode_replaced((Replaced("member-3", "node4", "node6"),)),
    }
    found = hosts_now(with_config_labels(observed, "main_cluster", labels), text)
    assert found == tuple(map(address, (2, 3, 6)))


def test_a_hand_change_is_taken_back() -> None:
    plan = app_plan(with_service(served(), WEB, read_only=False))
    (update,) = plan.actions
    assert isinstance(update, UpdateService)
    assert update.service == pinned_app(desired_app().web)


def test_another_password_secret_is_another_string() -> None:
    """Swarm can't change a secret: one that was made anew has another id, and so has the string."""
    first, second = desired_app(), desired_app(password_id="another")
    assert first.url_secret.name != second.url_secret.name
    assert first.url == second.url


def test_a_key_that_is_gone_is_never_made_anew() -> None:
    plan = app_plan(without(served(), KEY))
    assert f"create-secret/{KEY}" not in summary(plan)[0]
    assert hold(plan, f"create-secret/{KEY}").wants_attention
    assert_words(*plan.holds, *plan.actions)


def test_an_application_whose_cluster_no_file_describes_waits() -> None:
    plan = app_plan(without(served(), WEB), cluster=None)
    assert not [action for action in plan.actions if isinstance(action, CreateService)]
    assert f"create-service/{WEB}" in summary(plan)[1]


def test_paused_reconciliation_only_tells() -> None:
    text = app_manifest(reconcile="paused", maxAttachment="512M")
    plan = app_plan(served(), text)
    assert plan.actions == ()
    assert_words(hold(plan, f"update-service/{WEB}"))


def test_one_that_lost_sight_of_the_swarm_does_nothing() -> None:
    plan = app_plan(Observed(Unknown("no answer in 10 s")))
    assert summary(plan) == ([], ["preflight/swarm"])


def test_the_image_is_looked_up_before_anything_is_updated() -> None:
    text = app_manifest(upgrade="{dump: none}").replace(APP_IMAGE, NEXT_IMAGE)
    observed = dataclasses.replace(served(), images={})
    assert summary(app_plan(observed, text)) == ([], [f"image/{WEB}", NAGS])
    assert summary(app_plan(served(), text)) == ([f"update-service/{WEB} !{WEB}"], [NAGS])


def test_the_database_is_dumped_before_another_image_runs() -> None:
    text = app_manifest().replace(APP_IMAGE, NEXT_IMAGE)
    actions, holds = summary(app_plan(served(), text))
    assert len(actions) == 1
    assert actions[0].startswith("create-service/notes_dump")
    assert f"update-service/{WEB}" in holds


def test_the_plan_does_not_depend_on_the_order_of_the_lists() -> None:
    observed = served()
    assert isinstance(observed.swarm, Known)
    swarm = observed.swarm.value
    turned = dataclasses.replace(
        swarm, services=swarm.services[::-1], tasks=swarm.tasks[::-1], nodes=swarm.nodes[::-1]
    )
    text = app_manifest(maxAttachment="512M")
    other = dataclasses.replace(observed, swarm=Known(turned))
    assert app_plan(observed, text) == app_plan(other, text)


def pending(present: str) -> Observed:
    """The file's max_connections waits for a restart of the leader."""
    waits = status(
        "member-1",
        "member-1",
        pending_restart=True,
        pending_changes={"max_connections": (present, "200")},
    )
    return with_member(without(served(), WEB), "member-1", waits)


def test_a_server_that_does_not_take_all_connections_yet_is_waited_for() -> None:
    """Three times 12 for two replicas and a surge, 1 for a dump, 3 that are reserved."""
    held = hold(app_plan(pending("39")), f"create-service/{WEB}")
    assert_words(held)
    assert f"create-service/{WEB}" in summary(app_plan(pending("40")))[0]


@pytest.mark.parametrize("spelling", ["'0x4'", "'4.0'", "4.0", "' 4 '"])
def test_reserved_connections_count_however_they_are_spelled(spelling: str) -> None:
    cluster = MANIFEST + (
        f"  postgresql: {{parameters: {{superuser_reserved_connections: {spelling}}}}}\n"
    )
    held = hold(app_plan(pending("40"), cluster=cluster), f"create-service/{WEB}")
    assert_words(held)
    assert f"create-service/{WEB}" in summary(app_plan(pending("41"), cluster=cluster))[0]


def test_no_replica_is_added_that_the_server_does_not_take_yet() -> None:
    """Four times 12 for three replicas and a surge, 1 for a dump, 3 that are reserved."""
    text = app_manifest(replicas=3)
    few, enough = (
        with_member(served(), "member-1", pending(present).members["main_member-1"].value)  # type: ignore[union-attr]
        for present in ("51", "52")
    )
    plan = app_plan(few, text)
    assert plan.actions == ()
    assert_words(hold(plan, "replicas/notes"))
    assert summary(app_plan(enough, text))[0] == [f"adjust-service/{WEB}"]


@pytest.mark.parametrize("labels", [{}, {"com.docker.stack.namespace": "notes"}])
def test_a_service_that_somebody_else_deployed_is_not_taken_over(labels: dict[str, str]) -> None:
    """A stack called notes with a service called web has the very name."""
    foreign = with_service(without(served(), "notes_application"), WEB, labels=labels)
    plan = app_plan(foreign, app_manifest(maxAttachment="512M"))
    assert summary(plan) == ([], [f"preflight/service/{WEB}"])
    assert_words(plan.holds[0])
    ours = with_service(served(), WEB, labels=labels)
    assert summary(app_plan(ours))[0] == [f"adjust-service/{WEB}"]
