"""Roles and databases: whole plans for what is found, and when nothing is written."""

from __future__ import annotations

import dataclasses

import pytest

from queenright.core.actions import (
    AlterDatabase,
    AlterRole,
    CreateDatabase,
    CreateExtension,
    LabelConfig,
)
from queenright.core.kinds.postgres_cluster.annotations import PendingSwitchover
from queenright.core.kinds.postgres_cluster.databases.annotations import (
    CatalogNote,
    read_catalog_note,
)
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.observed import Known, NotAsked, Observed, RaftStatus, SwarmState, Unknown
from queenright.core.postgres.catalog import (
    Catalog,
    DesiredCatalog,
    DesiredDatabase,
    DesiredRole,
    merge_catalogs,
)
from queenright.core.swarm.objects import CATALOG_LABEL
from tests.golden.messages import assert_words
from tests.support.builders import NOW, document, manifest, plan_for, three_nodes
from tests.support.catalog_worlds import (
    DATABASE,
    NOTE,
    READERS,
    SHOP,
    TEXT,
    WHOLE,
    actions_only,
    hold,
    planned,
    with_database,
    with_role,
    world,
)
from tests.support.changed import with_notes, with_raft
from tests.support.plans import make_plan


def test_what_is_as_desired_is_left() -> None:
    plan = planned(world())
    assert plan.actions == ()
    assert plan.is_converged


def test_nothing_is_asked_of_a_cluster_that_wishes_for_nothing() -> None:
    assert plan_for(three_nodes()).is_converged


class TestFromNothing:
    EMPTY = Catalog(available=frozenset({"vector"}))

    def test_the_password_comes_first(self) -> None:
        found = actions_only(world(self.EMPTY, CatalogNote(), secrets=()))
        assert [a.key for a in found] == ["create-role/main/readers", "create-secret/shop_pw"]

    def test_then_the_roles_groups_first(self) -> None:
        found = actions_only(world(self.EMPTY, CatalogNote()))
        assert [a.key for a in found] == ["create-role/main/readers", "create-role/main/shop"]

    def test_then_the_database_and_its_extension(self) -> None:
        without = dataclasses.replace(WHOLE, databases=())
        assert [type(action) for action in actions_only(world(without))] == [CreateDatabase]
        bare = dataclasses.replace(DATABASE, extensions=("plpgsql",))
        assert [type(action) for action in actions_only(world(with_database(bare)))] == [
            CreateExtension
        ]

    def test_it_is_noted_what_the_file_has(self) -> None:
        plan = planned(world(self.EMPTY, CatalogNote()))
        noted = next(a for a in plan.actions if isinstance(a, LabelConfig)).config.labels
        note = read_catalog_note(noted)
        assert note == CatalogNote({"readers": "", "shop": ""}, ("shop",))


@pytest.mark.parametrize(
    ("drift", "fields"),
    [
        ({"superuser": True}, ("superuser",)),
        ({"replication": True}, ("replication",)),
        ({"login": False}, ("login",)),
        ({"inherit": False}, ("inherit",)),
        ({"create_db": True}, ("create_db",)),
        ({"create_role": True}, ("create_role",)),
        ({"bypass_rls": True}, ("bypass_rls",)),
        ({"connection_limit": -1}, ("connection_limit",)),
        ({"valid_until": NOW}, ("valid_until",)),
        ({"member_of": ()}, ("member_of",)),
        ({"member_of": ("readers", "pg_write_all_data")}, ("member_of",)),
        ({"verifier": "another"}, ("password",)),
        ({"verifier": "none", "has_password": False}, ("password",)),
        ({"superuser": True, "verifier": "another"}, ("superuser", "password")),
    ],
)
def test_a_roles_drift_is_set_back_alone(drift: dict[str, object], fields: tuple[str, ...]) -> None:
    (action,) = actions_only(world(with_role(dataclasses.replace(SHOP, **drift))))  # type: ignore[arg-type]
    assert isinstance(action, AlterRole)
    assert action.fields == fields
    assert len(action.changes) == len(fields)


@pytest.mark.parametrize(
    ("drift", "fields"),
    [
        ({"owner": "postgres"}, ("owner",)),
        ({"public": ("CONNECT", "TEMPORARY")}, ("public",)),
        ({"public": ("TEMPORARY",)}, ("public",)),
        ({"connect": ("shop",)}, ("connect",)),
        ({"connection_limit": 0}, ("connection_limit",)),
    ],
)
def test_a_databases_drift_is_set_back_alone(
    drift: dict[str, object], fields: tuple[str, ...]
) -> None:
    (action,) = actions_only(world(with_database(dataclasses.replace(DATABASE, **drift))))  # type: ignore[arg-type]
    assert isinstance(action, AlterDatabase)
    assert action.fields == fields


def test_what_the_file_does_not_say_is_left() -> None:
    text = manifest(
        roles="[{name: shop, passwordSecret: shop_pw}]", databases="[{name: shop, owner: shop}]"
    )
    role = dataclasses.replace(SHOP, connection_limit=-1, member_of=("pg_monitor", "strangers"))
    database = dataclasses.replace(
        DATABASE, connection_limit=-1, connect=("a", "b", "shop"), extensions=("pg_trgm",)
    )
    catalog = dataclasses.replace(WHOLE, roles=(role,), databases=(database,))
    note = CatalogNote({"shop": "shop_pw"}, ("shop",))
    assert planned(world(catalog, note, text=text), text).is_converged


class TestACommandThatOnlyLooks:
    def test_takes_what_it_does_not_compare_for_news(self) -> None:
        live = dataclasses.replace(SHOP, verifier="not here", why_unread="a look")
        found = world(with_role(live))
        assert planned(found).is_converged
        assert_words(hold(found, "password/main/shop"))

    def test_can_end_well_where_it_may_not_ask_the_leader(self) -> None:
        found = dataclasses.replace(world(), catalogs={"main": NotAsked("a look")})
        assert planned(found).is_converged
        assert_words(hold(found, "databases/main"))


def test_an_extension_that_the_server_lacks_is_a_hold() -> None:
    bare = dataclasses.replace(DATABASE, extensions=("plpgsql",))
    catalog = dataclasses.replace(with_database(bare), available=frozenset())
    found = world(catalog)
    assert actions_only(found) == []
    assert_words(hold(found, "extensions/main/shop"))


def test_an_extension_that_can_be_made_in_a_new_database_only_is_a_hold() -> None:
    bare = dataclasses.replace(DATABASE, extensions=("plpgsql",))
    catalog = dataclasses.replace(with_database(bare), unsafe=frozenset({"vector"}))
    found = world(catalog)
    assert actions_only(found) == []
    unsafe = hold(found, "extensions/main/shop/unsafe")
    assert unsafe.wants_attention
    assert_words(unsafe)


def test_extensions_that_could_not_be_read_are_no_reason_to_make_any() -> None:
    found = world(with_database(dataclasses.replace(DATABASE, extensions=None, why_unread="x")))
    assert actions_only(found) == []
    assert_words(hold(found, "extensions/main/shop"))


def test_a_database_waits_for_an_owner_that_nobody_makes() -> None:
    text = manifest(databases="[{name: shop, owner: somebody}]")
    found = world(Catalog(), CatalogNote({}, ("shop",)), text=text)
    assert actions_only(found, text) == []
    assert_words(hold(found, "database/main/shop", text))


class TestWhatLeftTheFile:
    TEXT = manifest(roles="[{name: readers, login: false}]")

    def test_is_told_and_kept(self) -> None:
        found = world(text=self.TEXT)
        plan = planned(found, self.TEXT)
        assert plan.actions == ()
        assert plan.is_converged
        assert hold(found, "role/main/shop", self.TEXT).is_informational
        assert_words(hold(found, "database/main/shop", self.TEXT))
        assert_words(*plan.holds, *plan.actions)

    def test_is_forgotten_when_somebody_drops_it(self) -> None:
        gone = dataclasses.replace(WHOLE, roles=(READERS,), databases=())
        plan = planned(world(gone, text=self.TEXT), self.TEXT)
        (action,) = plan.actions
        assert isinstance(action, LabelConfig)
        assert read_catalog_note(action.config.labels) == CatalogNote({"readers": ""})

    def test_is_remembered_while_the_leader_is_silent(self) -> None:
        plan = planned(world(None, text=self.TEXT), self.TEXT)
        assert plan.actions == ()

    def test_is_told_when_nothing_else_is_desired_for(self) -> None:
        assert hold(world(text=manifest()), "role/main/shop", manifest()).is_informational


class TestNothingIsWritten:
    DRIFTED = with_role(dataclasses.replace(SHOP, create_db=True))

    def assert_held(self, observed: Observed) -> None:
        plan = plan_for(observed, TEXT)
        assert not [a for a in plan.actions if isinstance(a, AlterRole)]
        held = [h for h in plan.holds if h.key.startswith(("alter-role", "databases"))]
        assert held
        assert_words(*held)

    def test_on_an_unknown_catalog(self) -> None:
        self.assert_held(world(None))

    def test_without_a_quorum(self) -> None:
        observed = with_raft(world(self.DRIFTED), "member-1", RaftStatus(has_quorum=False))
        self.assert_held(observed)

    def test_while_the_lead_moves(self) -> None:
        note = PendingSwitchover("member-1", "member-2", 1, NOW, "command")
        observed = with_notes(world(self.DRIFTED), move=note)
        self.assert_held(observed)

    def test_while_nobody_leads(self) -> None:
        observed = three_nodes(leader="nobody", text=TEXT)
        kept = world(self.DRIFTED)
        found = dataclasses.replace(kept, members=observed.members)
        self.assert_held(found)

    def test_while_reconciliation_is_paused(self) -> None:
        text = TEXT + "  reconcile: paused\n"
        plan = plan_for(world(self.DRIFTED, text=text), text)
        assert plan.actions == ()
        assert_words(*plan.holds)

    def test_and_a_guard_sees_to_it(self) -> None:
        observed = world(self.DRIFTED)
        plan = planned(observed)
        (action,) = plan.actions
        assert isinstance(action, AlterRole)
        astray = dataclasses.replace(action, host="10.77.0.13")
        refusal = first_refusal(dataclasses.replace(plan, actions=(astray,)), observed)
        assert refusal is not None
        assert refusal.guard == "sql-goes-to-the-leader"
        silent = with_raft(observed, "member-1", Unknown("timed out"))
        assert first_refusal(plan, silent) is not None
        assert_words(refusal)


def test_applications_claims_join_the_files_own() -> None:
    claims = DesiredCatalog(
        (DesiredRole("notes", "notes_pw"), DesiredRole("shop", "another_pw")),
        (DesiredDatabase("notes", "notes"),),
    )
    own = DesiredCatalog((DesiredRole("shop", "shop_pw"),))
    found = merge_catalogs(own, claims)
    assert [(role.name, role.password_secret) for role in found.roles] == [
        ("shop", "shop_pw"),
        ("notes", "notes_pw"),
    ]
    observed = world(WHOLE, NOTE, ("shop_pw", "notes_pw"))
    plan = make_plan(document(TEXT), observed, NOW, claims=claims).plan
    assert "create-role/main/notes" in [action.key for action in plan.actions]
    assert_words(*plan.holds, *plan.actions)


def test_a_note_that_can_not_be_read_counts_as_absent() -> None:
    for text in ("", "[", "[]", '{"roles": 1}', '{"roles": {}, "databases": 7}'):
        assert read_catalog_note({CATALOG_LABEL: text}) == CatalogNote()


def test_an_undeployed_cluster_has_no_catalog_to_speak_of() -> None:
    observed = Observed(Known(SwarmState(three_nodes().swarm.value.engine)))  # type: ignore[union-attr]
    assert not [a for a in plan_for(observed, TEXT).actions if a.key.startswith("create-role")]
