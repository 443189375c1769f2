"""Limits of one connection, and of the connections of an address and of the replica."""

from collections import Counter
from dataclasses import dataclass, field

from notes.http.problems import Problem


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a connection, in bytes and seconds."""

    head_bytes: int = 32 * 1024
    head_fields: int = 200
    head_s: float = 15.0
    idle_s: int = 75
    crowded_idle_s: int = 5  # when three quarters of the connections are in use
    bytes_per_s: int = 1024
    grace_s: float = 30.0  # without a byte; a quick client earns as much again
    unread_bytes: int = 8 * 1024 * 1024  # of a request that has already been answered
    linger_s: float = 2.0
    tick_s: float = 1.0
    connections: int = 4096
    per_address: int | None = 1024  # None behind a proxy: all connections have its address


@dataclass(slots=True)
class Crowd:
    """The connections of one replica."""

    limits: Limits
    total: int = 0
    by_address: Counter[str] = field(default_factory=Counter)

    @property
    def is_crowded(self) -> bool:
        return self.total > self.limits.connections * 3 // 4

    def enter(self, address: str) -> Problem | None:
        """Counts a connection. Returns the problem if there are too many, else None."""
        self.total += 1
        self.by_address[address] += 1
        most = self.limits.per_address
        if most is not None and self.by_address[address] > most:
            return Problem(429, f"There are {most} connections from this address already.")
        if self.total > self.limits.connections:
            return Problem(503, "There are too many connections; try again in a moment.")
        return None

    def leave(self, address: str) -> None:
        self.total -= 1
        self.by_address[address] -= 1
        if self.by_address[address] <= 0:
            del self.by_address[address]
