"""Schedules as cron writes them: five fields, in UTC.

Decides which moments a schedule names, from its text alone. As cron has it, a day counts if it fits
the day of the month or the day of the week where both are written, and both where one is a `*`.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Annotated

from pydantic import AfterValidator, WithJsonSchema

from queenright.core.manifest.remembered import MOST_TEXTS
from queenright.core.manifest.suggestions import UnfitValueError, describe

CRON_PATTERN = r"^ *[0-9*,/-]+( +[0-9*,/-]+){4} *$"
_PART = re.compile(r"(?:(\*)|([0-9]{1,2})(?:-([0-9]{1,2}))?)(?:/([0-9]{1,2}))?", re.ASCII)
FIELDS = (
    ("minute", 0, 59),
    ("hour", 0, 23),
    ("day of the month", 1, 31),
    ("month", 1, 12),
    ("day of the week", 0, 7),
)
EXAMPLE = "such as 30 2 * * * (each day at 02:30) or 0 3 * * 0 (each Sunday at 03:00)"
LONGEST_GAP = timedelta(days=8 * 366)
"""29 February comes after eight years at the latest."""


@dataclass(frozen=True)
class Cron:
    """The moments of a schedule. ``any_day`` tells that every day counts that the weekdays allow,
    and ``any_weekday`` the reverse."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool
    any_weekday: bool

    def last(self, until: datetime) -> datetime | None:
        """Return the schedule's last moment up to this one, itself included."""
        until = until.astimezone(UTC).replace(second=0, microsecond=0)
        for day in self._days(until.date(), -1):
            for at in reversed(self._times()):
                if (found := datetime.combine(day, at, UTC)) <= until:
                    return found
        return None

    def next(self, after: datetime) -> datetime | None:
        """Return the schedule's first moment after this one."""
        after = after.astimezone(UTC)
        for day in self._days(after.date(), 1):
            for at in self._times():
                if (found := datetime.combine(day, at, UTC)) > after:
                    return found
        return None

    def _times(self) -> list[time]:
        return [time(hour, minute) for hour in self.hours for minute in self.minutes]

    def _days(self, first: date, step: int) -> Iterator[date]:
        """The schedule's days from the first one on, as far as one must be."""
        for number in range(LONGEST_GAP.days + 2):
            try:
                day = first + timedelta(days=step * number)
            except OverflowError:
                return
            if day.month in self.months and self._fits(day):
                yield day

    def _fits(self, day: date) -> bool:
        by_month, by_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        is_either = not self.any_day and not self.any_weekday
        return (by_month or by_week) if is_either else (by_month and by_week)


@lru_cache(maxsize=MOST_TEXTS)
def read_cron(text: str) -> Cron:
    """Return the schedule of a text; UnfitValueError with the reason if it is none."""
    parts = text.split()
    if len(parts) != len(FIELDS):
        raise UnfitValueError(
            f"{describe(text)} has {len(parts)} fields, not five (minute, hour, day of the month, "
            f"month, day of the week, in UTC), {EXAMPLE}"
        )
    minutes, hours, days, months, weekdays = (
        _numbers(part, *field) for part, field in zip(parts, FIELDS, strict=True)
    )
    found = Cron(
        minutes=tuple(sorted(minutes)),
        hours=tuple(sorted(hours)),
        days=days,
        months=months,
        weekdays=frozenset(number % 7 for number in weekdays),
        any_day=parts[2].startswith("*"),
        any_weekday=parts[4].startswith("*"),
    )
    if found.any_weekday and not any(_has_day(month, days) for month in months):
        raise UnfitValueError(f"{describe(text)} names no day that ever comes; write another day")
    return found


def _has_day(month: int, days: frozenset[int]) -> bool:
    return min(days) <= calendar.monthrange(2024, month)[1]


def _numbers(part: str, name: str, least: int, most: int) -> frozenset[int]:
    found: set[int] = set()
    for item in part.split(","):
        match = _PART.fullmatch(item)
        if match is None:
            raise UnfitValueError(
                f"{describe(item)} is no {name}: a number from {least} to {most}, a range (1-5), a "
                "list (1,15), or * with a step (*/15); names and @daily are not read"
            )
        every, first, last, step = match.groups()
        low, high = (least, most) if every else (int(first), int(last or first))
        if first and step and not last:
            high = most
        if not least <= low <= high <= most:
            raise UnfitValueError(
                f"{describe(item)} is no {name}: it goes from {least} to {most}, upwards"
            )
        if step and int(step) == 0:
            raise UnfitValueError(f"{describe(item)} is no {name}: a step is at least 1")
        found |= {*range(low, high + 1, int(step or 1))}
    return frozenset(found)


def _schedule(value: str) -> str:
    read_cron(value)
    return " ".join(value.split())


Schedule = Annotated[
    str, AfterValidator(_schedule), WithJsonSchema({"type": "string", "pattern": CRON_PATTERN})
]
"""A schedule in cron's five fields, in UTC."""
