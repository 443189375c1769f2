"""A forecast as text blocks and as JSON: ``queenright plan --forecast``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path

from queenright.cli.audit_trail import known_records
from queenright.cli.console import Output
from queenright.cli.formatting import (
    STEP,
    action_json,
    hold_json,
    show_action,
    show_notes,
)
from queenright.core.actions import AnyAction, Failover, LabelConfig, Switchover
from queenright.core.audit.lines import records_to_show
from queenright.core.audit.reading import read_step
from queenright.core.forecast.figures import Figure, Figures, History
from queenright.core.forecast.way import Forecast, Step, Wait, Way
from queenright.core.kinds.postgres_cluster.status.leader_records import leader_changes
from queenright.core.manifest.document import Document
from queenright.core.manifest.quantities import format_duration
from queenright.core.planning.plan import Refusal
from queenright.engine.planning import PlannedPass

MOST_RECORDS = 50_000
"""The number of records of the trail that are read, counted from the newest."""
INNER = STEP + 3
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")


def history_of(state_dir: Path | None) -> History:
    """Return what the trail has of steps that were done; nothing where it can't be read."""
    records = islice(known_records(state_dir), MOST_RECORDS)
    steps = [read_step(record) for record in records_to_show(records)]
    return History(steps, leader_changes(steps))


def ways_of(found: PlannedPass, documents: Sequence[Document], now: datetime) -> tuple[Way, ...]:
    """Return the ways from one observation. A document that the operator can't plan now stays as
    it is: a fault, or an object that can't be read."""
    stopped = {
        view.key: view.plan
        for view in found.views
        if view.document is not None and view.desired is None
    }
    return Forecast(documents, found.observed, now, stopped=stopped).ways()


def kind_of_action(action: AnyAction) -> str:
    return action.key.partition("/")[0]


def without_moments(action: AnyAction) -> AnyAction:
    """Return the action without the operator's own annotations that have a moment in them: it would
    be the model's."""
    if not isinstance(action, LabelConfig):
        return action
    kept = tuple(change for change in action.changes if not MOMENT.search(change.new))
    return replace(action, changes=kept)


def moves_leader(action: AnyAction) -> bool:
    return isinstance(action, Switchover | Failover)


def show_way(out: Output, noun: str, way: Way, history: History) -> None:
    """Show one document's way: steps and waits, then what stops it."""
    out.heading(f"{noun.capitalize()} {way.key.name}", way_summary(way))
    for step in way.steps:
        if isinstance(step, Wait):
            out.line(wait_text(step), indent=STEP)
            continue
        show_action(out, step.number, without_moments(step.action))
        for text in figure_lines(step, history.of(way.key.name, kind_of_action(step.action))):
            out.line(text, indent=INNER)
    show_end(out, way)
    show_notes(out, way.notes, indent=STEP)


def show_end(out: Output, way: Way) -> None:
    if way.ends:
        out.line(f"The forecast ends here: {way.ends}", style="bold yellow", indent=STEP)
    if way.refusal:
        out.line(refusal_text(way.refusal), style="bold yellow", indent=STEP)
    if way.stops and not way.ends:
        out.line("What stops it", style="bold", indent=STEP)
        for hold in way.stops:
            style = "yellow" if hold.wants_attention else ""
            needs = " (needs you)" if hold.wants_attention else ""
            out.line(f"- {hold.key}: {hold.reason}{needs}", indent=STEP, style=style)
    elif way.is_whole and way.steps:
        out.line("Then nothing is left to do.", indent=STEP)


def refusal_text(refusal: Refusal) -> str:
    return f"Refused by {refusal.guard}: {refusal.reason}"


def way_summary(way: Way) -> str:
    number = len(way.actions)
    disrupting = sum(bool(step.action.disrupts) for step in way.actions)
    if not number:
        return "nothing to do" if way.is_whole else "no step, and not as the file says"
    text = f"{number} step{'s' if number > 1 else ''}, {disrupting} of them disrupting"
    return text if way.is_whole else f"{text}, and then not as the file says"


def wait_text(wait: Wait) -> str:
    return f"-  wait, for at most {format_duration(seconds(wait.longest))}: {wait.hold.reason}"


def seconds(time: timedelta) -> int:
    return round(time.total_seconds())


def figure_lines(step: Step, figures: Figures) -> Sequence[str]:
    """Return the lines about data, duration and write gap of one step."""
    lines: list[str] = []
    if step.copies_from:
        lines.append(f"copies the whole database from {step.copies_from} (its size is not known)")
    if step.action.disrupts or step.copies_from or figures.duration:
        lines.append(f"takes {taken(figures)}")
    if moves_leader(step.action):
        lines.append(f"no writes for {told(figures.write_gap)}")
    return lines


def taken(figures: Figures) -> str:
    text = told(figures.duration)
    if figures.until_next is not None:
        text += f"; the next step began {told(figures.until_next)} later"
    return text


def told(figure: Figure | None) -> str:
    """Return a median in words."""
    if figure is None:
        return "an unknown time (the trail has none)"
    times = f"median of {figure.records}" if figure.records > 1 else "once before"
    whole = figure.median_ms >= 10_000
    shown = f"{figure.median_ms / 1000:.0f} s" if whole else f"{figure.median_ms} ms"
    return f"{shown} ({times})"


def way_json(way: Way, history: History) -> dict[str, object]:
    """Return one document's way."""
    return {
        "cluster": way.key.name,
        "converges": way.is_whole,
        "steps": [
            step_json(step, history.of(way.key.name, kind_of_action(step.action)))
            if isinstance(step, Step)
            else wait_json(step)
            for step in way.steps
        ],
        "stops": [hold_json(hold) for hold in way.stops],
        "ends": way.ends or None,
        "refusal": (
            {"guard": way.refusal.guard, "reason": way.refusal.reason} if way.refusal else None
        ),
        "notes": [{"key": note.key, "reason": note.reason} for note in way.notes],
    }


def wait_json(wait: Wait) -> dict[str, object]:
    return {
        "wait": {
            "key": wait.hold.key,
            "reason": wait.hold.reason,
            "longest_s": seconds(wait.longest),
        }
    }


def step_json(step: Step, figures: Figures) -> dict[str, object]:
    gap = figures.write_gap if moves_leader(step.action) else None
    return {
        "number": step.number,
        "pass": step.round,
        **action_json(without_moments(step.action)),
        "duration": figure_json(figures.duration),
        "until_next": figure_json(figures.until_next),
        "write_gap": figure_json(gap),
        "moves_leader": moves_leader(step.action),
        "copies": {"from": step.copies_from, "bytes": None} if step.copies_from else None,
    }


def figure_json(figure: Figure | None) -> dict[str, int] | None:
    if figure is None:
        return None
    return {"median_ms": figure.median_ms, "records": figure.records}
