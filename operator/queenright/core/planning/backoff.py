"""Retry backoff: an action that was tried without lasting effect waits longer each time.

Pure: the engine counts the attempts and hands them in. Jitter is derived from the action's key, not
drawn, so that the same observation gives the same plan.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime, timedelta

from queenright.core.actions import (
    AdjustService,
    AlterDatabase,
    AlterRole,
    AnyAction,
    LabelConfig,
    LabelNode,
    NoteMembers,
    PatchSettings,
    UpdateService,
)
from queenright.core.observed import Attempt
from queenright.core.planning.plan import Hold
from queenright.core.swarm.digest import digest

FIRST_DELAY_S = 0.5
LONGEST_DELAY_S = 300.0
JITTER = 0.2
FORGET_AFTER = timedelta(seconds=10)
"""An action that was not planned for this long had its effect: its attempts are forgotten."""
FORGET_RESTART_AFTER = timedelta(minutes=10)
"""A longer period for restarts of a task: swarm itself tries those several times over."""


def attempt_key(action: AnyAction) -> str:
    """Return the key that counts attempts: action, object and, where it has one, its desired value,
    so that another edit of the same object starts a new count."""
    match action:
        case UpdateService(service=service) | AdjustService(service=service):
            return f"{action.key}@{digest(service)}"
        case LabelConfig(config=config) | NoteMembers(config=config):
            return f"{action.key}@{digest(config)}"
        case LabelNode(labels=labels):  # of one cluster among those on the node
            return f"{action.key}@{digest(labels)}"
        case AlterRole(role=role, fields=fields):
            return f"{action.key}@{digest(role, fields)}"
        case AlterDatabase(database=database, fields=fields):
            return f"{action.key}@{digest(database, fields)}"
        case PatchSettings(aspect="settings", patch=patch):  # the others' have a moment in them
            return f"{action.key}@{digest(patch)}"
        case _:
            return action.key


def is_of_value(key: str) -> bool:
    """Return True for the key of an attempt that has its desired value in it."""
    return "@" in key


def forget_after(key: str) -> timedelta:
    return FORGET_RESTART_AFTER if key.startswith("restart-service/") else FORGET_AFTER


def delay_s(key: str, count: int) -> float:
    """Return the seconds to wait after ``count`` attempts: 0.5, doubling up to 300, +-20
    percent."""
    if count <= 0:
        return 0.0
    plain = min(FIRST_DELAY_S * 2.0 ** (count - 1), LONGEST_DELAY_S)
    share = hashlib.sha256(f"{key}/{count}".encode()).digest()[0] / 255
    return plain * (1 - JITTER + 2 * JITTER * share)


def hold_back(
    action: AnyAction, attempts: Mapping[str, Attempt], now: datetime
) -> AnyAction | Hold:
    """Return the action itself, or a hold with the moment of the next try."""
    attempt = attempts.get(attempt_key(action))
    if attempt is None:
        return action
    left_s = delay_s(action.key, attempt.count) - attempt.ago_s
    if left_s <= 0:
        return action
    due = now + timedelta(seconds=left_s)
    times = "once" if attempt.count == 1 else f"{attempt.count} times"
    met = f" ({attempt.error})" if attempt.error else ""
    reason = f"tried {times} without lasting effect{met}; {action.reason}"
    return Hold(action.key, reason, due, attempt.count > 2)
