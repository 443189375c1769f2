"""What every action is: a deed with its reason, what it changes, and whom it disturbs.

Decides nothing. Invariant: what a deed carries can be shown to people, and no secret is in it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that differs; ``old`` and ``new`` are texts for people, never a secret."""

    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """What all actions share.

    ``disturbs`` names the running service whose task this stops or restarts, else it is empty.
    """

    reason: str
    changes: tuple[FieldChange, ...] = ()
    disturbs: str = ""
