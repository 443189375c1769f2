"""Digests of values: equal values give equal digests, whatever the order of their mappings."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from enum import Enum


def canonical(value: object) -> object:
    """``value`` as JSON-ready data with sorted mappings and sets; bytes appear by their hash."""
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
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = {f.name: canonical(getattr(value, f.name)) for f in dataclasses.fields(value)}
            return {"": type(value).__name__, **fields}
        case _:
            return str(value)


def digest(*values: object, length: int = 12) -> str:
    """The first ``length`` hexadecimal digits of the SHA-256 of the values' canonical form."""
    text = json.dumps([canonical(value) for value in values], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:length]
