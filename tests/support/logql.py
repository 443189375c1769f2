"""Evaluates the LogQL that docs/monitoring/loki-rules.yaml uses, and nothing beyond it.

A rule counts the JSON lines of one stream in a window, by labels, and compares the number; or it
fires where no line matches. Raises ValueError for any other expression.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

Line = dict[str, Any]
Timed = tuple[float, Line]
"""A line with the minutes since the first one."""

STREAM = r'\{job="queenright"\} \| json'
FILTERS = r"((?: \| \w+ ?(?:==|!=|>=|<=|=|>|<) ?(?:\"[^\"]*\"|\d+))+)"
WINDOW = r" \[(\d+)([mh])\]"
COUNT = re.compile(
    rf"sum by \(([\w, ]+)\) \(count_over_time\({STREAM}{FILTERS}{WINDOW}\)\) >= (\d+)"
)
ABSENT = re.compile(rf"absent_over_time\({STREAM}{FILTERS}{WINDOW}\)")
FILTER = re.compile(r" \| (\w+) ?(==|!=|>=|<=|=|>|<) ?(?:\"([^\"]*)\"|(\d+))")
COMPARE: dict[str, Callable[[float, float], bool]] = {
    "==": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
}


def fires(expression: str, lines: Sequence[Timed], now: float) -> bool:
    """Return True if a rule fires for these lines at ``now`` (in minutes)."""
    if found := ABSENT.fullmatch(expression):
        filters, number, unit = found.groups()
        return not within(lines, now, number, unit, filters)
    if found := COUNT.fullmatch(expression):
        labels, filters, number, unit, least = found.groups()
        groups = Counter(
            tuple(as_label(line.get(label)) for label in labels.split(", "))
            for line in within(lines, now, number, unit, filters)
        )
        return any(count >= int(least) for count in groups.values())
    raise ValueError(expression)


def within(lines: Iterable[Timed], now: float, number: str, unit: str, filters: str) -> list[Line]:
    """Return the lines of the window that pass the filters."""
    minutes = int(number) * (60 if unit == "h" else 1)
    return [line for at, line in lines if now - minutes < at <= now and passes(line, filters)]


def passes(line: Line, filters: str) -> bool:
    for label, sign, text, number in FILTER.findall(filters):
        value = as_label(line.get(label))
        if number:
            if not value or not COMPARE[sign](float(value), float(number)):
                return False
        elif (value == text) != (sign == "="):
            return False
    return True


def keys_of(expression: str) -> set[str]:
    """Return the keys that an expression filters by, or groups by."""
    found = COUNT.fullmatch(expression)
    labels = found.group(1).split(", ") if found else []
    return {label for label, *_ in FILTER.findall(expression)} | {*labels}


def as_label(value: object) -> str:
    """Return a JSON value as Loki's parser makes a label of it; empty for null and for lists,
    which it leaves out."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float() | str():
            return str(value)
        case _:
            return ""
