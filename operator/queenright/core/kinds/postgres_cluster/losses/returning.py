"""Reason to leave a member alone that answers and does not stream yet.

A former leader that comes back is rewound by Patroni, which its REST API does not tell. A restart
breaks the rewind off: with an image from before 0.2.0 PostgreSQL may run afterwards on pages of two
timelines, and with a later one the data are copied again, which takes far longer.
"""

from __future__ import annotations

from datetime import timedelta

from queenright.core.observed import MemberStatus

RECOVERS = timedelta(seconds=60)
"""The time in which Patroni starts PostgreSQL again, rewinds it, or says that it can't."""


def why_returning(name: str, status: MemberStatus, seen: timedelta | None) -> str | None:
    """Return why this member is not restarted now; None where a restart breaks no rewind off.

    ``seen`` is the age of ``joining_key``; None where this process has not seen it yet.
    """
    if not status.is_unserving or (seen is not None and seen >= RECOVERS):
        return None
    return (
        f"{name} is {status.state}, not streaming yet (it has a minute: a restart would break a "
        "rewind off)"
    )
