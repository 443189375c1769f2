"""Asks the Raft partners for their status, and judges whether they can spare this node's log.

pysyncobj's own client asks, with Raft's password where it has one, as Patroni does at its start.
Partners are settled when they form a quorum without this node: more than half of the leader's
voters name that leader in its term and have applied all that was committed when it was asked.
Only then is every committed entry elsewhere, whatever this node forgets.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from pysyncobj.utility import TcpUtility

ANSWER_S = 2.0
STEP_S = 1.0
LEADER = 2
_PARTNER = "partner_node_status_server_"

Ask = Callable[[str], "NodeStatus | None"]


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """A partner's answer. ``voters`` are the nodes that it lists, itself among them."""

    address: str
    leader: str
    term: int
    is_leading: bool
    committed: int
    applied: int
    voters: frozenset[str]


@dataclass(frozen=True, slots=True)
class Node:
    """This node's address, its partners' addresses, and how they are asked; its member's name, and
    True for ``has_data`` if that has been a member before."""

    own: str
    partners: Sequence[str]
    ask: Ask
    name: str = ""
    has_data: bool = False


def asking(password: str | None) -> Ask:
    """Returns a function that asks the node at an address; it answers None without an answer."""

    def ask(address: str) -> NodeStatus | None:
        try:
            found = TcpUtility(password, ANSWER_S).executeCommand(address, ["status"])
            return decoded(found)
        except Exception:  # noqa: BLE001 - anything may listen there, and pysyncobj raises anything
            return None

    return ask


def decoded(status: Any) -> NodeStatus:
    """The status in pysyncobj's answer; an exception of some kind for anything else."""
    own = str(status["self"].id)
    partners = (key.removeprefix(_PARTNER) for key in status if key.startswith(_PARTNER))
    return NodeStatus(
        address=own,
        leader=str(status["leader"].id) if status["leader"] is not None else "",
        term=int(status["raft_term"]),
        is_leading=status["state"] == LEADER,
        committed=int(status["commit_idx"]),
        applied=int(status["last_applied"]),
        voters=frozenset({own, *partners}),
    )


def settled_leader(found: Sequence[NodeStatus], own: str, committed: int = 0) -> NodeStatus | None:
    """The leader of a quorum without ``own`` that has applied everything up to ``committed``.

    A sole voter that does not list ``own`` is one."""
    leading = [s for s in found if s.is_leading and s.leader == s.address != own]
    if len(leading) != 1:
        return None
    leader = leading[0]
    agreeing = {
        s.address
        for s in found
        if (s.leader, s.term) == (leader.leader, leader.term)
        and s.applied >= max(s.committed, committed)
    } & (leader.voters - {own})
    is_quorum = leader.address in agreeing and 2 * len(agreeing) > len(leader.voters)
    return leader if is_quorum else None


def await_settled(
    own: str, partners: Sequence[str], ask: Ask, limit_s: float, step_s: float = STEP_S
) -> NodeStatus | None:
    """Their leader's status, as soon as they are settled; None when they are not in time.

    Asked twice: what the leader had committed at first, the others have applied by the second time.
    """
    deadline = time.monotonic() + limit_s
    while True:
        first = settled_leader(answers(partners, ask), own)
        if first is not None:
            again = settled_leader(answers(partners, ask), own, first.committed)
            if again is not None and (again.address, again.term) == (first.address, first.term):
                return again
        if time.monotonic() >= deadline:
            return None
        time.sleep(step_s)


def answers(partners: Sequence[str], ask: Ask) -> list[NodeStatus]:
    """The answers of the partners that answer; all are asked at the same time."""
    if not partners:
        return []
    with ThreadPoolExecutor(len(partners)) as pool:
        return [found for found in pool.map(ask, partners) if found is not None]
