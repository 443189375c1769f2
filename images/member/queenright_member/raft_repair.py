"""Decides with which Raft files a member starts: as they are, with some set aside, or not at all.

A journal that pysyncobj cannot read makes Patroni exit at every start; one that it cannot apply
(its dump is lost) makes a node that votes and knows nothing; a garbage term would become the whole
cluster's. Where the partners can spare this node's log, the files are renamed to ``.broken-<n>``
and the node learns everything from them. Invariant: nothing is deleted, nothing is renamed while
the partners are not settled, and term and vote are kept unless they are themselves garbage.
"""

import os
import pickle
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .inputs import RAFT_UNREADABLE, StartError
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
from .raft_status import Ask, NodeStatus, await_settled

RESET = "RAFT_RESET"
"""Environment variable: a value that the node has not obeyed yet asks it to set its log aside."""
LIMIT_S = 25.0
"""For the partners to settle: within the health check's first failures (spec: §8)."""
SPARE_S = 8.0
"""The same, where the member can start without."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A damaged file and its fault. ``fatal``: Patroni must not be started with it."""

    path: Path
    why: str
    fatal: bool = True

    def __str__(self) -> str:
        return f"Raft file {self.path}: {self.why}"


@dataclass(frozen=True, slots=True)
class Node:
    """This node's address, its partners' addresses, and how they are asked."""

    own: str
    partners: Sequence[str]
    ask: Ask


def repair(files: RaftFiles, node: Node, asked: str, limit_s: float = LIMIT_S) -> None:
    """Set aside what cannot be started with, or what the operator ``asked`` to set aside.

    StartError if the member cannot start and the partners are not settled.
    """
    finding = inspect(files)
    is_new = bool(asked) and asked != obeyed(files)
    if finding is None and not is_new:
        return
    if finding is None and not files.journal.exists():
        write_whole(files.obeyed, asked.encode())
        return
    can_start = finding is not None and not finding.fatal and not is_new
    wait_s = min(limit_s, SPARE_S) if can_start else limit_s
    leader = await_settled(node.own, node.partners, node.ask, wait_s)
    why = str(finding or f"{RESET} is {asked}")
    if leader is not None:
        set_aside(files, leader, why)
        if is_new:
            write_whole(files.obeyed, asked.encode())
    elif finding is not None and finding.fatal:
        raise StartError(refusal(finding, node), status=RAFT_UNREADABLE)
    else:
        tell(f"{why}; its log stays, because the partners are not settled without it")


def refusal(finding: Finding, node: Node) -> str:
    """Return the fault, and what a person can do, on one line."""
    return (
        f"{finding}, and no quorum of the partners ({', '.join(node.partners) or 'none'}) has a "
        "leader and has applied its log, so nothing was touched; start the partners, and this "
        "member sets the file aside and starts by itself. If they wait for this member, rename the "
        "journal and the .dump beside it by hand, on this member only"
    )


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


def last_term(entries: Sequence[Entry]) -> int:
    return entries[-1].term if entries else 0


def set_aside(files: RaftFiles, leader: NodeStatus, why: str) -> None:
    """Rename dump and journal; ``.meta`` stays if its term can be the cluster's.

    In that order: a node that is killed in between still has the journal that could not be read,
    and comes here again.
    """
    number = 1
    every = (files.meta, files.dump, files.journal)
    while any(aside(path, number).exists() for path in every):
        number += 1
    meta = kept_meta(files, leader)
    if meta is None:
        if files.meta.exists():
            files.meta.rename(aside(files.meta, number))
        write_whole(files.meta, pickle.dumps(voted(leader), protocol=2))
    for path in (files.dump, files.journal):
        if path.exists():
            path.rename(aside(path, number))
    sync_directory(files.journal.parent)
    tell(f"{why}; set aside as *.broken-{number}, the log comes from {leader.address} anew")


def kept_meta(files: RaftFiles, leader: NodeStatus) -> Mapping[str, object] | None:
    """Term and vote as they are stored; None if there are none, or they are garbage."""
    try:
        meta = read_meta(files.meta)
    except DamageError:
        return None
    term = meta.get("currentTerm")
    return meta if term is not None and abs(term - leader.term) <= FAR else None


def voted(leader: NodeStatus) -> dict[str, object]:
    """A vote for the present leader: whomever this node voted for in that term or before, it votes
    for nobody else there."""
    return {"raftCommitIndex": 1, "currentTerm": leader.term, "votedForNodeId": leader.address}


def aside(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.broken-{number}")


def obeyed(files: RaftFiles) -> str:
    try:
        return files.obeyed.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is there wholly or not at all, whatever happens to the power."""
    new = path.with_name(f"{path.name}.new")
    with new.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def tell(text: str) -> None:
    print(f"WARNING: {text}", file=sys.stderr, flush=True)
