"""Digests of values: equal values have equal digests, whatever the order of their mappings."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any

PLAIN = frozenset({str, int, bool, float})
_ENCODER = json.JSONEncoder(sort_keys=True, check_circular=False)
"""For canonical values, which are trees."""


@cache
def field_names(kind: type) -> tuple[str, ...] | None:
    """The names of a dataclass's fields; None for any other type."""
    if not dataclasses.is_dataclass(kind):
        return None
    return tuple(field.name for field in dataclasses.fields(kind))


def canonical(value: object) -> object:
    """Return ``value`` as JSON-ready data, mappings and sets sorted, bytes as their hash."""
    kind: Any = type(value)
    if value is None or kind in PLAIN:
        return value
    if kind is tuple or kind is list:
        return [canonical(item) for item in value]  # type: ignore[attr-defined]
    if (names := field_names(kind)) is not None:
        return {"": kind.__name__, **{name: canonical(getattr(value, name)) for name in names}}
    match value:
        case None | bool() | int() | float() | str():
            return value
        case bytes():
            return f"sha256:{hashlib.sha256(value).hexdigest()}"
        case datetime():
            return value.isoformat()
        case Enum():
            return str(value.value)
        case Mapping():
            return {str(key): canonical(value[key]) for key in sorted(value, key=str)}
        case set() | frozenset():
            return sorted(json.dumps(canonical(item), sort_keys=True) for item in value)
        case tuple() | list():
            return [canonical(item) for item in value]
        case _:
            return str(value)


def digest(*values: object, length: int = 12) -> str:
    """Return the first ``length`` hexadecimal digits of the SHA-256 of the canonical values."""
    text = _ENCODER.encode([canonical(value) for value in values])
    return hashlib.sha256(text.encode()).hexdigest()[:length]
