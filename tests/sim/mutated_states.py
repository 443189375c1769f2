"""States that answer wrongly: what a mutated operator decides from."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any

from queenright.core.kinds.postgres_cluster.annotations import Annotations
from queenright.core.kinds.postgres_cluster.deployed import Access, access_to
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.patroni.config_keys import PAUSE_KEY
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import MemberStatus, SwarmState


class Careless(ClusterState):
    """Never sees a reason not to restart a member."""

    def why_not_disrupt(self, member: DesiredMember) -> str | None:
        return None


class Presuming(ClusterState):
    """Takes a member that does not answer for one that is down, and so no reason to wait."""

    def why_not_disrupt(self, member: DesiredMember) -> str | None:
        present = [m for m in self.desired.members if self.status(m) is not None]
        known = dataclasses.replace(self.desired, members=tuple(present))
        return plain(self, desired=known).why_not_disrupt(member)


class Hasty(ClusterState):
    """Takes a member that answers well for one that will, whatever change swarm has received."""

    def why_unsettled(self, member: DesiredMember) -> str | None:
        return None

    def why_changing(self, member: DesiredMember) -> str | None:
        return None


class Pushing(ClusterState):
    """Restarts a member that has just come back."""

    def why_returning(self, member: DesiredMember) -> str | None:
        return None


class Optimistic(ClusterState):
    """Takes every replica that answers for one that streams."""

    def status(self, member: DesiredMember) -> MemberStatus | None:
        found = super().status(member)
        if found is None or found.holds_lock:
            return found
        return dataclasses.replace(found, state="running", replication_state="streaming")


class Usurping(ClusterState):
    """Does not know the leader from a replica when it restarts them."""

    def is_leader(self, member: DesiredMember) -> bool:
        return False


class LagBlind(ClusterState):
    """Asks nobody how far it is behind."""

    def why_too_far(self, member: DesiredMember) -> str | None:
        return None


class Wishful(ClusterState):
    """Takes every member for what the file wants of it."""

    def access(self, member: DesiredMember) -> Access:
        return access_to(self.desired, member, SwarmState(self.swarm.engine))


class PauseBlind(ClusterState):
    """Does not see that Patroni is paused."""

    def status(self, member: DesiredMember) -> MemberStatus | None:
        found = super().status(member)
        return found and dataclasses.replace(found, paused=False)


class QuorumBlind(ClusterState):
    """Takes the quorum for granted."""

    def why_no_quorum(self, without: Collection[DesiredMember] = ()) -> str | None:
        return None


class Impatient(ClusterState):
    """Forgets that a move was asked for: asks again when the answer was ambiguous."""

    @property
    def annotations(self) -> Annotations:
        return dataclasses.replace(super().annotations, move=None)


class Stubborn(ClusterState):
    """Never counts the file's `primary` as fulfilled: reverts every failover."""

    @property
    def annotations(self) -> Annotations:
        return dataclasses.replace(super().annotations, primary="")


class Unmindful(ClusterState):
    """Forgets which nodes are in maintenance when it chooses a leader."""

    @property
    def maintained(self) -> tuple[str, ...]:
        return ()


class Possessive(ClusterState):
    """Takes every pause for the operator's own."""

    @property
    def known_settings(self) -> Mapping[str, Any]:
        found = super().known_settings
        return {**found, PAUSE_KEY: "promotion"} if found.get("pause") else found


class Forgetful(ClusterState):
    """Does not know that the cluster was started with the secrets that are gone."""

    @property
    def has_started(self) -> bool:
        return False


def plain(state: ClusterState, **fields: Any) -> ClusterState:
    return seen_as(ClusterState, state, **fields)


def seen_as(kind: type[ClusterState], state: ClusterState, **fields: Any) -> ClusterState:
    found = {f.name: getattr(state, f.name) for f in dataclasses.fields(state)}
    return kind(**{**found, **fields})
