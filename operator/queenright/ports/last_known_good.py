"""The port that keeps the last good desired state across restarts of the operator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class LastGood(Protocol):
    """Texts by file name. Losing them is harmless: the operator then waits for a valid file."""

    def load(self) -> Mapping[str, str]:
        """Return the texts that were last saved; empty when there are none that can be read."""
        ...

    def save(self, files: Mapping[str, str]) -> None:
        """Save these texts; a failure is logged, never raised."""
        ...
