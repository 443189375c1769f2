"""The wall clock of this machine."""

from __future__ import annotations

from datetime import UTC, datetime


class SystemClock:
    """The only place that reads the time of day."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251 (this is the clock that the others go through)
