"""Data directories and the timelines that they are on.

A timeline begins where its primary was when it was promoted. Who has written past that point on an
older timeline has diverged, and only a rewind, which loses what is past it, or a fresh copy lets it
follow again.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Volume:
    """A data directory; ``secrets`` are the passwords that it was made with. ``control`` are the
    parameters of the primary that its WAL tells of (``pg_controldata``)."""

    timeline: int = 0
    location: int = 0
    secrets: tuple[int, ...] = ()
    is_broken: bool = False
    control: dict[str, int] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return self.timeline == 0


@dataclass
class Timelines:
    """Where each timeline began, by its number, in bytes of WAL."""

    began: dict[int, int] = field(default_factory=dict)

    def begin(self, number: int, location: int) -> None:
        self.began[number] = location

    def left_at(self, volume: Volume, present: int) -> int | None:
        """Where the volume's own timeline was left by the present one; None if it was not."""
        later = [at for number, at in self.began.items() if volume.timeline < number <= present]
        return min(later, default=None)

    def has_diverged(self, volume: Volume, present: int) -> bool:
        left_at = self.left_at(volume, present)
        return left_at is not None and volume.location > left_at
