"""The time of day and a monotonic clock. Waits use the event loop, which the simulation
replaces."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """Return the present moment in UTC, with its zone. It may jump by hours, either way."""
        ...

    def monotonic_s(self) -> float:
        """Return seconds since some moment before this process began; they never jump."""
        ...
