"""Decides with which Raft files a member starts: as they are, with some set aside, or not at all.

A journal that pysyncobj cannot read makes Patroni exit at every start; one that it cannot apply
(its dump is lost) makes a node that votes and knows nothing; a garbage term would become the whole
cluster's; the log of a member that was removed, and is back, would have it vote among former
voters. Where the partners can spare this node's log, the files are renamed to ``.broken-<n>`` and
the node learns everything from them. Where they can't, the member waits, and tells that
(``raft_wait``); the operator, who hears the same of all, has them begin a log anew. Invariant:
nothing is deleted, nothing is renamed while the partners are not settled and this very loss was not
answered, and term and vote are kept unless they are themselves garbage.
"""

import pickle
from collections.abc import Callable, Mapping
from pathlib import Path

from .inputs import RAFT_UNREADABLE, StartError
from .raft_anew import Anew, begin_anew, number_of, put_fence
from .raft_aside import aside, free_number, obeyed, sync_directory, tell, write_whole
from .raft_damage import Finding, inspect, missing, told
from .raft_files import FAR, DamageError, RaftFiles, read_journal, read_meta
from .raft_status import Node, NodeStatus, answers, await_settled

RESET = "RAFT_RESET"
"""Environment variable: a value that the node has not obeyed yet asks it to set its log aside."""
LIMIT_S = 25.0
"""For the partners to settle: within the health check's first failures (spec: §8)."""
SPARE_S = 8.0
"""The same, where the member can start without."""


Wait = Callable[[], NodeStatus]
"""Waits with a log that is lost; returns the partners' leader if they can spare it at last."""


def nobody_began() -> bool:
    return False


def repair(
    files: RaftFiles,
    node: Node,
    asked: str,
    limit_s: float = LIMIT_S,
    wait: Wait | None = None,
    *,
    has_begun: Callable[[], bool] = nobody_began,
) -> None:
    """Set aside what cannot be started with, or what the operator ``asked`` to set aside.

    Where the member cannot start and the partners are not settled it waits; StartError without a
    way to ``wait``. Where a partner's log ``has_begun`` anew, this member gets a fence.
    """
    finding = inspect(files) or missing(files, node) or told(files) or former(files, node)
    anew = Anew.read(asked)
    if anew is not None:
        put_fence(files, node, anew, asked)
    answers = anew is not None and not anew.fences and anew.number == number_of(files)
    if anew is not None and finding is not None and answers:
        begin_anew(files, node, anew, str(finding))
        return
    if finding is None and files.began.exists() and is_used(files.journal):
        files.began.unlink()
    asked = "" if anew is not None else asked
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
    if leader is None and finding is not None and finding.fatal:
        if wait is None:
            raise StartError(refusal(finding, node), status=RAFT_UNREADABLE)
        tell(str(finding))
        leader = wait()
    if leader is not None:
        if has_begun():
            write_whole(files.fence, leader.address.encode())
        set_aside(files, leader, why)
        for path in (files.lost, files.began):
            path.unlink(missing_ok=True)
        if is_new:
            write_whole(files.obeyed, asked.encode())
    else:
        tell(f"{why}; its log stays, because the partners are not settled without it")


def former(files: RaftFiles, node: Node) -> Finding | None:
    """The finding for the log of a member that was removed, and is back: the partners' leader does
    not list it. pysyncobj takes the voters that its files name, not what partners say."""
    if not files.dump.exists() and not is_used(files.journal):
        return None
    leading = [s for s in answers(node.partners, node.ask) if s.is_leading]
    if not leading or any(node.own in status.voters for status in leading):
        return None
    told = f"{leading[0].address} does not list it"
    why = f"it is of the time before this member was removed ({told})"
    return Finding(files.journal, why, fatal=False)


def refusal(finding: Finding, node: Node) -> str:
    """Return the fault, and what a person can do, on one line."""
    return (
        f"{finding}, and no quorum of the partners ({', '.join(node.partners) or 'none'}) has a "
        "leader and has applied its log, so nothing was touched; start the partners, and this "
        "member sets the file aside and starts by itself. If they wait for this member, rename the "
        "journal and the .dump beside it by hand, on this member only"
    )


def is_used(journal: Path) -> bool:
    """Return True if a readable journal has more than the entry that pysyncobj begins it with."""
    return journal.exists() and len(read_journal(journal.read_bytes())) > 1


def set_aside(files: RaftFiles, leader: NodeStatus, why: str) -> None:
    """Rename dump and journal; ``.meta`` stays if its term can be the cluster's.

    In that order: a node that is killed in between still has the journal that could not be read,
    and comes here again.
    """
    number = free_number(files)
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
