"""Faults of the operator in one document, as values; the other documents go on.

A fault names the exception and its place, never its message, which may quote any value.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass

PACKAGE = "queenright/"


@dataclass(frozen=True, slots=True)
class DocumentKey:
    """A document's kind and name, whether a file or only the swarm has it."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Fault:
    """An exception's type, its place in the operator's code, and the stack (for the log alone)."""

    error: str
    place: str
    way: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.error} at {self.place}"


def fault_of(error: BaseException) -> Fault:
    """Return the fault of an exception; of a group, that of the first one."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    cause = error.__cause__ if isinstance(error, RuntimeError) and error.__cause__ else error
    frames = traceback.extract_tb(cause.__traceback__) or traceback.extract_tb(error.__traceback__)
    way = tuple(
        f"{frame.filename.rpartition(PACKAGE)[2]}:{frame.lineno} {frame.name}" for frame in frames
    )
    ours = [
        step for step, frame in zip(way, frames, strict=True) if PACKAGE in frame.filename
    ] or list(way)
    return Fault(type(cause).__name__, ours[-1] if ours else "an unknown place", way)
