"""The port for the members of Raft: who votes, and the two requests that change that.

A voter is an address, ``host:port``; Raft does not know a member's name. There is no request to
add a voter: a node that starts adds itself.

The caller keeps to one change at a time: the Raft library takes a second one while the first is
not committed yet, and applies them in an order that may leave two quorums. A change counts from
the moment at which the Raft leader takes it, so the caller asks only where the voters that are left
have a majority alive.
"""

from __future__ import annotations

from typing import Protocol

from queenright.core.observed import Known, Unknown


class RaftMembership(Protocol):
    """The Raft nodes of the members, each asked at its own ``address:port`` (5010)."""

    async def voters(self, address: str, port: int) -> Known[frozenset[str]] | Unknown:
        """Return the voters that this node lists, itself among them.

        That is this node's memory alone: it may list changes that are not committed, and a removed
        node goes on to list itself."""
        ...

    async def remove(self, address: str, port: int, voter: str) -> None:
        """Ask this node to have ``voter`` removed; it forwards that to the Raft leader.

        A return means that the change is committed, and applied on the node that was asked.
        UnavailableError for anything else: a refusal (no leader, not a voter, the node asked, the
        Raft leader) and a leader that changed meanwhile have the same text, and without an answer
        the change may still be committed. Observe the voters; do not repeat it blindly.
        """
        ...

    async def transfer(self, address: str, port: int, voter: str) -> None:
        """Ask the Raft leader at ``address:port`` to let ``voter`` lead.

        A return means only that the leader has asked ``voter`` to stand for election: observe who
        leads. ConflictError if it was refused and nothing was sent: the node asked does not lead,
        or ``voter`` leads already, is none of its voters, or has not all of its entries.
        UnavailableError without an answer. A ``voter`` that is not linked to every other node may
        lose its elections, each in a higher term.
        """
        ...
