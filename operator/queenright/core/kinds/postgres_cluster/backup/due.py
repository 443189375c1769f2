"""When a job of backups is due, and when a failed one is begun again: base backups and drills.

Pure: decides from moments alone. All of them are in UTC.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from queenright.core.manifest.cron import read_cron
from queenright.core.manifest.moments import format_moment

MOST_DOUBLINGS = 10


def open_since(asked: datetime | None, newest: datetime | None) -> datetime | None:
    """Return the moment of a request, if none was made since ``newest``; None otherwise."""
    is_open = asked is not None and (newest is None or newest < asked)
    return asked if is_open else None


def last_due(schedule: str, newest: datetime | None, now: datetime) -> datetime | None:
    """Return the last moment of a schedule, if none was made since; None where none is due."""
    last = read_cron(schedule).last(now)
    if newest is None:
        return last or now.replace(second=0, microsecond=0)
    return last if last is not None and newest < last else None


def after_failures(
    failed_at: datetime, failures: int, first_wait: timedelta, longest_wait: timedelta
) -> datetime:
    """Return the moment of the next try: each failure doubles the wait."""
    wait: timedelta = min(first_wait * 2 ** min(failures - 1, MOST_DOUBLINGS), longest_wait)
    return failed_at + wait


def due_text(asked: datetime | None, due: datetime | None, newest: datetime | None) -> str:
    """Return the reason for one that is due, in words."""
    if asked is not None:
        return f"requested at {format_moment(asked.replace(microsecond=0))}"
    if due is None or newest is None:
        return "the first is due"
    return f"due since {format_moment(due)}"
