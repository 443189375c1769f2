"""Who leads: the planned moves, and what is known of those that nobody planned.

The decision is ``core.leadership``'s; its notes are written with the anchor, before the move.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import Action
from queenright.core.leadership import lead
from queenright.core.plan import Hold
from queenright.core.situation import Situation


def plan_leadership(situation: Situation) -> Iterator[Action | Hold]:
    if situation.is_deployed and situation.swarm.config(situation.desired.anchor.name):
        yield from lead(situation).steps
