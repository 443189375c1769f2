"""Checks of a container's memory, the same for every kind.

Pure: checks the limit and the reservation against Docker's bounds and against each other.
"""

from collections.abc import Iterator
from typing import Protocol

from queenright.core.manifest.problems import Finding, Path
from queenright.core.manifest.quantities import MEBI, format_size

LEAST_LIMIT = 6 * MEBI
"""The smallest memory limit with which Docker starts a container."""
LEAST_RESERVATION = 4 * MEBI
"""The smallest reservation that swarm accepts; 0 reserves none."""


class HasMemory(Protocol):
    """The memory fields of any container."""

    @property
    def limit_bytes(self) -> int: ...

    @property
    def reservation_bytes(self) -> int: ...


def memory_findings(path: Path, memory: HasMemory) -> Iterator[Finding]:
    """Return the findings for the mapping at ``path``."""
    limit, reservation = (*path, "limit"), (*path, "reservation")
    if memory.limit_bytes < LEAST_LIMIT:
        least = format_size(LEAST_LIMIT)
        yield Finding(limit, f"must be at least {least}, the smallest limit that Docker accepts")
    if memory.reservation_bytes > memory.limit_bytes:
        message = (
            f"{format_size(memory.reservation_bytes)} is more than the limit "
            f"{format_size(memory.limit_bytes)}"
        )
        yield Finding(reservation, message, involves=(limit,))
    if 0 < memory.reservation_bytes < LEAST_RESERVATION:
        least = format_size(LEAST_RESERVATION)
        yield Finding(reservation, f"must be 0, or at least {least}, the least that swarm accepts")
