"""The port for Patroni: the members' status, and the few requests that change something.

Reads never raise if a member is silent. Writes raise the errors of ``ports.errors``, and take the
password of the REST API where it has one (spec: database-cluster §5.6).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from queenright.core.observed import Known, MemberStatus, RaftStatus, TimelineEnd, Unknown
from queenright.ports.secrets import Password


class Patroni(Protocol):
    """The members' REST API (spec: database-cluster §4.1) and Raft's own status command."""

    async def status(self, address: str, port: int) -> Known[MemberStatus] | Unknown:
        """Return a member's own status (``/patroni``) and its ``/primary`` status. Only the member
        itself is asked, not the memory of its peers (``/cluster``)."""
        ...

    async def leading(self, members: Sequence[tuple[str, int]]) -> frozenset[tuple[str, int]]:
        """Return those of these members, by address and port, that say within a second that they
        lead (``/primary``). Of any other nothing is known: it has to be asked for its status."""
        ...

    async def settings(self, address: str, port: int) -> Known[Mapping[str, Any]] | Unknown:
        """Return the cluster-wide settings (``/config``) as the member at ``address`` has them."""
        ...

    async def raft(self, address: str, port: int) -> Known[RaftStatus] | Unknown:
        """Return the quorum as the member's Raft node at ``address:port`` (5010) reports it."""
        ...

    async def history(self, address: str, port: int) -> Known[Sequence[TimelineEnd]] | Unknown:
        """Return the changes of timeline (``/history``), oldest first, as the member has them."""
        ...

    async def leader_location(self, address: str, port: int) -> Known[int] | Unknown:
        """Return the last leader's WAL position in bytes, as Patroni has noted it in Raft, once in
        each ``loop_wait`` (``/cluster``); 0 where it is not beyond any replica's position."""
        ...

    async def patch_settings(
        self,
        address: str,
        port: int,
        patch: Mapping[str, Any],
        expected: Mapping[str, Any],
        password: Password | None,
    ) -> None:
        """Merge ``patch`` into the settings (``PATCH /config``; None removes a key) if they still
        match ``expected``: the same keys, with the values that were observed.

        ConflictError when it is not, or Patroni lost its own compare-and-swap (409).
        UnavailableError when nobody answers in time: it may still be applied.
        """
        ...

    async def switch_over(
        self, address: str, port: int, leader: str, candidate: str, password: Password | None
    ) -> None:
        """Send ``POST /switchover`` to the leader. RejectedError for a precondition (412, 400),
        UnavailableError for anything ambiguous (503, no answer): it may still happen.
        A return means only that Patroni has ended the request; later passes observe the leader."""
        ...

    async def fail_over(
        self, address: str, port: int, candidate: str, password: Password | None
    ) -> None:
        """Send ``POST /failover`` without a leader's name: data may be lost. Errors as above."""
        ...

    async def restart(self, address: str, port: int, password: Password | None) -> None:
        """Send ``POST /restart`` with ``restart_pending``: PostgreSQL alone, only if a restart is
        pending there. Returns when it is up again; UnavailableError when that is unknown."""
        ...

    async def reinitialize(self, address: str, port: int, password: Password | None) -> None:
        """Send ``POST /reinitialize`` with ``force``: the member empties its data directory and
        begins its base backup anew, whatever it was at. ConflictError if it leads; otherwise errors
        as above. A return means that it has begun; later passes observe its state."""
        ...

    async def aclose(self) -> None: ...
