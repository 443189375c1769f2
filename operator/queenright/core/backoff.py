"""Patience: an action that was tried without lasting effect waits longer each time.

Pure: the attempts are counted by the engine and handed in. Jitter is derived from the action's key
rather than drawn, so that the same world gives the same plan.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime, timedelta

from queenright.core.actions import (
    Action,
    AdjustService,
    AlterDatabase,
    AlterRole,
    LabelConfig,
    UpdateService,
)
from queenright.core.digest import digest
from queenright.core.observed import Attempt
from queenright.core.plan import Hold

FIRST_DELAY_S = 0.5
LONGEST_DELAY_S = 300.0
JITTER = 0.2
FORGET_AFTER = timedelta(seconds=10)
"""An action that has not been wanted for so long was of use: its attempts are forgotten."""
FORGET_RESTART_AFTER = timedelta(minutes=10)
"""A restarted task is wanted no more while swarm itself tries it again, several times over."""


def attempt_key(action: Action) -> str:
    """What attempts are counted by: the deed, its object, and, where it has one, what is wanted of
    it; so that another edit of the same object is not the same attempt."""
    match action:
        case UpdateService(service=service) | AdjustService(service=service):
            return f"{action.key}@{digest(service)}"
        case LabelConfig(config=config):
            return f"{action.key}@{digest(config)}"
        case AlterRole(role=role, fields=fields):
            return f"{action.key}@{digest(role, fields)}"
        case AlterDatabase(database=database, fields=fields):
            return f"{action.key}@{digest(database, fields)}"
        case _:
            return action.key


def forget_after(key: str) -> timedelta:
    return FORGET_RESTART_AFTER if key.startswith("restart-service/") else FORGET_AFTER


def delay_s(key: str, count: int) -> float:
    """Seconds to wait after ``count`` attempts: doubling from 0.5 up to 300, within 20 percent."""
    if count <= 0:
        return 0.0
    plain = min(FIRST_DELAY_S * 2.0 ** (count - 1), LONGEST_DELAY_S)
    share = hashlib.sha256(f"{key}/{count}".encode()).digest()[0] / 255
    return plain * (1 - JITTER + 2 * JITTER * share)


def hold_back(action: Action, attempts: Mapping[str, Attempt], now: datetime) -> Action | Hold:
    """The action itself, or, while it is too early to try again, a hold that says when."""
    attempt = attempts.get(attempt_key(action))
    if attempt is None:
        return action
    due = attempt.last_at + timedelta(seconds=delay_s(action.key, attempt.count))
    if now >= due:
        return action
    times = "once" if attempt.count == 1 else f"{attempt.count} times"
    met = f" ({attempt.error})" if attempt.error else ""
    reason = f"tried {times} without lasting effect{met}; {action.reason}"
    return Hold(action.key, reason, due, attempt.count > 2)
