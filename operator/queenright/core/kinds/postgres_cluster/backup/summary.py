"""The last base backup and the next one, in words for the status."""

from __future__ import annotations

from datetime import datetime

from queenright.core.kinds.postgres_cluster.backup.archiving import LATELY
from queenright.core.kinds.postgres_cluster.backup.note import BackupNote
from queenright.core.kinds.postgres_cluster.desired.base_backup import BackupPlan
from queenright.core.manifest.cron import read_cron
from queenright.core.manifest.moments import format_moment
from queenright.core.manifest.quantities import format_duration, format_size


def base_backup_text(
    plan: BackupPlan, note: BackupNote, now: datetime, asked: datetime | None = None
) -> str:
    """Return the last backup with its age, size and duration, and when the next one is due;
    ``asked`` is the moment of a person's request that no backup has answered."""
    following = read_cron(plan.schedule).next(now) if plan.schedule else None
    due = f"the next is due at {format_moment(following)}" if following else "none is scheduled"
    if asked is not None:
        due = f"one was requested at {format_moment(asked.replace(microsecond=0))}"
    begun = note.begun or note.done
    if begun is None:
        return f"no base backup is known yet; {due}"
    age = round((now - begun).total_seconds())
    when = f"{max(age, 0)} s ago" if now - begun < LATELY else f"at {format_moment(begun)}"
    if note.begun is None or note.ended is None:
        return f"a base backup was made {when}; {due}"
    took = format_duration(max(1.0, (note.ended - note.begun).total_seconds()))
    beside = f"of {note.member} " if note.member else ""
    size = f"{format_size(note.size)} in {took}" if note.size else f"in {took}"
    return f"base backup {note.id} {beside}began {when} ({size}); {due}"
