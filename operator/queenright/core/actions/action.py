"""Fields that all actions share: reason, changed fields, and the service that is disrupted.

Invariant: every field can be shown to people; none holds a secret.
"""

from __future__ import annotations

from dataclasses import dataclass

from queenright.core.swarm.diff import FieldChange


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """The base of all actions.

    ``disrupts`` names the running service whose task this stops or restarts; empty for none.
    """

    reason: str
    changes: tuple[FieldChange, ...] = ()
    disrupts: str = ""
