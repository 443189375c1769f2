"""Patroni, as the engine needs it: what members say of themselves, and the few verbs that change.

Reads never raise for a silent member. Writes raise ``ports.errors``' three, and are given the
password of the REST API where it has one (spec: database-cluster §5.6).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from queenright.core.observed import Known, LeaderChange, MemberStatus, RaftStatus, Unknown


@dataclass(frozen=True, slots=True)
class Password:
    """A secret's value; never shown, whatever prints it."""

    value: str = field(repr=False)

    def __str__(self) -> str:
        return "<password>"


class Patroni(Protocol):
    """The members' REST API (spec: database-cluster §4.1) and Raft's own status command."""

    async def status(self, address: str, port: int) -> Known[MemberStatus] | Unknown:
        """One member's own word (``/patroni``) and its ``/primary`` status: truth about a member
        comes from that member, and not from what its peers remember (``/cluster``)."""
        ...

    async def settings(self, address: str, port: int) -> Known[Mapping[str, Any]] | Unknown:
        """The cluster-wide settings (``/config``) as the member at ``address`` remembers them."""
        ...

    async def raft(self, address: str, port: int) -> Known[RaftStatus] | Unknown:
        """What the member's Raft node at ``address:port`` (5010) says of the quorum."""
        ...

    async def history(self, address: str, port: int) -> Known[Sequence[LeaderChange]] | Unknown:
        """The changes of timeline (``/history``), oldest first, as the member remembers them."""
        ...

    async def patch_settings(
        self,
        address: str,
        port: int,
        patch: Mapping[str, Any],
        expected: Mapping[str, Any],
        password: Password | None,
    ) -> None:
        """Merge ``patch`` into the settings (``PATCH /config``; None removes a key), if what it
        changes still is as ``expected``: the same keys, with the values that were observed.

        ConflictError when it is not, or Patroni lost its own compare-and-swap (409).
        UnavailableError when nobody answers in time: it may still be applied.
        """
        ...

    async def switch_over(
        self, address: str, port: int, leader: str, candidate: str, password: Password | None
    ) -> None:
        """``POST /switchover`` at the leader. RejectedError for a precondition (412, 400),
        UnavailableError for anything ambiguous (503, no answer): it may still happen.
        Returning means only that Patroni has ended the request: who leads is observed."""
        ...

    async def fail_over(
        self, address: str, port: int, candidate: str, password: Password | None
    ) -> None:
        """``POST /failover`` without a leader's name: data may be lost. Errors as above."""
        ...

    async def restart(self, address: str, port: int, password: Password | None) -> None:
        """``POST /restart`` with ``restart_pending``: PostgreSQL alone, only if a restart is
        pending there. Returns when it is up again; UnavailableError when that is not known."""
        ...

    async def aclose(self) -> None: ...
