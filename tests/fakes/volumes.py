"""Data directories and the timelines that they are on.

A timeline begins where its primary was when it was promoted. Who has written past that point on an
older timeline has diverged, and only a rewind, which loses what is past it, or a fresh copy lets it
follow again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from tests.fakes.raft_lists import Files

Damage = Literal[
    "", "no-control-file", "damaged-control-file", "interrupted-copy", "files", "no-room"
]


@dataclass
class Volume:
    """A data directory; ``secrets`` are the passwords that it was made with. ``control`` are the
    parameters of the primary that its WAL records (``pg_controldata``), ``system`` is the number of
    the ``initdb`` that made it or its original, and ``settings`` are Patroni's copy in it."""

    timeline: int = 0
    location: int = 0
    system: int = 0
    settings: dict[str, Any] = field(default_factory=dict)
    secrets: tuple[int, ...] = ()
    is_broken: bool = False
    damage: Damage = ""
    """The kind of the damage, where it is one that real members were seen with; the first four of
    them keep PostgreSQL from starting (``is_broken``), and a full disk from writing."""
    is_partial: bool = False
    """True while a base backup into it has begun and not ended."""
    rewound_from: tuple[str, int] | None = None
    """The leader's task and timeline from which a rewind is changing the files now."""
    is_torn: bool = False
    """True for what a rewind has left half done, whatever anybody knows of it."""
    is_rewind_noted: bool = False
    """True while the note of a rewind that did not end lies beside the data."""
    torn_s: float = 0.0
    control: dict[str, int] = field(default_factory=dict)
    raft: Literal["whole", "torn", "stuck"] = "whole"
    """Raft's files beside it: a torn journal lets Patroni exit at every start; with a stuck one it
    waits for ever, and its Raft node takes part in everything."""
    was_primary: bool = False
    """True while the control file says "in production": a primary that ended without a word."""
    votes: dict[str, Files] = field(default_factory=dict)
    """Raft's files as far as they tell who votes, by the node's own address, which is in their
    names."""
    restore_failed: str = ""
    """The reason why the last try to restore the cluster came to nothing, beside Raft's files."""
    raft_obeyed: str = ""
    """The last request to set them aside that was obeyed."""
    raft_loss: str = ""
    """The number of the loss with which the member waits; empty where it does not."""
    raft_lost_s: float = 0.0
    raft_began_s: float = -1.0
    """The times at which it found that loss, and at which its log last began anew."""
    raft_began: str = ""
    """The number of the loss after which the log began anew, which Patroni's tags tell while it has
    nothing else."""
    begins_raft: bool = False
    """True while its Raft log is empty: a quorum of such nodes knows nothing of the cluster."""
    knows_raft: bool = False
    """True while its log has entries that were committed."""
    is_fenced: bool = False
    """True from when its log began anew until it streams: it may not lead."""

    @property
    def is_empty(self) -> bool:
        return self.timeline == 0

    def empty(self) -> None:
        """Remove the data, but not Raft's files."""
        self.timeline = self.location = self.system = 0
        self.settings, self.secrets, self.control = {}, (), {}
        self.is_broken, self.damage = False, ""
        self.rewound_from, self.is_torn = None, False

    def set_raft_aside(self) -> None:
        self.raft, self.knows_raft, self.raft_began = "whole", False, ""
        self.votes.clear()


@dataclass
class Timelines:
    """The beginning of each timeline, by its number, in bytes of WAL."""

    began: dict[int, int] = field(default_factory=dict)

    def begin(self, number: int, location: int) -> None:
        """Begin a timeline; those that had its number or a higher one are forgotten, as nobody can
        distinguish two timelines of one number."""
        self.began = {n: at for n, at in self.began.items() if n < number}
        self.began[number] = location

    def left_at(self, volume: Volume, present: int) -> int | None:
        """Return the point at which the present timeline left the volume's own; None if it did
        not."""
        later = [at for number, at in self.began.items() if volume.timeline < number <= present]
        return min(later, default=None)

    def has_diverged(self, volume: Volume, present: int) -> bool:
        left_at = self.left_at(volume, present)
        return left_at is not None and volume.location > left_at
