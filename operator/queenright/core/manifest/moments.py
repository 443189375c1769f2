"""Moments as a person writes them, and pauses that end at one.

Decides how a moment is read: with its zone, which is never guessed.
"""

import re
from datetime import UTC, datetime
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema

from queenright.core.manifest.model import Worded
from queenright.core.manifest.suggestions import UnfitValueError, describe

MOMENT_PATTERN = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)? ?(Z|[+-]\d{2}:\d{2})$"

_moment = re.compile(MOMENT_PATTERN, re.ASCII)
_naive = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?", re.ASCII)


def parse_moment(value: object) -> datetime:
    """The moment of `2026-12-01T06:00Z`, in UTC; a zone is never guessed."""
    expected = "must be a moment with its zone, such as 2026-12-01T06:00Z"
    text = value.strip() if isinstance(value, str) else ""
    if isinstance(value, datetime):
        found = value
    elif _moment.fullmatch(text) or _naive.fullmatch(text):
        try:
            found = datetime.fromisoformat(re.sub(r" (?=[Z+-])", "", text))
        except ValueError as error:
            raise UnfitValueError(f"{expected}; {describe(value)} is none: {error}") from None
    else:
        raise UnfitValueError(f"{expected}, not {describe(value)}")
    if found.tzinfo is None:
        raise UnfitValueError(
            f"{describe(value)} has no zone; write it with Z for UTC, or with +01:00, such as "
            f"{found:%Y-%m-%dT%H:%M}Z"
        )
    try:
        return found.astimezone(UTC)
    except OverflowError:
        raise UnfitValueError(f"{expected}; {describe(value)} is beyond the calendar") from None


def format_moment(moment: datetime) -> str:
    """The shortest spelling: seconds only where there are some."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}" if moment.second else f"{moment:%Y-%m-%dT%H:%MZ}"


Moment = Annotated[
    datetime,
    BeforeValidator(parse_moment),
    PlainSerializer(format_moment, when_used="json"),
    WithJsonSchema(
        {"type": "string", "pattern": MOMENT_PATTERN, "examples": ["2026-12-01T06:00Z"]}
    ),
]
"""A point in time, with its zone."""


class Pausing(Worded):
    """`active` or `paused`, for good or until a moment."""

    WORD: ClassVar[str] = "state"

    state: Literal["active", "paused"] = Field(description="`active` or `paused`.")
    until: Moment | None = Field(
        default=None, description="When the pause is over by itself. Default: when it is edited."
    )

    def is_paused(self, now: datetime) -> bool:
        return self.state == "paused" and (self.until is None or now < self.until)
