"""The time as a recorded input: comparisons note when their answer changes, all else reads it.

Invariant: every operation of ``datetime`` and ``timedelta`` is either compared here or read here,
whatever further ones Python adds.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from queenright.core.observed.recorded.record import Record

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "__lt__": operator.lt,
    "__le__": operator.le,
    "__gt__": operator.gt,
    "__ge__": operator.ge,
}
UNTOUCHED = frozenset(
    {
        "__class__",
        "__delattr__",
        "__dir__",
        "__doc__",
        "__getattribute__",
        "__init__",
        "__init_subclass__",
        "__new__",
        "__setattr__",
        "__sizeof__",
        "__subclasshook__",
    }
)
"""Operations that tell nothing of the value."""


def own(value: object, name: str) -> Any:
    """Return an attribute of a view itself."""
    return object.__getattribute__(value, name)


def plain(value: object) -> Any:
    """Return the real value of a view; anything else as it is."""
    return own(value, "_value") if type(value) in {Moment, Age} else value


def attribute(value: object, name: str) -> Any:
    """Return an attribute of a view's real value, which reads the time."""
    if name == "__class__":
        return type(value)
    own(value, "_record").read_time()
    return getattr(own(value, "_value"), name)


class Moment(datetime):
    """The pass's one moment, or one at a fixed distance from it."""

    __slots__ = ("_record", "_shift", "_value")

    def __new__(cls, value: datetime, record: Record, shift: timedelta) -> Moment:
        moment: Moment = datetime.__new__(
            cls,
            value.year,
            value.month,
            value.day,
            value.hour,
            value.minute,
            value.second,
            value.microsecond,
            value.tzinfo,
            fold=value.fold,
        )
        for name, one in (("_value", value), ("_record", record), ("_shift", shift)):
            object.__setattr__(moment, name, one)
        return moment

    def __getattribute__(self, name: str) -> Any:
        return attribute(self, name)


class Age(timedelta):
    """The time since a moment, or until one. ``note`` gets each limit that it is compared with.

    As a ``timedelta`` itself it is the least one: what takes that, past the operations here, fails.
    """

    __slots__ = ("_note", "_record", "_value")

    def __new__(cls, value: timedelta, record: Record, note: Callable[[timedelta], None]) -> Age:
        least = timedelta.min
        made: Age = timedelta.__new__(cls, least.days, least.seconds, least.microseconds)
        for name, one in (("_value", value), ("_record", record), ("_note", note)):
            object.__setattr__(made, name, one)
        return made

    def __getattribute__(self, name: str) -> Any:
        return attribute(self, name)


def moment_of(record: Record) -> Moment:
    """Return the view of the record's moment."""
    return Moment(record.now, record, timedelta(0))


def read(name: str) -> Callable[..., Any]:
    """Return the operation of this name, which reads the time."""

    def operation(self: object, *values: object) -> Any:
        own(self, "_record").read_time()
        return getattr(own(self, "_value"), name)(*map(plain, values))

    return operation


def compared_moment(name: str) -> Callable[[Moment, object], Any]:
    """Return the comparison of this name, which notes when its answer changes."""
    compare, reads = COMPARISONS[name], read(name)

    def operation(self: Moment, other: object) -> Any:
        if type(other) is not datetime:
            return reads(self, other)
        own(self, "_record").compare(other - own(self, "_shift"))
        return compare(own(self, "_value"), other)

    return operation


def compared_age(name: str) -> Callable[[Age, object], Any]:
    """Return the comparison of this name, which notes when its answer changes."""
    compare, reads = COMPARISONS[name], read(name)

    def operation(self: Age, other: object) -> Any:
        if type(other) is not timedelta:
            return reads(self, other)
        own(self, "_note")(other)
        return compare(own(self, "_value"), other)

    return operation


def later(self: Moment, other: object) -> Any:
    """Return the moment this much later."""
    if type(other) is not timedelta:
        return read("__add__")(self, other)
    return Moment(own(self, "_value") + other, own(self, "_record"), own(self, "_shift") + other)


def since(self: Moment, other: object) -> Any:
    """Return the moment this much earlier, or the time since another one."""
    if type(other) is timedelta:
        return later(self, -other)
    if type(other) is not datetime:
        return read("__sub__")(self, other)
    record, shift = own(self, "_record"), own(self, "_shift")
    return Age(
        own(self, "_value") - other, record, lambda limit: record.compare(other + limit - shift)
    )


def until(self: Moment, other: object) -> Any:
    """Return the time until another moment."""
    if type(other) is not datetime:
        return read("__rsub__")(self, other)
    record, shift = own(self, "_record"), own(self, "_shift")
    return Age(
        other - own(self, "_value"), record, lambda limit: record.compare(other - limit - shift)
    )


def complete(view: type, real: type, noted: dict[str, Callable[..., Any]]) -> None:
    """Give a view every operation of the real type: those that are noted, others reading."""
    for name in dir(real):
        if name.startswith("__") and name not in UNTOUCHED and callable(getattr(real, name)):
            setattr(view, name, noted.get(name) or read(name))


complete(
    Moment,
    datetime,
    {
        **{name: compared_moment(name) for name in COMPARISONS},
        "__add__": later,
        "__radd__": later,
        "__sub__": since,
        "__rsub__": until,
    },
)
complete(Age, timedelta, {name: compared_age(name) for name in COMPARISONS})
