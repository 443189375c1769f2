"""Decides how often a test asks again for what it waits for.

Each question takes processor time from what is waited for, on this machine and in the cluster. So
the pause grows with the wait, which gets longer by a twentieth at most.
"""

from __future__ import annotations

SHARE, LONGEST_S = 20, 0.3
"""The pause as a part of the time waited so far, and its most, unless the least is longer."""


def pause_s(waited_s: float, least_s: float) -> float:
    """Return the seconds until the next question, ``waited_s`` seconds after the first one."""
    return max(least_s, min(LONGEST_S, waited_s / SHARE))
