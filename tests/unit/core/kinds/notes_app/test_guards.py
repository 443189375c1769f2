"""Guards of an application, against plans of any rules."""

from __future__ import annotations

from queenright.core.actions import AnyAction, CreateSecret, RemoveService, RestartService
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.observed import Observed
from queenright.core.planning.plan import Plan, Refusal
from queenright.core.swarm.objects import Secret
from tests.golden.messages import assert_words
from tests.support.app_builders import KEY, WEB, app_manifest, app_plan, served
from tests.support.builders import status
from tests.support.changed import live, with_member, with_service


def refusal_of(action: AnyAction, observed: Observed) -> Refusal | None:
    return first_refusal(Plan("notes", "digest", (action,)), observed)


def leaderless() -> Observed:
    return with_member(served(), "member-1", status("member-1", "nobody"))


def test_an_update_is_let_through_while_the_database_is_led() -> None:
    plan = app_plan(served(), app_manifest(maxAttachment="512M"))
    assert plan.actions
    assert first_refusal(plan, served()) is None


def test_no_replica_is_replaced_while_nobody_leads() -> None:
    plan = app_plan(served(), app_manifest(maxAttachment="512M"))
    refusal = first_refusal(plan, leaderless())
    assert refusal is not None
    assert refusal.guard == "replicas-have-a-database"
    assert_words(refusal)


def test_a_leader_whose_service_lost_its_labels_leads_all_the_same() -> None:
    observed = with_service(served(), "main_member-1", labels={})
    plan = app_plan(served(), app_manifest(maxAttachment="512M"))
    assert first_refusal(plan, observed) is None


def test_what_an_action_says_of_itself_counts_for_nothing() -> None:
    found = live(served(), WEB)
    restart = RestartService(found.id, found.version, found.value, 1, reason="", disrupts="")
    refusal = refusal_of(restart, leaderless())
    assert refusal is not None
    assert refusal.guard == "replicas-have-a-database"


def test_a_secret_that_is_there_is_never_made_again() -> None:
    refusal = refusal_of(CreateSecret(Secret(KEY), reason=""), served())
    assert refusal is not None
    assert refusal.guard == "secrets-are-never-replaced"
    assert_words(refusal)
    assert refusal_of(CreateSecret(Secret("another"), reason=""), served()) is None


def test_an_application_that_is_described_keeps_its_services() -> None:
    found = live(served(), WEB)
    refusal = refusal_of(RemoveService(found.id, WEB, reason=""), served())
    assert refusal is not None
    assert refusal.guard == "removal-is-asked-for"
