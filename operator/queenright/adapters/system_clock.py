"""The clocks of this machine."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """The real clock, the only place that reads the time of day."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251 (this is the clock that the others go through)

    def monotonic_s(self) -> float:
        return time.monotonic()


def boot_time_s() -> float:
    """Return seconds since the machine's boot, those in which it was asleep among them."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
