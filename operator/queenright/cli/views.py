"""Plans, holds and rows as text blocks and as JSON, shared by ``plan`` and ``status``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from queenright.cli.look import Written
from queenright.cli.output import Output
from queenright.core.actions import Action
from queenright.core.app.status import REPLICA_COLUMNS, AppStatus, EdgeRow, ReplicaRow
from queenright.core.audit import shown_changes
from queenright.core.audit_chain import stamp
from queenright.core.plan import Hold, Plan, Refusal
from queenright.core.standing import Line
from queenright.core.status import (
    MEMBER_COLUMNS,
    PROXY_COLUMNS,
    ClusterStatus,
    MemberRow,
    ProxyRow,
)

STEP = 2
CLUSTER, APPLICATION = "Cluster", "Application"


def show_plan(out: Output, plan: Plan, refusal: Refusal | None, kind: str = CLUSTER) -> None:
    """The plan of a cluster or an application: what, why, whom it disturbs, field by field; then
    what is held."""
    out.heading(f"{kind} {plan.cluster}", plan_summary(plan, refusal))
    if refusal:
        out.line(f"refused by {refusal.guard}: {refusal.reason}", style="bold yellow", indent=STEP)
    for number, action in enumerate(plan.actions, start=1):
        show_action(out, number, action)
    show_holds(out, plan.holds)


def plan_summary(plan: Plan, refusal: Refusal | None) -> str:
    if plan.is_converged:
        return "nothing to do"
    done = "refused" if refusal else "to do now"
    parts = [f"{len(plan.actions)} {done}" if plan.actions else "nothing to do now"]
    if plan.holds:
        parts.append(f"{len(plan.holds)} held")
    return f"{', '.join(parts)} (plan {plan.id})"


def show_action(out: Output, number: int, action: Action) -> None:
    out.line(f"{number}. {action.key}", style="bold", indent=STEP)
    inner = STEP + 3
    out.line(f"because {action.reason}", indent=inner)
    for change in shown_changes(action.changes):
        out.line(f"{change['path']}: {change['old']} -> {change['new']}", indent=inner)
    if action.disturbs:
        out.line(f"disturbs {action.disturbs}: its task is restarted", style="yellow", indent=inner)


def show_holds(out: Output, holds: Sequence[Hold]) -> None:
    if not holds:
        return
    out.line("Held", style="bold", indent=STEP)
    for hold in holds:
        out.line(
            f"- {hold.key}: {hold.reason}{hold_remark(hold)}", indent=STEP, style=hold_style(hold)
        )


def hold_style(hold: Hold) -> str:
    return "yellow" if hold.wants_attention else ""


def hold_remark(hold: Hold) -> str:
    remark = f" (looked at again at {stamp(hold.recheck_at)})" if hold.recheck_at else ""
    return remark + (" (needs you)" if hold.wants_attention else "")


def show_cluster(out: Output, status: ClusterStatus, refusal: Refusal | None) -> None:
    """The member table, the proxies, and what is to do or held."""
    out.heading(f"Cluster {status.name}", status.summary)
    if status.members:
        out.table(MEMBER_COLUMNS, [row.cells for row in status.members])
    if status.proxies:
        out.blank()
        out.table(PROXY_COLUMNS, [row.cells for row in status.proxies])
    if status.lines:
        out.blank()
        show_lines(out, status.lines)
    if status.remarks:
        out.blank()
    for remark in status.remarks:
        out.line(f"- {remark}", style="yellow")
    show_next(out, status, refusal)


def show_app(out: Output, status: AppStatus, refusal: Refusal | None) -> None:
    """What runs and where, the replicas, and what is to do or held."""
    out.heading(f"{APPLICATION} {status.name}", status.summary)
    for about, text in (
        ("Image", status.image),
        ("Database", status.database),
        ("Published", ", ".join(status.published)),
        ("Edge", "; ".join(edge.text for edge in status.edges)),
    ):
        if text:
            out.line(f"{about.ljust(9)}  {text}")
    if status.replicas:
        out.blank()
        out.table(REPLICA_COLUMNS, [row.cells for row in status.replicas])
    if status.remarks:
        out.blank()
    for remark in status.remarks:
        out.line(f"- {remark}", style="yellow")
    show_next(out, status, refusal)


def show_next(out: Output, status: ClusterStatus | AppStatus, refusal: Refusal | None) -> None:
    """What a guard refused, what is to do, and what is held."""
    if refusal:
        out.line(f"- refused by {refusal.guard}: {refusal.reason}", style="bold yellow")
    if status.plan.actions:
        out.blank()
        out.line("To do", style="bold")
        for action in status.plan.actions:
            out.line(f"- {action.key}: {action.reason}", indent=STEP)
    if status.holds:
        out.blank()
        out.line("Held", style="bold")
        for hold in status.holds:
            said = f"- {hold.key}: {hold.reason}{hold_remark(hold)}"
            out.line(said, indent=STEP, style=hold_style(hold))


def show_lines(out: Output, lines: Sequence[Line]) -> None:
    """What each line is about, and how it stands, in two columns."""
    width = max(len(line.about) for line in lines)
    for line in lines:
        style = "yellow" if line.wants_attention else ""
        out.line(f"{line.about.ljust(width)}  {line.text}", style=style)


def show_problems(out: Output, written: Written) -> None:
    """What is wrong with the files, and what is in force in the meantime."""
    if not written.problems:
        return
    out.heading("Files", "" if written.is_valid else in_force(written))
    for problem in written.problems:
        style = "red" if problem.severity == "error" else "yellow"
        out.line(str(problem), style=style, indent=STEP)


def in_force(written: Written) -> str:
    if written.in_force_since is None:
        return "not valid, and no last good state is kept here"
    return f"not valid; the last good state, of {stamp(written.in_force_since)}, stays in force"


def plan_json(plan: Plan, refusal: Refusal | None) -> dict[str, object]:
    return {
        "cluster": plan.cluster,
        "plan_id": plan.id,
        "actions": [action_json(action) for action in plan.actions],
        "holds": [hold_json(hold) for hold in plan.holds],
        "refusal": {"guard": refusal.guard, "reason": refusal.reason} if refusal else None,
    }


def action_json(action: Action) -> dict[str, object]:
    kind, _, target = action.key.partition("/")
    return {
        "kind": kind,
        "key": action.key,
        "target": target,
        "reason": action.reason,
        "changes": shown_changes(action.changes),
        "disturbs": action.disturbs or None,
    }


def hold_json(hold: Hold) -> dict[str, object]:
    return {
        "key": hold.key,
        "reason": hold.reason,
        "recheck_at": stamp(hold.recheck_at) if hold.recheck_at else None,
        "wants_attention": hold.wants_attention,
    }


def cluster_json(status: ClusterStatus, refusal: Refusal | None) -> dict[str, object]:
    return {
        "name": status.name,
        "converged": status.plan.is_converged,
        "members": [member_json(row) for row in status.members],
        "proxies": [proxy_json(row) for row in status.proxies],
        "standing": [line_json(line) for line in status.lines],
        "plan": plan_json(status.plan, refusal),
    }


def app_json(status: AppStatus, refusal: Refusal | None) -> dict[str, object]:
    return {
        "name": status.name,
        "converged": status.plan.is_converged,
        "image": status.image or None,
        "database": status.database or None,
        "published": list(status.published),
        "replicas": [replica_json(row) for row in status.replicas],
        "edges": [edge_json(row) for row in status.edges],
        "plan": plan_json(status.plan, refusal),
    }


def edge_json(row: EdgeRow) -> dict[str, object]:
    return {"service": row.service, "runs_on": list(row.nodes), "waits": list(row.waits)}


def replica_json(row: ReplicaRow) -> dict[str, object]:
    return {
        "replica": row.slot,
        "node": row.node or None,
        "task": row.task,
        "ready": row.ready or None,
        "remark": row.remark or None,
    }


def line_json(line: Line) -> dict[str, object]:
    return {
        "about": line.about.lower(),
        "text": line.text,
        "wants_attention": line.wants_attention,
    }


def member_json(row: MemberRow) -> dict[str, object]:
    return {
        "member": row.member,
        "host": row.host,
        "role": row.role or None,
        "state": row.state,
        "tl": row.timeline,
        "lag_mb": row.lag_mb,
        "remark": row.remark or None,
    }


def proxy_json(row: ProxyRow) -> dict[str, object]:
    remark = row.remark or None
    return {"node": row.node, "address": row.address, "task": row.task, "remark": remark}


def problems_json(written: Written) -> Mapping[str, object]:
    since = written.in_force_since
    return {
        "valid": written.is_valid,
        "last_good_state_of": stamp(since) if since else None,
        "problems": [
            {
                "file": problem.file,
                "line": problem.line,
                "field": problem.field,
                "message": problem.message,
                "severity": problem.severity,
            }
            for problem in written.problems
        ],
    }
