"""Clusters with roles and databases as found, and what is planned for them."""

from __future__ import annotations

import dataclasses

from queenright.core.actions import AnyAction, LabelConfig
from queenright.core.kinds.postgres_cluster.databases.annotations import (
    CatalogNote,
    with_catalog_note,
)
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.observed import Known, Live, Observed, Unknown
from queenright.core.planning.plan import Hold, Plan
from queenright.core.postgres.catalog import Catalog, Database, Role
from queenright.core.swarm.objects import Secret
from tests.support.builders import manifest, plan_for, three_nodes

TEXT = manifest(
    roles="[{name: readers, login: false}, {name: shop, passwordSecret: shop_pw, "
    "connectionLimit: 20, memberOf: [readers]}]",
    databases="[{name: shop, owner: shop, connectionLimit: 50, extensions: [vector], "
    "connect: [readers]}]",
)
READERS = Role("readers", login=False)
SHOP = Role(
    "shop", verifier="as desired", has_password=True, connection_limit=20, member_of=("readers",)
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


def actions_only(observed: Observed, text: str = TEXT) -> list[AnyAction]:
    return [a for a in planned(observed, text).actions if not isinstance(a, LabelConfig)]


def hold(observed: Observed, key: str, text: str = TEXT) -> Hold:
    return next(found for found in planned(observed, text).holds if found.key == key)
