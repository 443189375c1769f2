"""Read the values of labels, variables and constraints, which people may have changed.

Invariant: an unreadable value gives None, never an exception. Messages describe only its shape,
because it may hold anything.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

LONGEST_JSON = 64 * 1024
FIRST_MOMENT, LAST_MOMENT = datetime(1970, 1, 2, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)
"""The years accepted: outside of them, adding minutes to a moment may overflow the calendar."""
_WHOLE = re.compile(r"[0-9]{1,15}")


def read_json(text: str) -> Any:
    """Return the JSON value; None for text that is not JSON, too long or too deep."""
    if not text or len(text) > LONGEST_JSON:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def read_texts(value: object, count: int) -> tuple[str, ...] | None:
    """Return a JSON list of ``count`` texts, else None."""
    if not isinstance(value, list) or len(value) != count:
        return None
    return tuple(value) if all(isinstance(item, str) for item in value) else None


def read_whole(value: object) -> int | None:
    """Return a whole number >= 0 of at most 15 digits, from text or JSON, else None."""
    if isinstance(value, str):
        return int(value) if _WHOLE.fullmatch(value) else None
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and 0 <= value < 10**15 else None  # type: ignore[operator,return-value]


def read_moment(text: object) -> datetime | None:
    """Return a moment with time zone within the accepted years, else None."""
    if not isinstance(text, str):
        return None
    try:
        found = datetime.fromisoformat(text)
        if found.tzinfo is None or not FIRST_MOMENT < found < LAST_MOMENT:
            return None
        return found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def shape_of(text: str) -> str:
    """Return a description of an unreadable value for people: its shape and length."""
    if not text.strip():
        return "nothing"
    found = read_json(text)
    is_list, is_mapping = isinstance(found, list), isinstance(found, dict)
    kind = "a JSON list" if is_list else "a JSON mapping" if is_mapping else "text"
    return f"{kind} of {len(text)} characters"
