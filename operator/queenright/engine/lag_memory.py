"""Each member's lag, once a minute, for an hour: what the page draws.

Invariant: at most one value a minute and member is kept, and none of members that are gone.
"""

from __future__ import annotations

from collections import deque

from queenright.core.observed import Known, Observed

MINUTE_S = 60.0
MINUTES = 60
BYTES_A_MEGABYTE = 1 << 20


class LagMemory:
    def __init__(self) -> None:
        self._lags: dict[str, deque[int | None]] = {}
        self._noted_s: float | None = None

    def note(self, seen: Observed, now_s: float) -> None:
        """Take a pass's observation, unless the last minute has one. A gap between two passes of
        more than a minute is a gap in the values."""
        if self._noted_s is None:
            self._noted_s = now_s - MINUTE_S
        minutes = int((now_s - self._noted_s) / MINUTE_S)
        if minutes < 1 or not isinstance(seen.swarm, Known):
            return
        missed = min(MINUTES, minutes - 1)
        self._noted_s += minutes * MINUTE_S
        self._lags = {
            service: self._lags.get(service) or deque(maxlen=MINUTES) for service in seen.members
        }
        for service, reading in seen.members.items():
            lags = self._lags[service]
            lags.extend([None] * (missed if lags else 0))
            lag = reading.value.lag_bytes if isinstance(reading, Known) else None
            lags.append(None if lag is None else round(lag / BYTES_A_MEGABYTE))

    def of(self, service: str) -> tuple[int | None, ...]:
        """Return the lags in MB, the newest last; nothing for what is no member."""
        return tuple(self._lags.get(service, ()))
