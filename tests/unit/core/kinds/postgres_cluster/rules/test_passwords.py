"""Passwords of roles: whose secret is created, and what is compared when."""

from __future__ import annotations

import dataclasses

from queenright.core.actions import CreateSecret
from queenright.core.kinds.postgres_cluster.databases.annotations import CatalogNote
from tests.golden.messages import assert_words
from tests.support.builders import NOW
from tests.support.catalog_worlds import SHOP, actions_only, hold, with_role, world
from tests.support.changed import live as live_service
from tests.support.changed import with_service


def test_no_password_is_told_in_a_change() -> None:
    changed = world(with_role(dataclasses.replace(SHOP, verifier="another")))
    (action,) = actions_only(changed)
    assert [(c.path, c.old, c.new) for c in action.changes] == [
        ("roles[shop].password", "(hidden)", "(hidden)")
    ]


class TestASecretThatIsMissing:
    def test_is_not_made_for_a_role_whose_clients_know_it(self) -> None:
        live = dataclasses.replace(SHOP, verifier="not asked")
        found = world(with_role(live), secrets=())
        assert actions_only(found) == []
        assert hold(found, "create-secret/shop_pw").wants_attention

    def test_is_not_made_for_a_role_that_was_there_before(self) -> None:
        live = dataclasses.replace(SHOP, verifier="not asked")
        note = CatalogNote({"readers": "", "shop": ""}, ("shop",))
        assert actions_only(world(with_role(live), note, secrets=())) == []

    def test_is_made_for_a_role_that_came_with_a_backup(self) -> None:
        live = dataclasses.replace(SHOP, verifier="not asked")
        note = CatalogNote({"readers": "", "shop": ""}, ("shop",))
        found = world(with_role(live), note, secrets=())
        variables = live_service(found, "main_member-1").value.environment
        variables = {**variables, "RESTORE_URL": "s3://backups/parent"}
        found = with_service(found, "main_member-1", environment=variables)
        assert [type(action) for action in actions_only(found)] == [CreateSecret]

    def test_is_made_when_the_file_names_another(self) -> None:
        live = dataclasses.replace(SHOP, verifier="not asked")
        note = CatalogNote({"readers": "", "shop": "old_pw"}, ("shop",))
        found = actions_only(world(with_role(live), note, secrets=("old_pw",)))
        assert [type(action) for action in found] == [CreateSecret]

    def test_is_made_for_a_role_without_a_password(self) -> None:
        live = dataclasses.replace(SHOP, verifier="not asked", has_password=False)
        found = actions_only(world(with_role(live), secrets=()))
        assert [type(action) for action in found] == [CreateSecret]


def test_a_secret_that_can_not_be_read_is_a_hold_and_no_new_password() -> None:
    live = dataclasses.replace(SHOP, verifier="not known", why_unread="no node")
    found = world(with_role(live))
    assert actions_only(found) == []
    assert_words(hold(found, "password/main/shop"))


def test_a_password_that_a_pass_had_no_time_for_is_compared_in_the_next_at_once() -> None:
    found = world(with_role(dataclasses.replace(SHOP, verifier="not yet")))
    assert actions_only(found) == []
    assert hold(found, "password/main/shop").recheck_at == NOW
