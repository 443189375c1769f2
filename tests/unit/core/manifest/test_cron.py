"""Schedules of five fields: their moments, and why a text is none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from queenright.core.manifest.cron import read_cron
from queenright.core.manifest.suggestions import UnfitValueError


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "now", "last", "following"),
    [
        ("30 2 * * *", "2026-03-01T02:29", "2026-02-28T02:30", "2026-03-01T02:30"),
        ("30 2 * * *", "2026-03-01T02:30", "2026-03-01T02:30", "2026-03-02T02:30"),
        ("*/15 * * * *", "2026-01-01T00:14:59", "2026-01-01T00:00", "2026-01-01T00:15"),
        ("5/20 0 * * *", "2026-01-01T00:30", "2026-01-01T00:25", "2026-01-01T00:45"),
        ("0 3 * * 0", "2026-11-23T12:00", "2026-11-22T03:00", "2026-11-29T03:00"),
        ("0 3 * * 7", "2026-11-23T12:00", "2026-11-22T03:00", "2026-11-29T03:00"),
        ("0 3 1 * 1", "2026-11-24T12:00", "2026-11-23T03:00", "2026-11-30T03:00"),
        ("0 3 */2 * 1", "2026-11-24T12:00", "2026-11-23T03:00", "2026-12-07T03:00"),
        ("0 0 29 2 *", "2099-01-01T00:00", "2096-02-29T00:00", "2104-02-29T00:00"),
        ("0 1,13 * 6-8 *", "2026-01-01T00:00", "2025-08-31T13:00", "2026-06-01T01:00"),
    ],
)
def test_the_moments_around_another(text: str, now: str, last: str, following: str) -> None:
    cron = read_cron(text)
    assert cron.last(at(now)) == at(last)
    assert cron.next(at(now)) == at(following)


def test_moments_are_in_utc_whatever_the_clock_is_in() -> None:
    abroad = datetime(2026, 1, 1, 3, 0, tzinfo=timezone(timedelta(hours=2)))
    assert read_cron("0 1 * * *").last(abroad) == at("2026-01-01T01:00")


def test_the_calendars_ends_are_no_exceptions() -> None:
    cron = read_cron("0 0 1 1 *")
    assert cron.next(datetime.max.replace(tzinfo=UTC)) is None
    assert cron.last(datetime(1, 1, 1, tzinfo=UTC)) == datetime(1, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has 0 fields"),
        ("@daily", "has 1 fields"),
        ("0 0 * * * *", "has 6 fields"),
        ("60 0 * * *", "goes from 0 to 59"),
        ("0 24 * * *", "goes from 0 to 23"),
        ("0 0 0 * *", "goes from 1 to 31"),
        ("0 0 * 13 *", "goes from 1 to 12"),
        ("0 0 * * 8", "goes from 0 to 7"),
        ("0 5-3 * * *", "upwards"),
        ("*/0 * * * *", "a step is at least 1"),
        ("0 0 * jan *", "names and @daily are not read"),
        ("0 0 * * ,", "is no day of the week"),
        ("\u0661 0 * * *", "is no minute"),
        ("0 0 31 2,4,6 *", "names no day that ever comes"),
    ],
)
def test_what_is_no_schedule_says_why(text: str, words: str) -> None:
    with pytest.raises(UnfitValueError, match=words):
        read_cron(text)
