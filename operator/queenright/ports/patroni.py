"""Patroni's REST API, as the engine needs it: reading what a member says of itself."""

from __future__ import annotations

from typing import Protocol

from queenright.core.observed import Known, MemberStatus, Unknown


class Patroni(Protocol):
    """The members' REST API (spec: database-cluster §4.1). Never raises for a silent member."""

    async def status(self, address: str, port: int) -> Known[MemberStatus] | Unknown:
        """One member's own word (``/patroni``), its ``/primary`` status, and, from a leader,
        nothing of the others: truth about a member comes from that member."""
        ...

    async def lags(self, address: str, port: int) -> dict[str, int | None]:
        """Replication lag in bytes by member name, as the member at ``address`` sees the cluster
        (``/cluster``); None where Patroni says "unknown". Empty when it does not answer."""
        ...

    async def aclose(self) -> None: ...
