"""Maps positions through steps, as ProseMirror's `StepMap` and `Mapping` do."""

from collections.abc import Sequence
from dataclasses import dataclass

_BEFORE, _AFTER, _ACROSS, _SIDE = 1, 2, 4, 8


@dataclass(frozen=True, slots=True)
class Mapped:
    """A mapped position, and what was deleted around it."""

    position: int
    deleted: int = 0

    @property
    def deleted_after(self) -> bool:
        return bool(self.deleted & (_AFTER | _ACROSS))

    @property
    def deleted_across(self) -> bool:
        return bool(self.deleted & _ACROSS)


@dataclass(frozen=True, slots=True)
class StepMap:
    """The ranges that a step replaced: start, size before, size after."""

    ranges: tuple[tuple[int, int, int], ...] = ()
    is_inverted: bool = False

    def map(self, position: int, side: int = 1) -> Mapped:
        """A position after the step; `side` is the side it stays at where content is inserted."""
        moved = 0
        for begin, size_before, size_after in self.ranges:
            old, new = size_before, size_after
            start = begin
            if self.is_inverted:
                old, new, start = new, old, begin - moved
            if start > position:
                break
            end = start + old
            if position <= end:
                if not old:
                    keeps = side
                elif position == start:
                    keeps = -1
                else:
                    keeps = 1 if position == end else side
                deleted = 0
                if old:
                    deleted = (
                        _AFTER if position == start else _BEFORE if position == end else _ACROSS
                    )
                    if position != (start if side < 0 else end):
                        deleted |= _SIDE
                return Mapped(start + moved + (0 if keeps < 0 else new), deleted)
            moved += new - old
        return Mapped(position + moved)

    def invert(self) -> "StepMap":
        return StepMap(self.ranges, not self.is_inverted)


def map_all(maps: Sequence[StepMap], position: int, side: int = 1) -> Mapped:
    """A position after several steps."""
    deleted = 0
    for one in maps:
        found = one.map(position, side)
        position, deleted = found.position, deleted | found.deleted
    return Mapped(position, deleted)
