"""Plans, holds and rows as text blocks and as JSON, shared by ``plan`` and ``status``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from queenright.cli.console import Output
from queenright.cli.read_only import Written
from queenright.core.actions import AnyAction
from queenright.core.audit.chain import stamp
from queenright.core.audit.record import shown_changes
from queenright.core.planning.lease import StoredLease
from queenright.core.planning.plan import Hold, Plan, Refusal
from queenright.core.planning.status import Block, Lines, Status, Table

STEP = 2


def show_plan(out: Output, noun: str, plan: Plan, refusal: Refusal | None) -> None:
    """The plan of a document: what, why, whom it disrupts, field by field; then what is held.
    ``noun`` is the word for its kind."""
    out.heading(f"{noun.capitalize()} {plan.cluster}", plan_summary(plan, refusal))
    if refusal:
        out.line(f"refused by {refusal.guard}: {refusal.reason}", style="bold yellow", indent=STEP)
    for number, action in enumerate(plan.actions, start=1):
        show_action(out, number, action)
    show_holds(out, plan.held)
    show_notes(out, plan.notes, indent=STEP)


def plan_summary(plan: Plan, refusal: Refusal | None) -> str:
    if plan.is_converged:
        return "nothing to do"
    done = "refused" if refusal else "to do now"
    parts = [f"{len(plan.actions)} {done}" if plan.actions else "nothing to do now"]
    if plan.held:
        parts.append(f"{len(plan.held)} held")
    return f"{', '.join(parts)} (plan {plan.id})"


def show_action(out: Output, number: int, action: AnyAction) -> None:
    out.line(f"{number}. {action.key}", style="bold", indent=STEP)
    inner = STEP + 3
    out.line(f"because {action.reason}", indent=inner)
    for change in shown_changes(action.changes):
        out.line(f"{change['path']}: {change['old']} -> {change['new']}", indent=inner)
    if action.disrupts:
        out.line(f"disrupts {action.disrupts}: restarts its task", style="yellow", indent=inner)


def lease_line(stored: StoredLease) -> str:
    """Return which operator acts, as the lease says."""
    if not stored.lease.process:
        return f"none acts: the one on {stored.lease.host} gave its lease up"
    return f"acts on {stored.lease.host}, by its lease of {seconds_of(stored.written_at)}"


def lease_json(stored: StoredLease | None) -> dict[str, str] | None:
    if stored is None:
        return None
    acting = stored.lease.host if stored.lease.process else ""
    return {"acts_on": acting, "term": stored.lease.term, "renewed_at": stored.written_at}


def seconds_of(at: str) -> str:
    """Return Docker's timestamp to the second."""
    return f"{at.partition('.')[0].removesuffix('Z')}Z"


def show_holds(out: Output, holds: Sequence[Hold]) -> None:
    if not holds:
        return
    out.line("Held", style="bold", indent=STEP)
    for hold in holds:
        out.line(
            f"- {hold.key}: {hold.reason}{hold_remark(hold)}", indent=STEP, style=hold_style(hold)
        )


def show_notes(out: Output, notes: Sequence[Hold], indent: int = 0) -> None:
    """Show informational holds, a line each."""
    if not notes:
        return
    if not indent:
        out.blank()
    out.line("Notes", style="bold", indent=indent)
    for note in notes:
        out.line(f"- {note.key}: {note.reason}", indent=STEP)


def hold_style(hold: Hold) -> str:
    return "yellow" if hold.wants_attention else ""


def hold_remark(hold: Hold) -> str:
    remark = f" (next check at {stamp(hold.recheck_at)})" if hold.recheck_at else ""
    return remark + (" (needs you)" if hold.wants_attention else "")


def show_status(out: Output, noun: str, status: Status, refusal: Refusal | None) -> None:
    """Show one document's status, block by block, then the actions and the holds."""
    out.heading(f"{noun.capitalize()} {status.name}", status.summary)
    shown = [block for block in status.blocks if is_shown(block)]
    for number, block in enumerate(shown):
        if number:
            out.blank()
        if isinstance(block, Table):
            out.table(block.columns, block.rows)
        else:
            show_lines(out, block)
    if status.remarks:
        out.blank()
    for remark in status.remarks:
        out.line(f"- {remark}", style="yellow")
    show_next(out, status, refusal)


def is_shown(block: Block) -> bool:
    return bool(block.rows if isinstance(block, Table) else block.lines)


def show_next(out: Output, status: Status, refusal: Refusal | None) -> None:
    """Show a refusal, the actions, and the holds."""
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
    show_notes(out, status.notes)


def show_lines(out: Output, block: Lines) -> None:
    """Show each line's subject and state, in two columns."""
    width = max(block.width, *(len(line.about) for line in block.lines))
    for line in block.lines:
        style = "yellow" if line.wants_attention else ""
        out.line(f"{line.about.ljust(width)}  {line.text}", style=style)


def show_problems(out: Output, written: Written) -> None:
    """Show the problems of the files, and the documents that stay in force in the meantime."""
    if not written.problems:
        return
    out.heading("Files", "" if written.is_valid else in_force(written))
    for problem in written.problems:
        style = "red" if problem.severity == "error" else "yellow"
        out.line(str(problem), style=style, indent=STEP)


def in_force(written: Written) -> str:
    if written.in_force_since is None:
        return "not valid, and there is no last good state here"
    return f"not valid; the last good state, from {stamp(written.in_force_since)}, stays in force"


def plan_json(plan: Plan, refusal: Refusal | None) -> dict[str, object]:
    return {
        "cluster": plan.cluster,
        "plan_id": plan.id,
        "actions": [action_json(action) for action in plan.actions],
        "holds": [hold_json(hold) for hold in plan.held],
        "notes": [{"key": note.key, "reason": note.reason} for note in plan.notes],
        "refusal": {"guard": refusal.guard, "reason": refusal.reason} if refusal else None,
    }


def status_json(status: Status, refusal: Refusal | None) -> dict[str, object]:
    return {
        "name": status.name,
        "converged": status.plan.is_converged if status.is_compared else None,
        **status.details(),
        "plan": plan_json(status.plan, refusal),
    }


def action_json(action: AnyAction) -> dict[str, object]:
    kind, _, target = action.key.partition("/")
    return {
        "kind": kind,
        "key": action.key,
        "target": target,
        "reason": action.reason,
        "changes": shown_changes(action.changes),
        "disturbs": action.disrupts or None,
    }


def hold_json(hold: Hold) -> dict[str, object]:
    return {
        "key": hold.key,
        "reason": hold.reason,
        "recheck_at": stamp(hold.recheck_at) if hold.recheck_at else None,
        "wants_attention": hold.wants_attention,
    }


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
