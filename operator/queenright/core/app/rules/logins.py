"""Passwords that an application no longer uses: their roles are retired once nobody is logged in.

Invariant: a role keeps its password while any replica may use it: until swarm has replaced the last
one, and the server itself counts no session of it. Nothing is dropped, and what the owner owns
stays the owner's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from queenright.core.actions import Action, AlterRole, FieldChange
from queenright.core.app.logins import is_login_of
from queenright.core.app.passage import is_at_rest
from queenright.core.app.situation import AppSituation
from queenright.core.catalog import DesiredRole, Role
from queenright.core.catalog_steps import HIDDEN, sql_target, why_no_sql
from queenright.core.observed import Known
from queenright.core.plan import Hold


def plan_logins(situation: AppSituation) -> Iterator[Action | Hold]:
    for role in former_logins(situation):
        key = f"login/{situation.desired.name}/{role.name}"
        if (why := why_in_use(situation)) is not None:
            yield Hold(key, f"role {role.name}, the former login, stays good: {why}")
        elif role.sessions:
            yield Hold(key, f"role {role.name}, the former login, still has {told(role.sessions)}")
        else:
            yield retirement(situation, role)


def former_logins(situation: AppSituation) -> Iterator[Role]:
    """Roles that logged in for the application, and that neither its file nor another one asks
    for."""
    cluster, own = situation.cluster, situation.desired.catalog
    owner = next((role.name for role in own.roles if not role.login), "")
    if not owner or cluster is None or not isinstance(cluster.catalog, Known):
        return
    wished = cluster.desired.catalog  # of all files
    for role in cluster.catalog.value.roles:
        is_former = is_login_of(role.name, owner) and wished.role(role.name) is None
        if is_former and (role.login or role.has_password):
            yield role


def why_in_use(situation: AppSituation) -> str | None:
    """Why replicas may still use another password than the file's; None when none does."""
    desired, live = situation.desired, situation.web
    if (why := situation.why_no_database()) is not None:
        return why
    if situation.cluster is not None and situation.cluster.is_paused:
        return f"reconciliation of cluster {desired.cluster} is paused, and the role is there"
    if situation.cluster is not None and (why := why_no_sql(situation.cluster)) is not None:
        return why
    if live is None:
        return f"{desired.web.name} is not in the swarm"
    if desired.url_secret.name not in {file.name for file in live.value.secrets}:
        return f"{desired.web.name} does not use the new one yet"
    if not is_at_rest(live, situation.now):
        update = live.update_state or "begins"
        return f"swarm has not replaced all of its replicas (update {update})"
    running = list(situation.swarm.running_tasks(live.id))
    possible = list(situation.swarm.possible_tasks(live.id))
    if len(running) < live.value.replicas or len(possible) > len(running):
        return "not every replica is known to run, and one that is lost may come back"
    return None


def retirement(situation: AppSituation, role: Role) -> AlterRole:
    assert situation.cluster is not None, "its catalog is known"  # noqa: S101 (an invariant)
    path = f"roles[{role.name}]"
    wished = DesiredRole(role.name, login=False)
    return AlterRole(
        **sql_target(situation.cluster),
        role=dataclasses.replace(wished, member_of=None),
        fields=("login", "no_password"),
        reason=f"nobody logs in as {role.name} any more, and the file names another password: it "
        "is retired, and kept without one",
        changes=(
            FieldChange(f"{path}.login", "true", "false"),
            FieldChange(f"{path}.password", HIDDEN, "(absent)"),
        ),
    )


def told(sessions: int) -> str:
    return "1 session" if sessions == 1 else f"{sessions} sessions"
