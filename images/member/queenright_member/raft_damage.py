"""Finds the Raft file that a member cannot start with; changes nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .raft_files import (
    FAR,
    DamageError,
    Entry,
    RaftFiles,
    check_terms,
    read_journal,
    read_meta,
    why_not_whole,
)
from .raft_status import Node


@dataclass(frozen=True, slots=True)
class Finding:
    """A damaged file and its fault. ``fatal``: Patroni must not be started with it."""

    path: Path
    why: str
    fatal: bool = True

    def __str__(self) -> str:
        return f"Raft file {self.path}: {self.why}"


def inspect(files: RaftFiles) -> Finding | None:
    """The first thing that pysyncobj could not start with, or not apply; None if there is none."""
    try:
        data = files.journal.read_bytes()
    except FileNotFoundError:
        return None  # pysyncobj begins a new one
    except OSError as error:
        return Finding(files.journal, f"it cannot be read ({error.strerror})")
    try:
        meta = read_meta(files.meta)
    except DamageError as error:
        return Finding(files.meta, f"it is damaged: {error}")
    try:
        entries = read_journal(data)
        check_terms(entries, meta)
    except DamageError as error:
        return Finding(files.journal, f"it cannot be read as pysyncobj reads it: {error}")
    if (stored := meta.get("currentTerm", 0)) > last_term(entries) + FAR:
        return Finding(files.meta, f"it has a garbage term ({stored})")
    if entries and entries[0].index > 1 and (why := why_not_whole(files.dump)):
        told = f"it {why}, and the journal begins at entry {entries[0].index}: it cannot be applied"
        return Finding(files.dump, told, fatal=False)
    return None


def missing(files: RaftFiles, node: Node) -> Finding | None:
    """The finding for a journal that is gone beside data, so that the node has voted before."""
    if not node.has_data or not node.partners or files.journal.exists():
        return None
    return Finding(files.journal, "it is gone, and the member has data")


def told(files: RaftFiles) -> Finding | None:
    """The finding for a log that this member has once told to be lost: others may have begun one
    anew by that word, so it is never used again, even if it can be read now."""
    if not files.lost.exists():
        return None
    return Finding(files.journal, "it was lost at an earlier start")


def last_term(entries: Sequence[Entry]) -> int:
    return entries[-1].term if entries else 0
