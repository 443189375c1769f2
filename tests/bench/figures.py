"""Print figures in a common form."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def spread(values: Sequence[float], unit: str, digits: int = 1) -> str:
    """``p50 24.1 s, max 25.0 s over 3``."""
    middle = statistics.median(values)
    return f"p50 {middle:.{digits}f} {unit}, max {max(values):.{digits}f} {unit} over {len(values)}"
