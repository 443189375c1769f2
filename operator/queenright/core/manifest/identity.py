"""A value as a key that is equal to itself alone: to remember what was made from it.

For values that are replaced whole and never changed, such as documents.
"""

from __future__ import annotations

from typing import Generic, TypeVar

T_co = TypeVar("T_co", covariant=True)


class Identity(Generic[T_co]):
    """Another reading of a value that looks the same is another key."""

    __slots__ = ("value",)

    def __init__(self, value: T_co) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)
