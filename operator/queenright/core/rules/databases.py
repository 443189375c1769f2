"""Roles and databases are what the file says (spec: database-cluster §4.4, §5.7).

Decides from what is asked for and what the leader has. Invariant: nothing is written while the
leader, its quorum or its catalog is not certain, nothing is ever dropped, and what the file does
not own is left as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import Action, CreateSecret
from queenright.core.app.logins import is_login_of
from queenright.core.catalog import Catalog, DesiredRole
from queenright.core.catalog_steps import database_steps, role_steps, sql_target, why_no_sql
from queenright.core.observed import Known, NotAsked, Unknown
from queenright.core.plan import Hold
from queenright.core.resources import CLUSTER_LABEL, Secret
from queenright.core.situation import Situation

ASPECT = "databases"


def plan_databases(situation: Situation) -> Iterator[Action | Hold]:
    wished, note = situation.desired.catalog, situation.catalog_note
    if not (wished or note) or not situation.is_bootstrapped:
        return
    match situation.catalog:
        case NotAsked(why):
            reason = f"roles and databases are not compared here: {why}"
            yield Hold(f"{ASPECT}/{situation.desired.name}", reason, is_news=True)
        case Unknown(why):
            reason = f"roles and databases are not known ({why}), nor whether they are the file's"
            yield Hold(f"{ASPECT}/{situation.desired.name}", reason)
        case Known(catalog):
            steps = [*wanted_steps(situation, catalog)]
            yield from (step for step in steps if isinstance(step, Hold))
            yield from actions_or_why_not(situation, [s for s in steps if not isinstance(s, Hold)])
            yield from vanished(situation, catalog)


def wanted_steps(situation: Situation, catalog: Catalog) -> Iterator[Action | Hold]:
    """Secrets, then roles, then databases: each needs the one before."""
    target, wished = sql_target(situation), situation.desired.catalog
    for role in wished.roles:
        if role.password_secret and situation.swarm.secret(role.password_secret) is None:
            yield missing_secret(situation, role, catalog)
            if catalog.role(role.name) is None:
                continue
        yield from role_steps(target, role, catalog, situation.now)
    coming = frozenset(role.name for role in wished.roles)
    for database in wished.databases:
        yield from database_steps(target, database, catalog, coming)


def missing_secret(situation: Situation, role: DesiredRole, catalog: Catalog) -> Action | Hold:
    """A password is made for a role that has none, or whose file names another secret than before:
    where the very secret is gone, its clients still have what it said."""
    name = role.password_secret
    live = catalog.role(role.name)
    noted = situation.catalog_note.roles.get(role.name, "")
    if live is None or not live.has_password or noted not in {"", name}:
        return CreateSecret(
            Secret(name, {CLUSTER_LABEL: situation.desired.name}),
            reason=f"secret {name}, for role {role.name}, is not in the swarm",
        )
    return Hold(
        f"create-secret/{name}",
        f"secret {name} is not in the swarm, and role {role.name} has a password already, which a "
        "new one would take from its clients: create the secret with the value that they know, or "
        "name a new secret in the file once they are ready",
        wants_attention=True,
    )


def actions_or_why_not(situation: Situation, actions: list[Action]) -> Iterator[Action | Hold]:
    obstacle = why_no_sql(situation)
    for action in actions:
        if obstacle is None or isinstance(action, CreateSecret):
            yield action
        else:
            yield Hold(action.key, f"{action.reason}. Not done yet: {obstacle}")


def vanished(situation: Situation, catalog: Catalog) -> Iterator[Hold]:
    """What the file had, and has no more: kept, and told."""
    wished, note = situation.desired.catalog, situation.catalog_note
    scope = situation.desired.name
    for name in sorted(note.databases):
        if wished.database(name) is None and catalog.database(name) is not None:
            reason = (
                f"database {name} is no longer in the file, and is kept with all its data "
                "(deletionPolicy: retain); drop it by hand if nobody needs it, or write it again"
            )
            yield Hold(f"database/{scope}/{name}", reason, is_news=True)
    for name in sorted(note.roles):
        if any(is_login_of(name, owner.name) for owner in wished.roles):
            continue  # its application says what becomes of it
        if wished.role(name) is None and catalog.role(name) is not None:
            reason = (
                f"role {name} is no longer in the file, and is kept as it is, its password and "
                "what it owns with it; drop it by hand if nobody needs it, or write it again"
            )
            yield Hold(f"role/{scope}/{name}", reason, is_news=True)
