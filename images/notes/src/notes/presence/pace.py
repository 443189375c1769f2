"""Limits how often one person may report where they are. Decides from its arguments alone."""

from uuid import UUID

BURST = 60.0
PER_S = 5.0
KEPT = 10_000


class Pace:
    """The reports left to each person: at most `BURST` reports at once, then `PER_S` a second."""

    def __init__(self) -> None:
        self._left: dict[UUID, tuple[float, float]] = {}

    def admits(self, person: UUID, now: float) -> bool:
        """True if one more report is within the limit."""
        left, at = self._left.pop(person, (BURST, now))
        left = min(BURST, left + (now - at) * PER_S)
        is_admitted = left >= 1
        self._left[person] = (left - 1 if is_admitted else left, now)
        if len(self._left) > KEPT:
            # The person who reported longest ago: what was left to them is full again, or nearly.
            del self._left[next(iter(self._left))]
        return is_admitted
