"""One record's reasons in words: its edit or command, rule, disruption, outcome and write gap.

Pure: each from one record alone, and "not recorded" where it has none.
"""

from __future__ import annotations

from dataclasses import dataclass

from queenright.core.audit.reading import Step

NO_RULE = "not recorded"


@dataclass(frozen=True, slots=True)
class Why:
    """One side of an explanation: its name, and a sentence."""

    about: str
    text: str


def causes(step: Step) -> list[Why]:
    """Return the edit with its place, or the command, and the event that began the pass."""
    found = [Why("Edit", edit_text(step, place)) for place in range(len(step.edits))]
    found += more(step.more_edits, "Edit")
    if not found and step.file:
        found = [Why("Edit", f"{step.file}:{step.line}")]
    match step.trigger:
        case "command":
            found.append(Why("Command", step.detail or "not recorded"))
        case "file":
            found.append(Why("Pass", "began with the edit"))
            if not step.edits and not step.file:
                found[-1] = Why("Pass", f"began with a file: {step.detail}")
        case "start":
            found.append(Why("Pass", "began with the operator's start"))
        case "timer":
            found.append(Why("Pass", "began by the timer"))
        case "docker":
            found.append(Why("Pass", f"began with Docker's event: {step.detail.strip()}"))
        case "member":
            found.append(Why("Pass", f"began with a change in: {step.detail}"))
        case _:
            found.append(Why("Pass", "its begin is not recorded"))
    return found


def edit_text(step: Step, place: int) -> str:
    edit = step.edits[place]
    other = f" (of {edit.document})" if edit.document and edit.document != step.cluster else ""
    return f"{edit.file}:{edit.line}: {edit}{other}"


def more(count: int, about: str) -> list[Why]:
    return [Why(about, f"and {count} more")] if count > 0 else []


def rule_text(step: Step) -> str:
    if step.rule:
        return step.rule
    return "none: a command asked for it" if step.trigger == "command" else NO_RULE


def disrupted_text(step: Step) -> str:
    return f"{step.disturbs}: its task or its role" if step.disturbs else "no service"


def outcome_word(step: Step) -> str:
    return step.outcome or ("no outcome" if step.phase == "intent" else step.phase)


def outcome_text(step: Step) -> str:
    took = f" after {step.duration_ms:.0f} ms" if step.duration_ms is not None else ""
    match step.outcome:
        case "done":
            return f"done{took}"
        case "conflict":
            return f"conflict{took}: another writer was first ({step.error})"
        case "failed":
            again = "; it may end by itself, and is tried again" if step.is_transient else ""
            return f"failed{took}: {step.error}{again}"
        case _:
            return "no outcome is recorded: the operator ended between the two, or it goes on"


def gap_text(measured: Step | None) -> str:
    if measured is None or measured.write_gap_ms is None:
        return "how long they waited is not recorded (the canary measures it: canary.enabled)"
    rows = "unknown" if measured.lost_rows is None else str(measured.lost_rows)
    return f"no write for {measured.write_gap_ms} ms; acknowledged rows lost: {rows}"
