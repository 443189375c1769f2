"""Leaves out, when an operator begins to act, whoever did not answer its watches.

Its lease comes after a fault more often than not, and a member or a replica on the lost node would
keep its first action for the time limit of a question. They are unknown then, as they are to a look
that asks and waits in vain. Whoever answers a watch meanwhile is asked again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import anyio

from queenright.core.observed import Unknown

LEFT_OUT_S = 4.0
"""Longer than the limits of questions (2 s for members, 3 s for replicas), so that the watches have
asked again by the end of it."""
SILENT = Unknown("did not answer a moment ago")


class Watch(Protocol):
    """A watch of members or replicas."""

    def is_silent(self, name: str) -> bool:
        """Return True for a member's service or a replica's task that did not answer the last
        question."""
        ...


def leaving_out(*watches: Watch) -> Callable[[str], bool]:
    """Return a test for those that are not asked now; from ``LEFT_OUT_S`` on, there are none."""
    until_s = anyio.current_time() + LEFT_OUT_S

    def is_left_out(name: str) -> bool:
        return anyio.current_time() < until_s and any(watch.is_silent(name) for watch in watches)

    return is_left_out
