"""One cluster's members as they were observed, or are after a change, by name.

Looks up, and puts one answer in the place of another; decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.observed import Known, MemberStatus, Observed, RaftStatus, Unknown
from queenright.core.swarm.objects import BOOTSTRAPPED_LABEL


@dataclass(frozen=True)
class Members:
    """A cluster, and the observation of its members."""

    cluster: DesiredCluster
    observed: Observed

    @property
    def services(self) -> tuple[str, ...]:
        return tuple(member.service.name for member in self.cluster.members)

    def status(self, service: str) -> MemberStatus | None:
        match self.observed.members.get(service):
            case Known(status):
                return status
            case _:
                return None

    def raft(self, service: str) -> RaftStatus | None:
        match self.observed.raft.get(service):
            case Known(status):
                return status
            case _:
                return None

    @property
    def rafts(self) -> list[RaftStatus]:
        """The Raft nodes that answer."""
        return [raft for name in self.services if (raft := self.raft(name)) is not None]

    @property
    def leader(self) -> str:
        """Service of the member that leads; empty where none does."""
        found = [name for name in self.services if (s := self.status(name)) and s.is_leader]
        return found[0] if len(found) == 1 else ""

    @property
    def is_bootstrapped(self) -> bool:
        """True if the cluster was healthy once: its members' volumes have its data."""
        match self.observed.swarm:
            case Known(swarm):
                state_config = swarm.config(self.cluster.state_config.name)
            case _:
                return False
        return state_config is not None and BOOTSTRAPPED_LABEL in state_config.value.labels

    @property
    def settings(self) -> Mapping[str, Any]:
        match self.observed.settings.get(self.cluster.name):
            case Known(settings):
                return settings
            case _:
                return {}

    def service_named(self, member: str) -> str:
        found = (m.service.name for m in self.cluster.members if m.name == member)
        return next(found, "")

    def address(self, service: str) -> str:
        """Raft address of a member; that of its own answer where it gives one."""
        if (raft := self.raft(service)) is not None and raft.address:
            return raft.address
        member = next((m for m in self.cluster.members if m.service.name == service), None)
        return member.service.environment.get("RAFT_SELF", "") if member is not None else ""

    def with_status(self, service: str, status: MemberStatus | Unknown) -> Members:
        found: Known[MemberStatus] | Unknown
        found = status if isinstance(status, Unknown) else Known(status)
        return self._with(members={**self.observed.members, service: found})

    def with_raft(self, service: str, raft: RaftStatus | Unknown) -> Members:
        found: Known[RaftStatus] | Unknown
        found = raft if isinstance(raft, Unknown) else Known(raft)
        return self._with(raft={**self.observed.raft, service: found})

    def with_settings(self, settings: Mapping[str, Any]) -> Members:
        return self._with(settings={**self.observed.settings, self.cluster.name: Known(settings)})

    def _with(self, **fields: Any) -> Members:
        return replace(self, observed=replace(self.observed, **fields))
