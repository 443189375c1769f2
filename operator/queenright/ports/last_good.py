"""Where the last good desired state outlives the operator's process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class LastGood(Protocol):
    """Texts by file name. Losing them is harmless: the operator then waits for a valid file."""

    def load(self) -> Mapping[str, str]:
        """The texts that were last saved; empty when there are none that can be read."""
        ...

    def save(self, files: Mapping[str, str]) -> None:
        """Keep these texts; a failure is logged, never raised."""
        ...
