"""Reads what a job says of itself: what it waits for, its lines, and why it failed."""

from __future__ import annotations

from collections.abc import Sequence

from queenright.core.audit.redaction import redact_text
from queenright.core.observed import Known, LiveService, Observed, Task


def waiting_for(tasks: Sequence[Task], sign: str) -> str:
    """Swarm's state of a job that does not run yet, after this sign; empty for one that runs."""
    task = max(tasks, key=lambda task: task.at, default=None)
    if task is None or task.state == "running":
        return ""
    return f"{sign} {task.state}" + (f" ({task.error})" if task.error else "")


def output_of(observed: Observed, live: LiveService) -> str:
    """The job's output; empty where it is not known."""
    output = observed.outputs.get(live.id)
    return output.value if isinstance(output, Known) else ""


def failure_of(
    observed: Observed,
    live: LiveService,
    task: Task,
    *,
    most_lines: int,
    prefix: str = "",
    longest: int | None = None,
) -> str:
    """The last lines of the job's output without this prefix, or else swarm's error."""
    lines = [line.strip() for line in output_of(observed, live).splitlines() if line.strip()]
    said = "; ".join(lines[-most_lines:]).removeprefix(prefix)
    return redact_text(said)[:longest] if said else task.error or task.state
