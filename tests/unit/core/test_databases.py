"""Roles and databases: whole plans for what is found, and when nothing is written."""

from __future__ import annotations

import dataclasses

import pytest

from queenright.core.actions import (
    Action,
    AlterDatabase,
    AlterRole,
    CreateDatabase,
    CreateExtension,
    CreateSecret,
    LabelConfig,
)
from queenright.core.catalog import (
    Catalog,
    Database,
    DesiredCatalog,
    DesiredDatabase,
    DesiredRole,
    Role,
    merged,
)
from queenright.core.catalog_notes import CatalogNote, read_catalog_note, with_catalog_note
from queenright.core.guards import first_refusal
from queenright.core.notes import MoveNote
from queenright.core.observed import (
    Known,
    Live,
    NotAsked,
    Observed,
    RaftStatus,
    SwarmState,
    Unknown,
)
from queenright.core.plan import Hold, Plan
from queenright.core.planner import make_plan
from queenright.core.resources import CATALOG_LABEL, Secret
from tests.builders import NOW, document, manifest, plan_for, three_nodes, with_notes, with_raft

TEXT = manifest(
    roles="[{name: readers, login: false}, {name: shop, passwordSecret: shop_pw, "
    "connectionLimit: 20, memberOf: [readers]}]",
    databases="[{name: shop, owner: shop, connectionLimit: 50, extensions: [vector], "
    "connect: [readers]}]",
)
READERS = Role("readers", login=False)
SHOP = Role(
    "shop", verifier="as wished", has_password=True, connection_limit=20, member_of=("readers",)
)
DATABASE = Database(
    "shop", "shop", 50, connect=("readers", "shop"), extensions=("plpgsql", "vector")
)
WHOLE = Catalog((READERS, SHOP), (DATABASE,), frozenset({"readers", "shop"}), frozenset({"vector"}))
NOTE = CatalogNote({"readers": "", "shop": "shop_pw"}, ("shop",))


def world(
    catalog: Catalog | None = WHOLE,
    note: CatalogNote = NOTE,
    secrets: tuple[str, ...] = ("shop_pw",),
    text: str = TEXT,
) -> Observed:
    """A whole cluster with this catalog; None where the leader could not be asked."""
    observed = three_nodes(text=text)
    assert isinstance(observed.swarm, Known)
    swarm = observed.swarm.value
    made = tuple(Live(f"id-{name}", 70, Secret(name)) for name in secrets)
    configs = tuple(
        dataclasses.replace(
            live,
            value=dataclasses.replace(
                live.value, labels=with_catalog_note(live.value.labels, note)
            ),
        )
        if live.value.name == "main_cluster"
        else live
        for live in swarm.configs
    )
    changed = dataclasses.replace(swarm, secrets=(*swarm.secrets, *made), configs=configs)
    reading = Unknown("connection refused") if catalog is None else Known(catalog)
    return dataclasses.replace(observed, swarm=Known(changed), catalogs={"main": reading})


def with_role(role: Role) -> Catalog:
    others = tuple(found for found in WHOLE.roles if found.name != role.name)
    return dataclasses.replace(WHOLE, roles=(*others, role))


def with_database(database: Database) -> Catalog:
    return dataclasses.replace(WHOLE, databases=(database,))


def planned(observed: Observed, text: str = TEXT) -> Plan:
    plan = plan_for(observed, text)
    assert first_refusal(plan, observed) is None
    return plan


def deeds(observed: Observed, text: str = TEXT) -> list[Action]:
    return [a for a in planned(observed, text).actions if not isinstance(a, LabelConfig)]


def hold(observed: Observed, key: str, text: str = TEXT) -> Hold:
    return next(found for found in planned(observed, text).holds if found.key == key)


def test_what_is_as_wished_is_left() -> None:
    plan = planned(world())
    assert plan.actions == ()
    assert plan.is_converged


def test_nothing_is_asked_of_a_cluster_that_wishes_for_nothing() -> None:
    assert plan_for(three_nodes()).is_converged


class TestFromNothing:
    EMPTY = Catalog(available=frozenset({"vector"}))

    def test_the_password_comes_first(self) -> None:
        found = deeds(world(self.EMPTY, CatalogNote(), secrets=()))
        assert [a.key for a in found] == ["create-role/main/readers", "create-secret/shop_pw"]

    def test_then_the_roles_groups_first(self) -> None:
        found = deeds(world(self.EMPTY, CatalogNote()))
        assert [a.key for a in found] == ["create-role/main/readers", "create-role/main/shop"]

    def test_then_the_database_and_its_extension(self) -> None:
        without = dataclasses.replace(WHOLE, databases=())
        assert [type(action) for action in deeds(world(without))] == [CreateDatabase]
        bare = dataclasses.replace(DATABASE, extensions=("plpgsql",))
        assert [type(action) for action in deeds(world(with_database(bare)))] == [CreateExtension]

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
    (action,) = deeds(world(with_role(dataclasses.replace(SHOP, **drift))))  # type: ignore[arg-type]
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
    (action,) = deeds(world(with_database(dataclasses.replace(DATABASE, **drift))))  # type: ignore[arg-type]
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


def test_no_password_is_told_in_a_change() -> None:
    changed = world(with_role(dataclasses.replace(SHOP, verifier="another")))
    (action,) = deeds(changed)
    assert [(c.path, c.old, c.new) for c in action.changes] == [
        ("roles[shop].password", "(hidden)", "(hidden)")
    ]


class TestASecretThatIsMissing:
    def test_is_not_made_for_a_role_whose_clients_know_it(self) -> None:
        live = dataclasses.replace(SHOP, verifier="not asked")
        found = world(with_role(live), secrets=())
        assert deeds(found) == []
        assert hold(found, "create-secret/shop_pw").wants_attention

    def test_is_not_made_for_a_role_that_was_there_before(self) -> None:
        live = dataclasses.replace(SHOP, verifier="not asked")
        note = CatalogNote({"readers": "", "shop": ""}, ("shop",))
        assert deeds(world(with_role(live), note, secrets=())) == []

    def test_is_made_when_the_file_names_another(self) -> None:
        live = dataclasses.replace(SHOP, verifier="not asked")
        note = CatalogNote({"readers": "", "shop": "old_pw"}, ("shop",))
        found = deeds(world(with_role(live), note, secrets=("old_pw",)))
        assert [type(action) for action in found] == [CreateSecret]

    def test_is_made_for_a_role_without_a_password(self) -> None:
        live = dataclasses.replace(SHOP, verifier="not asked", has_password=False)
        found = deeds(world(with_role(live), secrets=()))
        assert [type(action) for action in found] == [CreateSecret]


def test_a_secret_that_can_not_be_read_is_a_hold_and_no_new_password() -> None:
    live = dataclasses.replace(SHOP, verifier="not known", why_unread="no node")
    found = world(with_role(live))
    assert deeds(found) == []
    assert "no node" in hold(found, "password/main/shop").reason


def test_a_password_that_a_pass_had_no_time_for_is_compared_in_the_next_at_once() -> None:
    found = world(with_role(dataclasses.replace(SHOP, verifier="not yet")))
    assert deeds(found) == []
    assert hold(found, "password/main/shop").recheck_at == NOW


class TestACommandThatOnlyLooks:
    def test_takes_what_it_does_not_compare_for_news(self) -> None:
        live = dataclasses.replace(SHOP, verifier="not here", why_unread="a look")
        found = world(with_role(live))
        assert planned(found).is_converged
        assert "not compared here: a look" in hold(found, "password/main/shop").reason

    def test_can_end_well_where_it_may_not_ask_the_leader(self) -> None:
        found = dataclasses.replace(world(), catalogs={"main": NotAsked("a look")})
        assert planned(found).is_converged
        assert "not compared here: a look" in hold(found, "databases/main").reason


def test_an_extension_that_the_server_lacks_is_a_hold() -> None:
    bare = dataclasses.replace(DATABASE, extensions=("plpgsql",))
    catalog = dataclasses.replace(with_database(bare), available=frozenset())
    found = world(catalog)
    assert deeds(found) == []
    assert "member image" in hold(found, "extensions/main/shop").reason


def test_extensions_that_could_not_be_read_are_no_reason_to_make_any() -> None:
    found = world(with_database(dataclasses.replace(DATABASE, extensions=None, why_unread="x")))
    assert deeds(found) == []
    assert "not known (x)" in hold(found, "extensions/main/shop").reason


def test_a_database_waits_for_an_owner_that_nobody_makes() -> None:
    text = manifest(databases="[{name: shop, owner: somebody}]")
    found = world(Catalog(), CatalogNote({}, ("shop",)), text=text)
    assert deeds(found, text) == []
    assert "no such role" in hold(found, "database/main/shop", text).reason


class TestWhatLeftTheFile:
    TEXT = manifest(roles="[{name: readers, login: false}]")

    def test_is_told_and_kept(self) -> None:
        found = world(text=self.TEXT)
        plan = planned(found, self.TEXT)
        assert plan.actions == ()
        assert plan.is_converged
        assert hold(found, "role/main/shop", self.TEXT).is_news
        assert "retain" in hold(found, "database/main/shop", self.TEXT).reason

    def test_is_forgotten_when_somebody_drops_it(self) -> None:
        gone = dataclasses.replace(WHOLE, roles=(READERS,), databases=())
        plan = planned(world(gone, text=self.TEXT), self.TEXT)
        (action,) = plan.actions
        assert isinstance(action, LabelConfig)
        assert read_catalog_note(action.config.labels) == CatalogNote({"readers": ""})

    def test_is_remembered_while_the_leader_is_silent(self) -> None:
        plan = planned(world(None, text=self.TEXT), self.TEXT)
        assert plan.actions == ()

    def test_is_told_when_nothing_else_is_wished_for(self) -> None:
        assert hold(world(text=manifest()), "role/main/shop", manifest()).is_news


class TestNothingIsWritten:
    DRIFTED = with_role(dataclasses.replace(SHOP, create_db=True))

    def reason(self, observed: Observed) -> str:
        plan = plan_for(observed, TEXT)
        assert not [a for a in plan.actions if isinstance(a, AlterRole)]
        return next(h.reason for h in plan.holds if h.key.startswith(("alter-role", "databases")))

    def test_on_an_unknown_catalog(self) -> None:
        assert "connection refused" in self.reason(world(None))

    def test_without_a_quorum(self) -> None:
        observed = with_raft(world(self.DRIFTED), "member-1", RaftStatus(has_quorum=False))
        assert "no quorum" in self.reason(observed)

    def test_while_the_lead_moves(self) -> None:
        note = MoveNote("member-1", "member-2", 1, NOW, "command")
        observed = with_notes(world(self.DRIFTED), move=note)
        assert "the lead is moving" in self.reason(observed)

    def test_while_nobody_leads(self) -> None:
        observed = three_nodes(leader="nobody", text=TEXT)
        kept = world(self.DRIFTED)
        found = dataclasses.replace(kept, members=observed.members)
        assert "no leader" in self.reason(found)

    def test_while_reconciliation_is_paused(self) -> None:
        text = TEXT + "  reconcile: paused\n"
        plan = plan_for(world(self.DRIFTED, text=text), text)
        assert plan.actions == ()
        assert any("not done while reconciliation is paused" in h.reason for h in plan.holds)

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


def test_applications_wishes_join_the_files_own() -> None:
    wishes = DesiredCatalog(
        (DesiredRole("notes", "notes_pw"), DesiredRole("shop", "another_pw")),
        (DesiredDatabase("notes", "notes"),),
    )
    own = DesiredCatalog((DesiredRole("shop", "shop_pw"),))
    found = merged(own, wishes)
    assert [(role.name, role.password_secret) for role in found.roles] == [
        ("shop", "shop_pw"),
        ("notes", "notes_pw"),
    ]
    observed = world(WHOLE, NOTE, ("shop_pw", "notes_pw"))
    plan = make_plan(document(TEXT), observed, NOW, wishes=wishes).plan
    assert "create-role/main/notes" in [action.key for action in plan.actions]


def test_a_note_that_can_not_be_read_counts_as_absent() -> None:
    for text in ("", "[", "[]", '{"roles": 1}', '{"roles": {}, "databases": 7}'):
        assert read_catalog_note({CATALOG_LABEL: text}) == CatalogNote()


def test_an_undeployed_cluster_has_no_catalog_to_speak_of() -> None:
    observed = Observed(Known(SwarmState(three_nodes().swarm.value.engine)))  # type: ignore[union-attr]
    assert not [a for a in plan_for(observed, TEXT).actions if a.key.startswith("create-role")]
