"""A Raft node's files, as pysyncobj keeps them: the journal, its ``.meta`` and the dump.

A kill leaves the files as the process wrote them. A power cut leaves what was synced, of all files
from one moment: that a file may be torn, or newer than another, is not modelled.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum


class Verb(Enum):
    """The kinds of entries. A ``PUT`` stands for anything that Patroni keeps."""

    NO_OP = "no_op"
    ADD = "add"
    REMOVE = "rem"
    PUT = "put"


@dataclass(frozen=True)
class Command:
    """An entry's content; ``subject`` is an address, or the value of a ``PUT``."""

    verb: Verb
    subject: str = ""

    @property
    def changes_members(self) -> bool:
        return self.verb in {Verb.ADD, Verb.REMOVE}


NO_OP = Command(Verb.NO_OP)


@dataclass(frozen=True)
class Entry:
    """One entry of the journal."""

    index: int
    term: int
    command: Command

    @property
    def position(self) -> tuple[int, int]:
        """The order in which a voter compares the ends of two journals."""
        return self.term, self.index


@dataclass(frozen=True)
class Dump:
    """A snapshot: the last two entries that were applied, and what came of all of them.

    ``voters`` is the node's list at that moment, with changes that were not committed yet."""

    before: Entry
    last: Entry
    voters: frozenset[str]
    values: tuple[str, ...]


@dataclass
class Files:
    """The contents of the files. Term and vote are written at once, ``committed`` once a second."""

    journal: list[Entry] = field(default_factory=list)
    term: int = 0
    voted_for: str = ""
    committed: int = 1
    dump: Dump | None = None

    def copy(self) -> Files:
        return replace(self, journal=list(self.journal))


@dataclass
class Disk:
    """``files`` as the processes see them, and ``synced`` as a power cut leaves them."""

    files: Files = field(default_factory=Files)
    synced: Files = field(default_factory=Files)

    def sync(self) -> None:
        self.synced = self.files.copy()

    def lose_unsynced(self) -> None:
        self.files = self.synced.copy()

    def lose_all(self) -> None:
        self.files, self.synced = Files(), Files()
