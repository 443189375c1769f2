"""Decides from headers which bytes a request asks for (RFC 9110 §14)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """The bytes from `start` up to, not including, `end`."""

    start: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.start


class UnsatisfiableError(Exception):
    """The range lies beyond the end of the file."""


_ONE = re.compile(r"(\d{0,18})-(\d{0,18})")


def wanted(headers: Mapping[str, str], size: int, etag: str) -> Span | None:
    """The requested range; None to send the whole file.

    A malformed header, another unit or several ranges are ignored, as the RFC allows. Raises
    `UnsatisfiableError`.
    """
    text = headers.get("range", "").strip()
    unit, _, ranges = text.partition("=")
    if unit.strip().lower() != "bytes" or "," in ranges:
        return None
    condition = headers.get("if-range")
    if condition is not None and condition.strip() != etag:
        return None
    match = _ONE.fullmatch(ranges.strip())
    if match is None or not (match[1] or match[2]):
        return None
    if not match[1]:
        length = min(int(match[2]), size)
        if length == 0:
            raise UnsatisfiableError
        return Span(size - length, size)
    start = int(match[1])
    if match[2] and int(match[2]) < start:
        return None
    if start >= size:
        raise UnsatisfiableError
    return Span(start, min(int(match[2]) + 1, size) if match[2] else size)


def unchanged(headers: Mapping[str, str], etag: str) -> bool:
    """True if the client already has the current bytes (If-None-Match)."""
    given = headers.get("if-none-match")
    if given is None:
        return False
    tags = {tag.strip().removeprefix("W/") for tag in given.split(",")}
    return "*" in tags or etag in tags
