"""Archiving of one cluster, judged and in words: by what waits on the leader's disk.

Decides from the leader's answer alone. Invariant: neither a counter of failures nor the age of the
last archived file decides: PostgreSQL's counter leaves some failures out, and an idle database has
nothing to archive.
"""

from __future__ import annotations

from datetime import timedelta

from queenright.core.manifest.moments import format_moment
from queenright.core.manifest.quantities import GIBI, format_size
from queenright.core.observed import Archiving

LONGEST_WAIT = timedelta(minutes=5)
"""A file is archived in about a second. One that waits for longer than this is overdue."""
MOST_WAITING = GIBI
"""WAL that may wait, in bytes, before a person should look, however young it is."""

LATELY = timedelta(hours=1)
"""Up to here the status shows an age, beyond it the moment."""


def is_overdue(found: Archiving) -> bool:
    """Return True if a person should look at why so much WAL waits."""
    return found.waiting_age > LONGEST_WAIT or found.waiting_bytes > MOST_WAITING


def overdue_reason(found: Archiving, member: str, service: str, place: str) -> str:
    """Return the hold's words for WAL that is not archived."""
    since = found.waiting_since
    oldest = f", the oldest since {format_moment(since)}" if since else ""
    cause = (
        f"the last try failed at {format_moment(found.failed_at)}{because(found)}"
        if found.is_failing and found.failed_at is not None
        else "no try has failed"
    )
    return (
        f"backup: {waiting_text(found)} to be archived in {place}{oldest} ({member}: {cause}); "
        f"see docker service logs {service}, which has a line with the cause for each try, and "
        "correct that: PostgreSQL keeps the files until its disk is full, on the replicas too"
    )


def archived_text(found: Archiving, member: str) -> str:
    """Return how far the archive has come, for the status."""
    if found.last_age is None or found.last_at is None:
        text = f"{member} has archived nothing yet"
    else:
        late = f"at {format_moment(found.last_at)}"
        age = f"{found.last_age.total_seconds():.0f} s ago" if found.last_age < LATELY else late
        text = f"{found.last_wal or 'a file'} was archived by {member} {age}"
    if not found.waiting:
        return f"{text}; nothing waits"
    text += f"; {waiting_text(found)}, the oldest for {found.waiting_age.total_seconds():.0f} s"
    return f"{text}; the last try failed{because(found)}" if found.is_failing else text


def because(found: Archiving) -> str:
    return f": {found.why}" if found.why else ""


def waiting_text(found: Archiving) -> str:
    files = "1 file waits" if found.waiting == 1 else f"{found.waiting} files wait"
    size = format_size(found.waiting_bytes)
    return files.replace(" wait", f" ({size}) wait")
