"""A new password: two are good while replicas are replaced, then the former login is disabled."""

from __future__ import annotations

import dataclasses

import pytest

from queenright.core.kinds.ruleset import first_refusal
from queenright.core.observed import Known, Live, Observed
from queenright.core.planning.plan import Hold, Plan
from queenright.core.postgres.catalog import Role
from tests.golden.messages import assert_words
from tests.support.app_builders import (
    APP,
    WEB,
    app_plan,
    catalog,
    desired_app,
    documents,
    replica,
    served,
    with_secret,
)
from tests.support.builders import MANIFEST, NOW, status, summary, swarm_of
from tests.support.changed import (
    live,
    with_live_service,
    with_member,
    with_node,
    with_service,
    with_swarm,
    with_tasks,
)
from tests.support.plans import make_plan

ROTATED = APP.replace("{cluster: main}", "{cluster: main, passwordSecret: notes_pw_2}")
NAGS = "key/notes"


def hold(plan: Plan, key: str) -> Hold:
    return next(found for found in plan.holds if found.key == key)


def keys(plan: Plan) -> tuple[list[str], list[str]]:
    actions, holds = summary(plan)
    return actions, [key for key in holds if key != NAGS]


def rotated(sessions: int = 0, **fields: object) -> Observed:
    """The application runs with its new password; the former login is there still."""
    base = with_secret(served(ROTATED), "notes_pw_2")
    wanted = app_web_secret(base)
    former = Role(former_login(), has_password=True, member_of=("notes",), sessions=sessions)
    roles = dataclasses.replace(
        catalog(ROTATED),
        roles=(*catalog(ROTATED).roles, dataclasses.replace(former, **fields)),  # type: ignore[arg-type]
    )
    return dataclasses.replace(wanted, catalogs={"main": Known(roles)})


def former_login() -> str:
    return desired_app(APP).catalog.roles[1].name


def app_web_secret(observed: Observed) -> Observed:
    """The secret with the string as the present passwords give its name."""
    text = ROTATED
    plan = app_plan(observed, text)
    for step in plan.actions:
        if hasattr(step, "secret"):
            made = Live("id-url-2", 70, step.secret)
            observed = with_swarm(observed, secrets=(*swarm_of(observed).secrets, made))
    url = next(live for live in swarm_of(observed).secrets if live.id == "id-url-2").value.name
    files = tuple(
        dataclasses.replace(file, name=url) if file.target == "app_database_url" else file
        for file in live(observed, WEB).value.secrets
    )
    return with_service(observed, WEB, secrets=tuple(sorted(files)))


def test_the_former_login_is_retired_when_nobody_uses_it() -> None:
    plan = app_plan(rotated(), ROTATED)
    assert keys(plan) == ([f"alter-role/main/{former_login()}"], [])
    assert plan.actions[0].fields == ("login", "no_password")  # type: ignore[union-attr]
    assert [change.new for change in plan.actions[0].changes] == ["false", "(absent)"]
    assert first_refusal(plan, rotated()) is None
    assert_words(*plan.holds, *plan.actions)


def test_no_login_is_retired_in_a_cluster_whose_owner_has_paused_the_operator() -> None:
    paused = MANIFEST + "  reconcile: paused\n"
    plan = app_plan(rotated(), ROTATED, cluster=paused)
    assert keys(plan) == ([], [f"login/notes/{former_login()}"])
    assert_words(hold(plan, f"login/notes/{former_login()}"))


def test_no_login_is_retired_on_a_member_that_does_not_prove_to_lead() -> None:
    plan = app_plan(rotated(), ROTATED)
    leaderless = with_member(rotated(), "member-1", status("member-1", "nobody"))
    refusal = first_refusal(plan, leaderless)
    assert refusal is not None
    assert refusal.guard == "sql-goes-to-the-leader"
    assert keys(app_plan(leaderless, ROTATED))[0] == []
    assert_words(refusal)


def test_a_former_login_in_use_stays_good() -> None:
    plan = app_plan(rotated(sessions=3), ROTATED)
    assert keys(plan) == ([], [f"login/notes/{former_login()}"])
    assert_words(hold(plan, f"login/notes/{former_login()}"))


@pytest.mark.parametrize("state", ["updating", "rollback_started", "paused"])
def test_while_replicas_are_replaced_the_former_login_stays_good(state: str) -> None:
    observed = with_live_service(rotated(), WEB, update_state=state)
    actions, holds = keys(app_plan(observed, ROTATED))
    assert actions == []
    assert f"login/notes/{former_login()}" in holds


def test_what_swarm_has_not_begun_to_replace_keeps_the_former_login_good() -> None:
    """A moment after the change swarm says nothing of it yet, and pools may be idle."""
    observed = with_live_service(rotated(), WEB, updated_at=NOW)
    actions, holds = keys(app_plan(observed, ROTATED))
    assert (actions, holds) == ([], [f"login/notes/{former_login()}"])


@pytest.mark.parametrize("state", ["", "completed", "rollback_completed"])
def test_an_image_that_was_taken_back_keeps_no_former_login(state: str) -> None:
    """Swarm went back to what the service says now, which uses the new password: every replica."""
    observed = with_live_service(rotated(), WEB, update_state=state)
    assert keys(app_plan(observed, ROTATED))[0] == [f"alter-role/main/{former_login()}"]


def test_a_new_password_that_was_taken_back_keeps_the_former_login() -> None:
    """The replicas are again what they were: the service itself has the old string."""
    before = app_plan(rotated(), ROTATED)
    assert before.actions
    old = desired_app(APP).url_secret.name
    observed = with_live_service(rotated(), WEB, update_state="rollback_completed")
    files = tuple(
        dataclasses.replace(file, name=old) if file.target == "app_database_url" else file
        for file in live(observed, WEB).value.secrets
    )
    plan = app_plan(with_service(observed, WEB, secrets=tuple(sorted(files))), ROTATED)
    assert_words(hold(plan, f"login/notes/{former_login()}"))
    assert_words(*plan.holds, *plan.actions)


def test_a_replica_that_may_come_back_keeps_the_former_login_good() -> None:
    lost = dataclasses.replace(replica(3), desired_state="shutdown")
    observed = with_tasks(rotated(), WEB, replica(1), replica(2), lost)
    observed = with_node(observed, "node2", state="down")
    assert keys(app_plan(observed, ROTATED))[0] == []


def test_a_retired_login_is_left_alone() -> None:
    assert keys(app_plan(rotated(login=False, has_password=False), ROTATED)) == ([], [])


def test_before_the_new_password_is_in_use_nothing_is_retired() -> None:
    old = desired_app(APP).url_secret.name
    observed = rotated()
    files = tuple(
        dataclasses.replace(file, name=old) if file.target == "app_database_url" else file
        for file in live(observed, WEB).value.secrets
    )
    plan = app_plan(with_service(observed, WEB, secrets=tuple(sorted(files))), ROTATED)
    assert keys(plan)[0] == [f"update-service/{WEB} !{WEB}"]


@pytest.mark.parametrize(
    "fields",
    [
        {"login": False, "verifier": "none", "has_password": False},
        {"verifier": "none", "has_password": False},
        {"verifier": "another"},
        {"member_of": ()},
    ],
    ids=["no login", "no password", "another password", "no member"],
)
def test_back_to_the_former_password_waits_until_its_login_is_good_again(
    fields: dict[str, object],
) -> None:
    """The file turns back after the former login was retired, and SQL can't be done now."""
    observed = with_secret(rotated(**fields), desired_app(APP).url_secret.name)  # type: ignore[arg-type]
    plan = app_plan(observed, APP)
    assert f"update-service/{WEB} !{WEB}" not in keys(plan)[0]
    assert_words(hold(plan, f"update-service/{WEB}"))
    good = with_secret(rotated(verifier="as desired"), desired_app(APP).url_secret.name)
    assert keys(app_plan(good, APP))[0] == [f"update-service/{WEB} !{WEB}"]


def test_a_role_of_the_clusters_own_file_is_no_former_login() -> None:
    cluster = MANIFEST + f"  roles:\n    - {{name: {former_login()}, passwordSecret: shop_pw}}\n"
    found = documents(ROTATED, cluster)
    plan = make_plan(found[-1], rotated(), NOW, found).plan
    assert keys(plan) == ([], [])
