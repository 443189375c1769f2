"""Actions on Raft's list of voters, as values.

There is none that adds a voter: a member that starts adds itself. Invariant: each is one change,
asked of one node once; later passes observe what came of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from queenright.core.actions.action import Action


@dataclass(frozen=True, slots=True, kw_only=True)
class RaftAction(Action):
    """A request to the Raft node at ``address:port``, about ``voter`` (``host:port``)."""

    cluster: str
    address: str
    port: int
    voter: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RaftRemove(RaftAction):
    """Remove a voter. ``disrupts`` names its service if it has one that may run: its Patroni is
    without a quorum from then on."""

    @property
    def key(self) -> str:
        return f"raft-remove/{self.cluster}/{self.voter}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RaftTransfer(RaftAction):
    """Let ``voter`` lead Raft; the node that is asked is the one that leads it now. The database's
    leader does not change."""

    @property
    def key(self) -> str:
        return f"raft-transfer/{self.cluster}"


AnyRaftAction: TypeAlias = RaftRemove | RaftTransfer
