"""When the next pass over all documents is due.

A pass over some of them answers a trigger that has names; the full pass finds whatever that left,
and what no trigger has named. Invariant: it follows within ``REST_S`` for each document, and the
timer starts one in any case.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import anyio

from queenright.core.audit.record import Trigger
from queenright.engine.reconcile import PassResult

SHORTEST_WAIT_S = 0.05
REST_S = 0.005
"""Seconds per document from the end of a full pass to one that events or answers alone have asked
for. A full pass costs about 1.2 ms of the processor per document, so that events without a pause
keep a fifth of it busy with full passes, and a few documents have one at once."""
NAMING: Final = frozenset({"docker", "member"})
"""Triggers that name the objects that have changed: their full pass may wait."""


@dataclass
class FullPasses:
    """The last full pass and the next one. Moments are by a clock that never jumps."""

    _ended_s: float = field(default=float("-inf"), init=False)
    _next_s: float = field(default=float("-inf"), init=False)
    _owed: Trigger | None = field(default=None, init=False)

    def may_wait(self, trigger: Trigger, told: AbstractSet[str] | None, documents: int) -> bool:
        """Return True if the full pass of a trigger, after the pass over a part, need not begin
        now. ``told`` are its names, None where it may concern everything."""
        rest_s = REST_S * documents
        is_named = told is not None and trigger.kind in NAMING
        return is_named and anyio.current_time() < self._ended_s + rest_s

    def owe(self, trigger: Trigger, documents: int, wait_s: float) -> None:
        """Take that the full pass of a trigger waits: at most ``wait_s``, after which time may have
        changed the plans of its part."""
        self._owed = self._owed or trigger
        rest_ends_s = self._ended_s + REST_S * documents
        self._next_s = min(self._next_s, rest_ends_s, anyio.current_time() + wait_s)

    def cause(self, trigger: Trigger) -> Trigger:
        """Return the trigger of the full pass that begins now: the one to which it was owed, if
        only the timer has woken the loop."""
        return self._owed if trigger.kind == "timer" and self._owed is not None else trigger

    def ended(self, wait_s: float) -> None:
        """Take the end of a full pass, of which the next one comes after ``wait_s``."""
        self._ended_s, self._owed = anyio.current_time(), None
        self._next_s = self._ended_s + wait_s

    def hasten(self) -> None:
        """Take that a full pass was ended before it had planned everything: no other may wait."""
        self._ended_s = float("-inf")

    def due_in_s(self) -> float:
        return self._next_s - anyio.current_time()


def earliest(due: list[datetime], now: datetime, limit_s: float) -> float:
    """Return the seconds until the first of these moments, at most the limit."""
    waits = [(at - now).total_seconds() for at in due]
    return max(SHORTEST_WAIT_S, min([*waits, limit_s]))


def goes_on(result: PassResult | None) -> bool:
    """Return True if another pass is to follow at once: it observes what came of this one."""
    return result is not None and not result.failures and (result.has_acted or result.is_too_old)
