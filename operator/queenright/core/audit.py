"""The audit trail's records: what was meant, what came of it, and why, in one hash chain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Trigger:
    """What woke the pass. ``file`` and ``line`` are set where an edit caused it."""

    kind: Literal["start", "file", "docker", "member", "timer", "command"]
    detail: str = ""
    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Done:
    """The action took effect."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Somebody else wrote first; the next pass observes again."""

    error: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The action had no effect, or none that is known; ``transient`` if it may work later."""

    error: str
    transient: bool = True


Outcome = Done | Conflict | Failed
