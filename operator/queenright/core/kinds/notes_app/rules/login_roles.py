"""Rule for former login roles: retired once no session uses them.

Invariant: a role keeps its password while any replica may use it: until swarm has replaced the last
one, and the server itself counts no session of it. Nothing is dropped, and what the owner owns
stays the owner's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from queenright.core.actions import AlterRole, AnyAction, FieldChange
from queenright.core.kinds.notes_app.edge_cutover import is_at_rest
from queenright.core.kinds.notes_app.state import AppState
from queenright.core.kinds.notes_app.upgrade.dump import dump_jobs
from queenright.core.kinds.postgres_cluster.databases.login_roles import is_login_of
from queenright.core.kinds.postgres_cluster.databases.steps import HIDDEN, sql_target, why_no_sql
from queenright.core.observed import Known
from queenright.core.planning.plan import Hold
from queenright.core.postgres.catalog import DesiredRole, Role


def plan_logins(state: AppState) -> Iterator[AnyAction | Hold]:
    for role in former_logins(state):
        key = f"login/{state.desired.name}/{role.name}"
        if (why := why_in_use(state)) is not None:
            yield Hold(key, f"role {role.name}: the former login stays valid ({why})")
        elif role.sessions:
            yield Hold(
                key,
                f"role {role.name}: the former login still has {format_sessions(role.sessions)}",
            )
        else:
            yield retirement(state, role)


def former_logins(state: AppState) -> Iterator[Role]:
    """Former login roles of the application that no file claims any more."""
    cluster, own = state.cluster, state.desired.catalog
    owner = next((role.name for role in own.roles if not role.login), "")
    if not owner or cluster is None or not isinstance(cluster.catalog, Known):
        return
    wanted = cluster.desired.catalog  # claims of all files
    for role in cluster.catalog.value.roles:
        is_former = is_login_of(role.name, owner) and wanted.role(role.name) is None
        if is_former and (role.login or role.has_password):
            yield role


def why_in_use(state: AppState) -> str | None:
    """Reason why replicas may still use another password than the file's; None if none does."""
    desired, live = state.desired, state.web
    if (why := state.why_no_database()) is not None:
        return why
    if state.cluster is not None and state.cluster.is_paused:
        return f"reconciliation of cluster {desired.cluster}, which has the role, is paused"
    if state.cluster is not None and (why := why_no_sql(state.cluster)) is not None:
        return why
    if live is None:
        return f"{desired.web.name} is not in the swarm"
    if desired.url_secret.name not in {file.name for file in live.value.secrets}:
        return f"{desired.web.name} does not use the new one yet"
    if not is_at_rest(state, live):
        update = live.update_state or "begins"
        return f"swarm has not replaced all of its replicas (update {update})"
    running = list(state.swarm.running_tasks(live.id))
    possible = list(state.swarm.possible_tasks(live.id))
    if len(running) < live.value.replicas or len(possible) > len(running):
        return "not every replica is known to run, and one that is lost may come back"
    return why_dump_uses_it(state)


def why_dump_uses_it(state: AppState) -> str | None:
    """Reason why a dump may still use another password than the file's; None if none does."""
    for job in dump_jobs(state):
        is_former = state.desired.url_secret.name not in {f.name for f in job.value.secrets}
        if is_former and any(state.swarm.possible_tasks(job.id)):
            return f"{job.value.name} may be dumping with it"
    return None


def retirement(state: AppState, role: Role) -> AlterRole:
    assert state.cluster is not None, "its catalog is known"  # noqa: S101 (an invariant)
    path = f"roles[{role.name}]"
    wanted = DesiredRole(role.name, login=False)
    return AlterRole(
        **sql_target(state.cluster),
        role=dataclasses.replace(wanted, member_of=None),
        fields=("login", "no_password"),
        reason=f"role {role.name}: no session uses it and the file names another password, so it "
        "is kept without login and password",
        changes=(
            FieldChange(f"{path}.login", "true", "false"),
            FieldChange(f"{path}.password", HIDDEN, "(absent)"),
        ),
    )


def format_sessions(sessions: int) -> str:
    return "1 session" if sessions == 1 else f"{sessions} sessions"
