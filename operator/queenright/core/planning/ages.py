"""Ages of stamps, safe against jumps of the clock that wrote them.

``seen`` is the time for which this process has seen the object in its present state, by a
monotonic clock (a number has seconds); None for a command that looks once and has only the stamp.
After a jump both answers may be wrong, but never for longer than the wait that they decide.
"""

from __future__ import annotations

from datetime import datetime, timedelta

CLOCKS_DIFFER = timedelta(seconds=10)
"""A stamp from further in the future comes from another clock, or from before a jump."""


def certain_age(stamp: datetime, now: datetime, seen: timedelta | float | None) -> timedelta:
    """Return the least certain age, for steps that must not come too early."""
    if seen is None:
        return now - stamp
    return seen if isinstance(seen, timedelta) else timedelta(seconds=seen)


def likely_age(stamp: datetime, now: datetime, seen_s: float | None) -> timedelta:
    """Return the greater of the age by the stamp and the age by observation, for waits that must
    end even if the clock was set back."""
    return max(now - stamp, timedelta(seconds=seen_s or 0.0))
