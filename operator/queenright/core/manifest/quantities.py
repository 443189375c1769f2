"""Durations and sizes as people write them, and back.

Pure: returns the seconds or bytes of a YAML scalar. A unit is never guessed: a bare number is
seconds or bytes, and every suffix is one that Docker and PostgreSQL know too.
"""

import re
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from queenright.core.manifest.suggestions import UnfitValueError, describe

MEBI = 1 << 20
GIBI = 1 << 30

_UNIT_S = {
    "ms": Decimal("0.001"),
    "s": Decimal(1),
    "m": Decimal(60),
    "h": Decimal(3600),
    "d": Decimal(86400),
}
_UNIT_BYTES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}

DURATION_PATTERN = r"^(\d+(\.\d+)?(ms|s|m|h|d))+$"
SIZE_PATTERN = r"^\d+(\.\d+)?\s?([kKmMgGtT]([iI]?[bB])?|[bB])?$"

_duration = re.compile(DURATION_PATTERN, re.ASCII)
_duration_part = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", re.ASCII)
_size = re.compile(SIZE_PATTERN, re.ASCII)
_size_part = re.compile(r"(\d+(?:\.\d+)?)\s?([kmgt]?)(?:i?b)?", re.ASCII)

_TOO_LONG = 40
_MOST_S = Decimal(10 * 365 * 86400)
_MOST_BYTES = 1 << 60


def parse_duration(value: object) -> float:
    """Return the seconds of `30`, `"30s"`, `"1m30s"`, `"500ms"`, `0.5`."""
    expected = "must be a duration such as 30s, 500ms, 10m or 1h (a bare number is seconds)"
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise UnfitValueError(f"{expected}, not {describe(value)}")
    text = str(value).strip() if isinstance(value, str) else f"{Decimal(str(value)):f}s"
    if re.fullmatch(r"\d+(\.\d+)?", text, re.ASCII):
        text += "s"
    if len(text) > _TOO_LONG or not _duration.fullmatch(text):
        raise UnfitValueError(f"{expected}, not {describe(value)}")
    total = sum(
        (Decimal(number) * _UNIT_S[unit] for number, unit in _duration_part.findall(text)),
        start=Decimal(0),
    )
    if total * 1000 != int(total * 1000):
        raise UnfitValueError(f"{describe(value)} is finer than a millisecond")
    if total > _MOST_S:
        raise UnfitValueError(f"{describe(value)} is more than ten years")
    return int(total) if total == int(total) else float(total)


def parse_whole_seconds(value: object) -> int:
    """Return whole seconds, for settings that Patroni or Docker count in whole seconds."""
    seconds = parse_duration(value)
    if seconds != int(seconds):
        raise UnfitValueError(f"must be whole seconds, not {describe(value)}")
    return int(seconds)


def parse_size(value: object) -> int:
    """Return the bytes of `2G`, `64MB`, `1MiB`, `1048576`; units are powers of 1024."""
    expected = "must be a size such as 512M, 2G or 1MB (a bare number is bytes)"
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise UnfitValueError(f"{expected}, not {describe(value)}")
    text = str(value).strip()
    if len(text) > _TOO_LONG or not _size.fullmatch(text):
        raise UnfitValueError(f"{expected}, not {describe(value)}")
    match = _size_part.fullmatch(text.lower())
    assert match is not None, "both patterns describe the same sizes"  # noqa: S101 (an invariant)
    size = Decimal(match[1]) * _UNIT_BYTES[match[2]]
    if size != int(size):
        raise UnfitValueError(f"{describe(value)} is not a whole number of bytes")
    if size > _MOST_BYTES:
        raise UnfitValueError(f"{describe(value)} is more than any machine has")
    return int(size)


def format_duration(seconds: float) -> str:
    """Return the shortest spelling: `30s`, `30m`, `500ms`."""
    if seconds != int(seconds):
        return f"{Decimal(str(seconds)) * 1000:f}".rstrip("0").rstrip(".") + "ms"
    whole = int(seconds)
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if whole and whole % size == 0:
            return f"{whole // size}{unit}"
    return f"{whole}s"


def format_size(size_bytes: int) -> str:
    """Return the shortest exact spelling: `2G`, `512M`, `1000`."""
    for unit, size in (("T", 1 << 40), ("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)):
        if size_bytes and size_bytes % size == 0:
            return f"{size_bytes // size}{unit}"
    return str(size_bytes)


def _scalar_schema(number: str, pattern: str, examples: list[Any]) -> WithJsonSchema:
    return WithJsonSchema(
        {
            "anyOf": [{"type": number, "minimum": 0}, {"type": "string", "pattern": pattern}],
            "examples": examples,
        }
    )


_DURATION_TEXT = r"^(\d+(\.\d+)?|(\d+(\.\d+)?(ms|s|m|h|d))+)$"

Seconds = Annotated[
    int,
    BeforeValidator(parse_whole_seconds),
    PlainSerializer(format_duration, when_used="json"),
    _scalar_schema("integer", _DURATION_TEXT, ["30s", "10m"]),
]
"""A duration in whole seconds."""

Duration = Annotated[
    float,
    BeforeValidator(parse_duration),
    PlainSerializer(format_duration, when_used="json"),
    _scalar_schema("number", _DURATION_TEXT, ["3s", "500ms", "30m"]),
]
"""A duration in seconds, down to the millisecond."""

Size = Annotated[
    int,
    BeforeValidator(parse_size),
    PlainSerializer(format_size, when_used="json"),
    _scalar_schema("integer", SIZE_PATTERN, ["64M", "2G"]),
]
"""A size in bytes."""
