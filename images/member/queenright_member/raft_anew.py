"""Obeys the operator's request to begin a lost Raft log anew, and fences the members that may not
lead meanwhile.

Invariant: a request counts for the one loss that it names, and nothing is deleted.
"""

import os
import pickle
from dataclasses import dataclass

from .raft_aside import aside, free_number, obeyed, sync_directory, tell, write_whole
from .raft_files import FAR, DamageError, RaftFiles, read_meta
from .raft_status import Node

ANEW, JOIN, FENCE = "anew", "join", "fence"
BEGAN_TAG = "queenright_began"
"""Patroni's tag with the number of the loss after which this member's log began anew, as long as
the log has nothing but that beginning."""


@dataclass(frozen=True, slots=True)
class Anew:
    """The operator's request to a member whose log is lost: ``leader`` is the member that leads on,
    ``number`` that of the loss which it answers. ``joins``: another node has a log, which this one
    must not outvote, so that its term and vote go, too. ``fences``: this node has a log, and keeps
    it; its member may not lead before it streams."""

    leader: str
    number: str
    joins: bool
    fences: bool = False

    @classmethod
    def read(cls, asked: str) -> "Anew | None":
        """The request in a value of RAFT_RESET, ``anew:<leader>:<number>`` or ``join:…``; None for
        any other."""
        word, _, rest = asked.partition(":")
        leader, _, number = rest.rpartition(":")
        is_one = word in {ANEW, JOIN, FENCE} and leader and number
        return cls(leader, number, word == JOIN, word == FENCE) if is_one else None


def put_fence(files: RaftFiles, node: Node, anew: Anew, asked: str) -> None:
    """Keep the member from leading where the request says so, which counts once."""
    if anew.fences and anew.leader != node.name and asked != obeyed(files):
        write_whole(files.fence, anew.leader.encode())
        write_whole(files.obeyed, asked.encode())


def number_of(files: RaftFiles) -> str:
    """The number of the loss with which this member has waited; a new one where it has not, which
    no request can have."""
    try:
        return files.lost.read_text(encoding="utf-8").strip() or os.urandom(6).hex()
    except (OSError, UnicodeDecodeError):
        return os.urandom(6).hex()


def begin_anew(files: RaftFiles, node: Node, anew: Anew, why: str) -> None:
    """Set the files aside though no partner has the log, and fence all but the one that leads on.

    That one may have a fence of an earlier loss, which ends here: a request stays in the service,
    and must not end the fence of a later loss. Killed in between it comes here again, since the
    number of the loss goes last. A term beyond all reason is not carried into the new log.
    """
    if anew.leader != node.name:
        write_whole(files.fence, anew.leader.encode())
    else:
        files.fence.unlink(missing_ok=True)
    try:
        meta = read_meta(files.meta)
    except DamageError:
        meta = {}
    term = meta.get("currentTerm", 0)
    kept = {"raftCommitIndex": 1, "currentTerm": 0, "votedForNodeId": None}
    if term <= FAR and not anew.joins:
        kept |= {"currentTerm": term, "votedForNodeId": meta.get("votedForNodeId")}
    number = free_number(files)
    if files.meta.exists():
        write_whole(aside(files.meta, number), files.meta.read_bytes())
    write_whole(files.meta, pickle.dumps(kept, protocol=2))
    for path in (files.dump, files.journal):
        if path.exists():
            path.rename(aside(path, number))
    sync_directory(files.journal.parent)
    write_whole(files.began, anew.number.encode())
    files.lost.unlink(missing_ok=True)
    sync_directory(files.journal.parent)
    leads = "it may lead" if anew.leader == node.name else f"{anew.leader} leads on"
    tell(f"{why}; set aside as *.broken-{number}, the log begins anew, and {leads}")
