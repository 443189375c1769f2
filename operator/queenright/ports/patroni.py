"""Patroni's REST API, as the engine needs it: reading what a member says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from queenright.core.observed import Known, MemberStatus, Unknown


class Patroni(Protocol):
    """The members' REST API (spec: database-cluster §4.1). Never raises for a silent member."""

    async def status(self, address: str, port: int) -> Known[MemberStatus] | Unknown:
        """One member's own word (``/patroni``) and its ``/primary`` status: truth about a member
        comes from that member, and not from what its peers remember (``/cluster``)."""
        ...

    async def settings(self, address: str, port: int) -> Known[Mapping[str, Any]] | Unknown:
        """The cluster-wide settings (``/config``) as the member at ``address`` remembers them."""
        ...

    async def aclose(self) -> None: ...
