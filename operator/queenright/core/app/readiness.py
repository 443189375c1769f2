"""A replica's answer on ``/readyz``: whether it can serve, its database too (spec: notes-app §4).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Readiness:
    """One replica's answer. ``status`` is HTTP's (200, 503), 0 where it refused the connection;
    ``reason`` is its own word for not being ready, on one line."""

    status: int
    reason: str = ""

    @property
    def is_ready(self) -> bool:
        return self.status == 200
