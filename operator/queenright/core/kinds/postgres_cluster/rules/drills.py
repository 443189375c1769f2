"""Rule for drills: create the job that is due, wait for it, then remove it with its data.

There is one job at a time, by one name, and none beside a base backup. What it has proven, or why
it failed, is noted in the state config (``rules.configs``) before the job goes.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import AnyAction, CreateService, RemoveService
from queenright.core.kinds.postgres_cluster.backup.run import (
    BackupRun,
    again_at,
    backup_jobs,
    due_since,
)
from queenright.core.kinds.postgres_cluster.canary.canary import DATABASE
from queenright.core.kinds.postgres_cluster.desired.drill import (
    NODE_VARIABLE,
    DrillPlan,
    DrillTask,
    drill_job,
    drill_name,
    why_no_drill,
)
from queenright.core.kinds.postgres_cluster.drill.run import (
    drill_again_at,
    drill_due_since,
    drill_jobs,
    drill_run,
    due_drill_note,
    plan_of,
    why_drill_due,
)
from queenright.core.kinds.postgres_cluster.drill.summary import failure_text, figures_text
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.manifest.moments import format_moment
from queenright.core.observed import Archiving, Known, LiveService, NotAsked
from queenright.core.planning.plan import Hold
from queenright.core.planning.preflight import describe_node


def plan_drills(state: ClusterState) -> Iterator[AnyAction | Hold]:
    plan, runs = plan_of(state), [drill_run(state, live) for live in drill_jobs(state)]
    for run in runs:
        yield from after_drill(state, plan, run)
    if plan is None or not state.is_bootstrapped:
        return
    note = due_drill_note(state)
    if note.failures:
        again = None if runs else drill_again_at(state)
        reason = failure_text(note)
        yield Hold(f"{drill_key(state)}/failed", reason, again, wants_attention=True)
    if not runs:
        yield from begin_drill(state, plan)


def drill_key(state: ClusterState) -> str:
    return f"backup/{state.desired.name}/drill"


def after_drill(
    state: ClusterState, plan: DrillPlan | None, run: BackupRun
) -> Iterator[AnyAction | Hold]:
    """The next step of a job that is there."""
    live, is_noted, note = run.live, state.drill_note.job == run.live.id, state.drill_note
    if plan is None:
        reason = f"{live.value.name} is there, and the file has no spec.backup.drill any more"
        yield RemoveService(live.id, live.value.name, reason=reason)
    elif run.state == "running":
        since = format_moment(live.created_at.replace(microsecond=0))
        node = live.value.environment.get(NODE_VARIABLE, "") or plan.node
        why = why_no_node(state, node)
        lost = f"; {why}, so that it may not end: bring the node back" if why else run.why
        reason = f"backup drill: runs on {node} since {since}{lost}"
        yield Hold(drill_key(state), reason, None, bool(why), is_informational=True)
    elif run.state == "done" and is_noted and not note.failures:
        reason = f"the restore proved its backup: {figures_text(note)}"
        yield RemoveService(live.id, live.value.name, reason=reason)
    elif run.state in {"done", "failed"} and is_noted:
        reason = f"the restore failed ({note.why}); its data go with it"
        yield RemoveService(live.id, live.value.name, reason=reason)


def begin_drill(state: ClusterState, plan: DrillPlan) -> Iterator[AnyAction | Hold]:
    """The job, or why none is begun now."""
    due, again, key = drill_due_since(state), drill_again_at(state), drill_key(state)
    if due is None or (again is not None and state.now < again):
        return
    if why := why_no_node(state, plan.node):
        reason = (
            f"backup drill: {why_drill_due(state)}, and can't begin ({why}); bring the node back, "
            "or name another one in spec.backup.drill.node"
        )
        yield Hold(key, reason, None, wants_attention=True)
        return
    found = leaders_part(state)
    why = why_not_yet(state) or (found if isinstance(found, str) else "")
    if isinstance(found, str) or why:
        is_blind = isinstance(state.archiving, NotAsked)
        reason = f"backup drill: {why_drill_due(state)}, and waits ({why})"
        yield Hold(key, reason, None, is_informational=is_blind)
        return
    live, archived = found
    if state.swarm.service(drill_name(state.desired.name)) is not None:
        reason = f"backup drill: service {drill_name(state.desired.name)} is not ours; remove it"
        yield Hold(key, reason, None, wants_attention=True)
        return
    canary = DATABASE if state.desired.policy.canary.enabled else ""
    task = DrillTask(
        due, archived.at, archived.system, state.backup_note.id, archived.last_wal, canary
    )
    job = drill_job(plan, state.desired.name, live.value, task)
    yield CreateService(job, reason=f"backup drill on {plan.node}, {why_drill_due(state)}")


def why_not_yet(state: ClusterState) -> str:
    """Reason in the cluster's backups for which no drill may begin now; empty where one may."""
    if any(backup_jobs(state)):
        return "the job of a base backup is there"
    again = again_at(state)
    if due_since(state) is not None and (again is None or state.now >= again):
        return "a base backup is due, and comes first"
    return "" if state.backup_note.newest is not None else "there is no base backup yet"


def leaders_part(state: ClusterState) -> tuple[LiveService, Archiving] | str:
    """The leader's service and its archiving; or why these are not known."""
    leader = state.leader
    live = state.swarm.service(leader.service.name) if leader is not None else None
    if live is None:
        return "no single member proves the leader lock"
    if why := why_no_drill(live.value):
        return why
    match state.archiving:
        case Known(found) if not found.is_on or not found.system:
            return "the leader archives no WAL yet"
        case Known(found):
            return live, found
        case unknown:
            return f"how far the archive has come is not known ({unknown.why})"


def why_no_node(state: ClusterState, name: str) -> str:
    """Reason why nothing starts on a node now; empty where it does."""
    node = next((node for node in state.swarm.nodes if node.name == name), None)
    if node is None:
        return f"the swarm has no node {name}"
    if not node.is_ready:
        return f"node {name} is {describe_node(node)}"
    return f"node {name} is in maintenance" if name in state.maintained else ""
