"""Rule for roles and databases (spec: database-cluster §4.4, §5.7).

Decides from the manifest and what the leader has. Invariant: nothing is written while the leader,
its quorum or its catalog is not certain, nothing is ever dropped, and what the file does not own is
left as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import AnyAction, CreateSecret
from queenright.core.kinds.postgres_cluster.databases.login_roles import is_login_of
from queenright.core.kinds.postgres_cluster.databases.steps import (
    database_steps,
    role_steps,
    sql_target,
    why_no_sql,
)
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import Known, NotAsked, Unknown
from queenright.core.planning.plan import Hold
from queenright.core.postgres.catalog import Catalog, DesiredRole
from queenright.core.swarm.objects import CLUSTER_LABEL, Secret

ASPECT = "databases"


def plan_databases(state: ClusterState) -> Iterator[AnyAction | Hold]:
    wanted, note = state.desired.catalog, state.catalog_note
    if not (wanted or note) or not state.is_bootstrapped:
        return
    match state.catalog:
        case NotAsked(why):
            reason = f"roles and databases: not compared here ({why})"
            yield Hold(f"{ASPECT}/{state.desired.name}", reason, is_informational=True)
        case Unknown(why):
            reason = f"roles and databases: not known, so not compared with the file ({why})"
            yield Hold(f"{ASPECT}/{state.desired.name}", reason)
        case Known(catalog):
            steps = [*wanted_steps(state, catalog)]
            yield from (step for step in steps if isinstance(step, Hold))
            yield from actions_or_why_not(state, [s for s in steps if not isinstance(s, Hold)])
            yield from vanished(state, catalog)


def wanted_steps(state: ClusterState, catalog: Catalog) -> Iterator[AnyAction | Hold]:
    """Secrets, then roles, then databases: each needs the one before."""
    target, wanted = sql_target(state), state.desired.catalog
    for role in wanted.roles:
        if role.password_secret and state.swarm.secret(role.password_secret) is None:
            yield missing_secret(state, role, catalog)
            if catalog.role(role.name) is None:
                continue
        yield from role_steps(target, role, catalog, state.now)
    coming = frozenset(role.name for role in wanted.roles)
    for database in wanted.databases:
        yield from database_steps(target, database, catalog, coming)


def missing_secret(state: ClusterState, role: DesiredRole, catalog: Catalog) -> AnyAction | Hold:
    """Create a missing password secret, or hold where the role's clients know its old value.

    Created for a role without a password, when the file names another secret than before, or for a
    role that came with a backup: its password is the parent's, and no client of this cluster's was
    ever seen to have it.
    """
    name = role.password_secret
    live = catalog.role(role.name)
    recorded = state.catalog_note.roles.get(role.name, "")
    is_parents = not recorded and state.was_restored
    if live is None or not live.has_password or is_parents or recorded not in {"", name}:
        return CreateSecret(
            Secret(name, {CLUSTER_LABEL: state.desired.name}),
            reason=f"secret {name}, for role {role.name}, is not in the swarm",
        )
    return Hold(
        f"create-secret/{name}",
        f"secret {name}: is not in the swarm, but role {role.name} has a password already (a new "
        "one would lock its clients out); create the secret with the value that they know, or "
        "name a new secret in the file once they are ready",
        wants_attention=True,
    )


def actions_or_why_not(state: ClusterState, actions: list[AnyAction]) -> Iterator[AnyAction | Hold]:
    obstacle = why_no_sql(state)
    for action in actions:
        if obstacle is None or isinstance(action, CreateSecret):
            yield action
        else:
            yield Hold(action.key, f"{action.reason}; not done yet ({obstacle})")


def vanished(state: ClusterState, catalog: Catalog) -> Iterator[Hold]:
    """News about roles and databases that are no longer in the file: they are kept."""
    wanted, note = state.desired.catalog, state.catalog_note
    scope = state.desired.name
    for name in sorted(note.databases):
        if wanted.database(name) is None and catalog.database(name) is not None:
            reason = (
                f"database {name}: no longer in the file, and kept with all its data "
                "(deletionPolicy: retain); drop it by hand if nobody needs it, or write it again"
            )
            yield Hold(f"database/{scope}/{name}", reason, is_informational=True)
    for name in sorted(note.roles):
        if any(is_login_of(name, owner.name) for owner in wanted.roles):
            continue  # the application's own rule reports it
        if wanted.role(name) is None and catalog.role(name) is not None:
            reason = (
                f"role {name}: no longer in the file, and kept with its password and what it owns; "
                "drop it by hand if nobody needs it, or write it again"
            )
            yield Hold(f"role/{scope}/{name}", reason, is_informational=True)
