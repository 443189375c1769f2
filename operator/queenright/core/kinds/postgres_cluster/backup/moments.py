"""Moments in the annotations of base backups and drills, as their labels have them.

Invariant: a moment in the future counts as absent, so that no label keeps a job from being made.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from queenright.core.planning.ages import CLOCKS_DIFFER
from queenright.core.swarm.label_values import read_moment


def read_past(
    found: Mapping[Any, object], names: tuple[str, ...], now: datetime
) -> list[datetime | None]:
    """Return the moments of these names in a label's JSON; None for one that is not there, can't be
    read, or is to come."""
    read = [read_moment(found.get(name)) for name in names]
    return [at if at is not None and at <= now + CLOCKS_DIFFER else None for at in read]


def written(moment: datetime | None) -> str:
    """Return a moment as a label has it; empty where there is none."""
    return moment.isoformat() if moment is not None else ""
