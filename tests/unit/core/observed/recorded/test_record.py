"""A record holds while every question has the same answer, and only then."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from queenright.core.observed import Known
from queenright.core.observed.recorded.mapping import RecordedMapping, RecordedSet, TimedMapping
from queenright.core.observed.recorded.record import Record, Sources, same

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_only_what_was_asked_counts() -> None:
    record = Record({"ports": {"a": 1, "b": 2}}, NOW)
    ports = RecordedMapping[str, int](record, "ports")
    assert ports.get("a") == 1
    assert "c" not in ports
    record.closed()
    assert record.holds({"ports": {"a": 1, "b": 3}}, NOW)
    assert not record.holds({"ports": {"a": 2, "b": 2}}, NOW)
    assert not record.holds({"ports": {"b": 2}}, NOW)
    assert not record.holds({"ports": {"a": 1, "c": 5}}, NOW)
    assert not record.holds({}, NOW)


def test_a_walk_asks_for_every_key() -> None:
    record = Record({"ports": {"a": 1}}, NOW)
    assert list(RecordedMapping[str, int](record, "ports")) == ["a"]
    record.closed()
    assert record.holds({"ports": {"a": 2}}, NOW)
    assert not record.holds({"ports": {"a": 1, "b": 1}}, NOW)


def test_a_set_is_asked_name_by_name() -> None:
    record = Record({"used": frozenset({"a"})}, NOW)
    used = RecordedSet(record, "used")
    assert used & {"a", "b"} == {"a"}
    record.closed()
    assert record.holds({"used": frozenset({"a", "c"})}, NOW)
    assert not record.holds({"used": frozenset({"a", "b"})}, NOW)


def test_a_value_with_the_time_in_it_does_not_last() -> None:
    record = Record({"attempts": {"a": 1}}, NOW)
    attempts = TimedMapping[int](record, "attempts")
    assert attempts.get("b") is None
    assert record.is_lasting
    assert attempts["a"] == 1
    assert not record.is_lasting


def test_a_source_that_is_the_same_object_is_not_asked_again() -> None:
    asked: list[str] = []

    def question(source: Mapping[str, int], key: str) -> int:
        asked.append(key)
        return source[key]

    first = Sources({"ports": {"a": 1}})
    record = Record(first, NOW)
    assert (record.ask(question, "ports", "a"), record.ask(question, "ports", "a")) == (1, 1)
    record.closed()
    assert asked == ["a"]
    assert record.holds(first, NOW)
    assert record.holds(Sources({**first}, first), NOW)
    assert asked == ["a"]
    again = Sources({"ports": {"a": 1}}, first)
    assert record.holds(again, NOW)
    assert record.holds(again, NOW)
    assert record.holds(Sources({**again}, again), NOW)
    assert asked == ["a", "a"]
    assert not record.holds(Sources({"ports": {"a": 2}}, again), NOW)


def test_a_record_keeps_no_source() -> None:
    """Of a thousand answers each could else keep another reading of the swarm."""
    sources = Sources({"ports": Ports({"a": 1})})
    ports, record = weakref.ref(sources["ports"]), Record(sources, NOW)
    assert RecordedMapping[str, int](record, "ports").get("a") == 1
    record.closed()
    del sources
    assert ports() is None
    later = Sources({"ports": Ports({"a": 1})})
    ports = weakref.ref(later["ports"])
    assert record.holds(later, NOW)
    del later
    assert ports() is None


class Ports(dict[str, int]):
    """A mapping of which one can see that it is gone."""


def test_questions_about_several_values_are_asked_again() -> None:
    def between(source: Mapping[str, int], one: str, other: str) -> int:
        return source[other] - source[one]

    record = Record({"ports": {"a": 1, "b": 3, "c": 6}}, NOW)
    assert record.ask(between, "ports", "a", "b") == 2
    assert record.ask(between, "ports", "b", "c") == 3
    assert record.ask(len, "ports") == 3
    record.closed()
    assert record.holds({"ports": {"a": 2, "b": 4, "c": 7}}, NOW)
    assert not record.holds({"ports": {"a": 2, "b": 4, "c": 8}}, NOW)
    assert not record.holds({"ports": {"a": 2, "b": 4, "c": 7, "d": 1}}, NOW)


def test_nothing_is_asked_after_the_answer() -> None:
    record = Record({"ports": {"a": 1}}, NOW)
    ports = RecordedMapping[str, int](record, "ports")
    record.closed()
    with pytest.raises(RuntimeError, match="after the answer"):
        ports.get("a")
    with pytest.raises(RuntimeError, match="after the answer"):
        record.read_time()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (1, 1.0),
        ({"ttl": 1}, {"ttl": True}),
        (Known({"ttl": [1]}), Known({"ttl": [True]})),
        ((1, 2), [1, 2]),
        ((1,), (1, 2)),
        ({"a": 1}, {"b": 1}),
    ],
)
def test_values_of_two_types_are_two(one: object, other: object) -> None:
    assert not same(one, other)


def test_equal_values_are_the_same() -> None:
    assert same(Known({"a": [1, (True, "b")]}), Known({"a": [1, (True, "b")]}))
