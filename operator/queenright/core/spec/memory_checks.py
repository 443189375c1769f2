"""What is wrong with the memory of a container, of whichever kind.

Decides from limit and reservation: what Docker takes, and whether the one holds the other.
"""

from collections.abc import Iterator
from typing import Protocol

from queenright.core.spec.containers import MEBI
from queenright.core.spec.problems import Finding, Path
from queenright.core.spec.quantities import format_size

LEAST_LIMIT = 6 * MEBI
"""The least that Docker's engine starts a container with."""
LEAST_RESERVATION = 4 * MEBI
"""The least that swarm takes, but for 0, which reserves none."""


class Memory(Protocol):
    """Any container's memory."""

    @property
    def limit_bytes(self) -> int: ...

    @property
    def reservation_bytes(self) -> int: ...


def memory_findings(path: Path, memory: Memory) -> Iterator[Finding]:
    """Findings of the mapping at ``path``."""
    limit, reservation = (*path, "limit"), (*path, "reservation")
    if memory.limit_bytes < LEAST_LIMIT:
        least = format_size(LEAST_LIMIT)
        yield Finding(limit, f"must be at least {least}, the least that Docker takes")
    if memory.reservation_bytes > memory.limit_bytes:
        message = (
            f"{format_size(memory.reservation_bytes)} is more than the limit "
            f"{format_size(memory.limit_bytes)}"
        )
        yield Finding(reservation, message, involves=(limit,))
    if 0 < memory.reservation_bytes < LEAST_RESERVATION:
        least = format_size(LEAST_RESERVATION)
        yield Finding(reservation, f"must be at least {least}, the least that swarm takes, or 0")
