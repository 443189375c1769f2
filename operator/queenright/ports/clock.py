"""Wall-clock time. Waiting is the event loop's own, which simulation replaces whole."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """The present moment, in UTC, timezone-aware."""
        ...
