"""Whole plans of an application: from nothing to served, and what is done when it differs."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest

from queenright.core.actions import CreateService, CreateUrlSecret, UpdateService
from queenright.core.observed import Known, Observed, Unknown
from queenright.core.observed.readiness import Readiness
from queenright.core.planning.plan import Hold, Plan
from queenright.core.postgres.catalog import Catalog
from tests.golden.messages import assert_words
from tests.support.app_builders import (
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
    pinned_app,
    replica,
    served,
    undeployed,
    with_readiness,
)
from tests.support.builders import MANIFEST, NOW, status, summary
from tests.support.changed import (
    with_live_service,
    with_member,
    with_node,
    with_service,
    with_tasks,
    without,
)

NAGS = "key/notes"
"""The reminder that the key has to be kept elsewhere, which is there until the file says so."""


def hold(plan: Plan, key: str) -> Hold:
    return next(found for found in plan.holds if found.key == key)


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


def test_a_replica_that_is_not_ready_is_told_with_its_own_reason() -> None:
    said = Readiness(503, "not ready: the database is unreachable")
    plan = app_plan(with_readiness(served(), 2, said))
    held = hold(plan, "readiness/notes/2")
    assert_words(held)
    assert said.reason in held.reason
    assert held.wants_attention
    assert not plan.is_converged


def test_a_replica_that_started_a_moment_ago_is_given_time() -> None:
    observed = with_readiness(served(), 1, Readiness(503))
    fresh = with_tasks(observed, WEB, replica(1, at=NOW - timedelta(seconds=5)), replica(2))
    assert not hold(app_plan(fresh), "readiness/notes/1").wants_attention


def test_unknown_is_not_down() -> None:
    plan = app_plan(with_readiness(served(), 1, Unknown("10.77.0.13:3000: timed out")))
    held = hold(plan, "readiness/notes/1")
    assert_words(held)
    assert not held.wants_attention
    assert not plan.actions


def test_a_replica_that_does_not_run_is_missed() -> None:
    waiting = replica(2, state="pending", error="no suitable node", node_id="")
    plan = app_plan(with_tasks(served(), WEB, replica(1), waiting))
    assert_words(hold(plan, "replicas/notes"))


@pytest.mark.parametrize("state", ["paused", "rollback_paused"])
def test_an_update_that_swarm_stopped_needs_a_person_though_replicas_run(state: str) -> None:
    """Some of them may be of the former version for good."""
    plan = app_plan(with_live_service(served(), WEB, update_state=state))
    assert plan.actions == ()
    found = hold(plan, f"rollout/{WEB}")
    assert found.wants_attention
    assert_words(found)


@pytest.mark.parametrize(("waits_s", "needs_a_person"), [(10, False), (120, True)])
def test_a_replica_that_has_no_place_needs_a_person(waits_s: int, needs_a_person: bool) -> None:
    """Two on a node that has the port once, say: swarm would wait for ever."""
    since = NOW - timedelta(seconds=waits_s)
    error = "no suitable node (host-mode port already in use on 1 node)"
    waiting = replica(2, state="pending", error=error, node_id="", at=since)
    held = hold(app_plan(with_tasks(served(), WEB, replica(1), waiting)), "replicas/notes")
    assert_words(held)
    assert held.wants_attention is needs_a_person


def test_what_runs_on_a_dead_node_does_not_run() -> None:
    plan = app_plan(with_node(served(), "node4", state="down"))
    assert_words(hold(plan, "replicas/notes"))


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
