"""The time as an input: what only compares it lasts until the answer changes, all else does not."""

from __future__ import annotations

import operator
import pickle
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from queenright.core.observed.ages import Ages, age_of
from queenright.core.observed.recorded.mapping import RecordedAges
from queenright.core.observed.recorded.record import Record
from queenright.core.observed.recorded.time import Age, Moment, moment_of

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)


def answered(question: Callable[[Moment], Any]) -> tuple[Any, Record]:
    """The answer of a question about the time, and what was recorded of it."""
    record = Record({}, NOW)
    answer = question(moment_of(record))
    return answer, record.closed()


@pytest.mark.parametrize(
    ("question", "lasts_until"),
    [
        (lambda now: now < NOW + HOUR, NOW + HOUR),
        (lambda now: now >= NOW + HOUR, NOW + HOUR),
        (lambda now: operator.gt(NOW + HOUR, now), NOW + HOUR),
        (lambda now: now + SECOND < NOW + HOUR, NOW + HOUR - SECOND),
        (lambda now: SECOND + now < NOW + HOUR, NOW + HOUR - SECOND),
        (lambda now: now - SECOND < NOW + HOUR, NOW + HOUR + SECOND),
        (lambda now: now - (NOW - HOUR) < 3 * HOUR, NOW + 2 * HOUR),
        (lambda now: operator.gt(3 * HOUR, now - (NOW - HOUR)), NOW + 2 * HOUR),
        (lambda now: (NOW + HOUR) - now > SECOND, NOW + HOUR - SECOND),
        (lambda now: timedelta(0) <= (now + SECOND) - NOW < HOUR, NOW + HOUR - SECOND),
    ],
)
def test_a_comparison_lasts_until_its_answer_changes(
    question: Callable[[datetime], bool], lasts_until: datetime
) -> None:
    answer, record = answered(question)
    least = timedelta(microseconds=1)
    assert answer == question(NOW)
    assert record.is_lasting
    assert record.holds({}, lasts_until - least)
    assert question(lasts_until - least) == answer
    assert not record.holds({}, lasts_until)
    assert question(lasts_until + least) != answer


def test_a_comparison_does_not_outlive_a_clock_that_is_set_back() -> None:
    _, record = answered(lambda now: now > NOW - HOUR)
    assert record.holds({}, NOW - HOUR + SECOND)
    assert not record.holds({}, NOW - HOUR)


def test_a_comparison_at_its_very_edge_does_not_last() -> None:
    assert not answered(lambda now: now < NOW)[1].is_lasting


def test_the_distance_of_two_moments_of_one_pass_is_no_comparison() -> None:
    answer, record = answered(lambda now: now < now + HOUR)
    assert answer is True
    assert not record.is_lasting


READS: dict[str, Callable[[Any], object]] = {
    "text": str,
    "format": lambda now: f"{now:%H:%M}",
    "repr": repr,
    "isoformat": lambda now: now.isoformat(),
    "field": lambda now: now.hour,
    "zone": lambda now: now.astimezone(UTC),
    "replace": lambda now: now.replace(second=0),
    "equal": lambda now: now == NOW,
    "unequal": lambda now: now != NOW,
    "hash": hash,
    "set": lambda now: now in {NOW, NOW + HOUR},
    "age in seconds": lambda now: (now - NOW).total_seconds(),
    "age of days": lambda now: (now - NOW).days,
    "age as text": lambda now: str(now - NOW),
    "age is zero": lambda now: bool(now - NOW),
    "age equals": lambda now: now - NOW == HOUR,
    "left": lambda now: HOUR - (now - NOW),
    "left until": lambda now: (now - NOW) - HOUR,
    "half": lambda now: (now - NOW) / 2,
    "share": lambda now: HOUR / (now - NOW + HOUR),
    "absolute": lambda now: abs(now - NOW),
    "negative": lambda now: -(now - NOW),
    "failed at": lambda now: (now - ((now - NOW) - HOUR)).isoformat(),
    "as bytes": lambda now: pickle.loads(pickle.dumps(now)),  # noqa: S301  # our own
    "two ages": lambda now: (now - NOW) < (now - (NOW - HOUR)),
}


@pytest.mark.parametrize("name", READS)
def test_all_else_reads_the_time(name: str) -> None:
    """It answers as the real time does, and the result is made anew in each pass."""
    answer, record = answered(READS[name])
    assert answer == READS[name](NOW)
    assert not record.is_lasting


def test_every_operation_is_one_of_the_view() -> None:
    for view, real in ((Moment, datetime), (Age, timedelta)):
        own = {name for name in dir(real) if callable(getattr(real, name))}
        taken = {name for name in own if name.startswith("__")} - vars(view).keys()
        assert taken <= {
            "__class__", "__delattr__", "__dir__", "__init__", "__init_subclass__", "__new__",
            "__setattr__", "__sizeof__", "__subclasshook__",
        }  # fmt: skip


def test_what_takes_an_age_past_its_operations_fails() -> None:
    with pytest.raises(OverflowError):
        answered(lambda now: NOW + (now - NOW))


def test_an_age_that_is_only_compared_lasts_until_it_reaches_the_limit() -> None:
    sources = {"seen_s_ago": Ages({"one": 90.0}, 100.0)}
    record = Record(sources, NOW)
    seen = age_of(RecordedAges(record, "seen_s_ago"), "one")
    assert seen is not None
    assert seen < timedelta(seconds=15)
    record.closed()
    assert record.is_lasting
    assert record.holds({"seen_s_ago": Ages({"one": 90.0}, 104.9)}, NOW)
    assert not record.holds({"seen_s_ago": Ages({"one": 90.0}, 105.0)}, NOW)
    assert not record.holds({"seen_s_ago": Ages({"one": 91.0}, 104.9)}, NOW)
    assert not record.holds({"seen_s_ago": Ages({}, 104.9)}, NOW)


def test_an_age_whose_seconds_are_told_does_not_last() -> None:
    sources = {"seen_s_ago": Ages({"one": 90.0}, 100.0)}
    record = Record(sources, NOW)
    ages = RecordedAges(record, "seen_s_ago")
    assert ages.get("another") is None
    assert record.is_lasting
    assert ages["one"] == 10.0
    assert not record.is_lasting
