"""The last proven restore and the failures since, in words."""

from __future__ import annotations

from datetime import datetime, timedelta

from queenright.core.kinds.postgres_cluster.desired.drill import DrillPlan
from queenright.core.kinds.postgres_cluster.drill.note import DrillNote
from queenright.core.manifest.cron import read_cron
from queenright.core.manifest.moments import format_moment

_UNITS = ((timedelta(days=1), "days"), (timedelta(hours=1), "h"), (timedelta(minutes=1), "min"))
_SIZES = ((1 << 40, "TB"), (1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB"))


def drill_text(
    plan: DrillPlan, note: DrillNote, now: datetime, asked: datetime | None = None
) -> str:
    """Return the last proven restore with its figures, and when the next one is due; ``asked`` is
    the moment of a person's request that no drill has answered."""
    following = read_cron(plan.schedule).next(now) if plan.schedule else None
    due = f"the next is due at {format_moment(following)}" if following else "none is scheduled"
    if asked is not None:
        due = f"one was requested at {format_moment(asked.replace(microsecond=0))}"
    if note.at is None:
        return f"no restore has proven a backup yet; {due}"
    ago = rounded(now - note.at)
    return f"last proven restore: {ago} ago, {figures_text(note)}; {due}"


def figures_text(note: DrillNote) -> str:
    """Return the recovery time and the recovery point of a drill, with its backup."""
    took = rounded(timedelta(seconds=note.took_s))
    point = note.point
    end = (
        f"to {rounded(point)} before the drill"
        if point is not None
        else "with no commit since the backup"
    )
    return f"{rounded_size(note.size)} in {took}, {end} (base backup {note.backup} on {note.node})"


def failure_text(note: DrillNote) -> str:
    """The hold's words for a drill that failed."""
    times = f" {note.failures} times in a row" if note.failures > 1 else ""
    proven = "no restore has proven a backup yet"
    if note.at is not None:
        proven = f"the last proven restore is of {format_moment(note.at.replace(microsecond=0))}"
    return (
        f"backup drill: the restore failed{times} ({note.why}); {proven}. See that "
        "the cause is gone, or make another base backup, and run `queenright backup verify`"
    )


def rounded(length: timedelta) -> str:
    """Return a length of time in its largest unit of which there are two: `6 min`, `2 days`."""
    for unit, word in _UNITS:
        if length >= 2 * unit:
            return f"{length // unit} {word}"
    return f"{max(0, round(length.total_seconds()))} s"


def rounded_size(size: int) -> str:
    for unit, word in _SIZES:
        if size >= unit:
            amount = size / unit
            return f"{amount:.1f} {word}" if amount < 10 else f"{amount:.0f} {word}"
    return f"{size} B"
