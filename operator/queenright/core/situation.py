"""One cluster's desired state and everything observed, with the questions that rules ask.

Answers only; decides nothing. Invariant: an answer that rests on an unknown source is the careful
one (not healthy, not idle, not safe).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from queenright.core.catalog import Catalog
from queenright.core.catalog_notes import CatalogNote, read_catalog_note
from queenright.core.desired import DesiredCluster, DesiredMember
from queenright.core.membership import decode_places, strays
from queenright.core.notes import Notes, read_notes
from queenright.core.observed import (
    Attempt,
    ImageFound,
    ImageMissing,
    Known,
    LiveService,
    MemberStatus,
    RaftStatus,
    SwarmState,
    Unknown,
)
from queenright.core.resources import BOOTSTRAPPED_LABEL, MEMBERS_LABEL

SETTLES = timedelta(seconds=5)
"""How long after a change of a service its tasks are not yet taken for what they will be."""
UPDATE_LIMIT = timedelta(minutes=10)
"""After this long an update of one task that is still "under way" is stuck, and may be replaced."""


def is_under_way(live: LiveService) -> bool:
    return live.update_state in {"updating", "rollback_started"}


@dataclass(frozen=True, slots=True)
class Situation:
    """What a rule decides from; ``now`` is the pass's one moment."""

    desired: DesiredCluster
    swarm: SwarmState
    members: Mapping[str, Known[MemberStatus] | Unknown]
    images: Mapping[str, Known[ImageFound | ImageMissing] | Unknown]
    settings: Known[Mapping[str, Any]] | Unknown
    now: datetime
    raft: Mapping[str, Known[RaftStatus] | Unknown] = field(default_factory=dict)
    touched_s_ago: Mapping[str, float] = field(default_factory=dict)
    attempts: Mapping[str, Attempt] = field(default_factory=dict)
    catalog: Known[Catalog] | Unknown = Unknown("not asked yet")  # noqa: RUF009 (frozen itself)

    @property
    def notes(self) -> Notes:
        """What the operator has noted about this cluster."""
        anchor = self.swarm.config(self.desired.anchor.name)
        return read_notes(anchor.value.labels) if anchor is not None else Notes()

    @property
    def catalog_note(self) -> CatalogNote:
        """The roles and databases that the file has had."""
        anchor = self.swarm.config(self.desired.anchor.name)
        return read_catalog_note(anchor.value.labels if anchor is not None else {})

    @property
    def is_paused(self) -> bool:
        """Whether the owner wants nothing to be changed here now."""
        return self.desired.policy.reconcile.is_paused(self.now)

    @property
    def known_settings(self) -> Mapping[str, Any]:
        """Patroni's settings; empty where they are not known, so ask ``settings`` before acting."""
        match self.settings:
            case Known(found):
                return found
            case _:
                return {}

    @property
    def maintained(self) -> tuple[str, ...]:
        """Names of the nodes in maintenance now."""
        return self.desired.policy.maintenance.nodes_at(self.now)

    def member(self, name: str) -> DesiredMember | None:
        return next((member for member in self.desired.members if member.name == name), None)

    def raft_of(self, member: DesiredMember) -> RaftStatus | None:
        match self.raft.get(member.service.name):
            case Known(status):
                return status
            case _:
                return None

    @property
    def is_deployed(self) -> bool:
        """Whether any member's service is there: from then on data may exist."""
        return any(self.swarm.service(member.service.name) for member in self.desired.members)

    @property
    def is_prepared(self) -> bool:
        """Whether everything is there that a member's service refers to."""
        desired, swarm = self.desired, self.swarm
        return (
            swarm.network(desired.network.name) is not None
            and all(swarm.config(config.name) for config in desired.configs)
            and all(swarm.secret(secret.name) for secret in desired.secrets)
        )

    @property
    def has_started(self) -> bool:
        """Whether members may have been started with the present secrets."""
        return self.is_deployed or self.swarm.config(self.desired.anchor.name) is not None

    @property
    def is_bootstrapped(self) -> bool:
        """Whether the cluster was whole once."""
        anchor = self.swarm.config(self.desired.anchor.name)
        return anchor is not None and BOOTSTRAPPED_LABEL in anchor.value.labels

    def status(self, member: DesiredMember) -> MemberStatus | None:
        match self.members.get(member.service.name):
            case Known(status):
                return status
            case _:
                return None

    def why_unknown(self, member: DesiredMember) -> str:
        match self.members.get(member.service.name):
            case Unknown(why):
                return why
            case _:
                return "not asked yet"

    @property
    def leader(self) -> DesiredMember | None:
        """The one member that proves the lock; None when there is none, or more than one claim."""
        claims = self.claims
        return claims[0] if len(claims) == 1 else None

    @property
    def claims(self) -> tuple[DesiredMember, ...]:
        """The members that prove the lock, each by its own word."""
        return tuple(m for m in self.desired.members if (s := self.status(m)) and s.is_leader)

    @property
    def timeline(self) -> int | None:
        """The leader's timeline; None where nobody leads, or it does not say."""
        status = self.status(self.leader) if self.leader else None
        return status.timeline if status else None

    def is_leader(self, member: DesiredMember) -> bool:
        status = self.status(member)
        return status is not None and (status.is_leader or status.holds_lock)

    def unwell(self) -> Iterator[str]:
        """Why the database is not whole: a line a reason; nothing when one leader leads and every
        other member streams from it. Until it was whole once, a replica's lag must be 0 too (spec:
        Deployment order, 6); a busy database always has some."""
        claims = self.claims
        if not claims:
            yield "there is no leader"
        elif len(claims) > 1:
            names = " and ".join(member.name for member in claims)
            yield f"{names} each say that they lead, and prove it by the leader lock"
        for member in self.desired.members:
            status = self.status(member)
            if status is None:
                yield f"{member.name} does not answer ({self.why_unknown(member)})"
            elif member not in claims and not status.is_streaming:
                yield f"{member.name} is {status.state}, not streaming"
            elif member not in claims and not self.is_bootstrapped and status.lag_bytes != 0:
                yield f"{member.name} lags by {status.lag_bytes} bytes"

    def why_too_far(self, member: DesiredMember) -> str | None:
        """Why a replica is too far behind to be relied on (spec: database-cluster §2.5,
        maximum_lag_on_failover); None when it is not. Patroni goes by its own settings, which may
        not be the file's yet."""
        status = self.status(member)
        most: int = self.desired.settings["maximum_lag_on_failover"]
        kept = self.known_settings.get("maximum_lag_on_failover")
        most = min(most, kept) if isinstance(kept, int) else most
        if status is None or status.lag_bytes is None:
            return f"it is not known how far {member.name} is behind"
        if status.lag_bytes > most:
            return f"{member.name} is {status.lag_bytes} bytes behind, more than {most}"
        return None

    def why_no_quorum(self, without: DesiredMember | None = None) -> str | None:
        """Why the Raft quorum is not certain, by the word of each member's own node; ``without``
        is a member that need not answer. What Patroni's REST API says of the cluster comes from
        local memory, and looks the same without a quorum."""
        for member in self.desired.members:
            status = self.raft_of(member)
            if member is without:
                continue
            if status is None:
                return f"the Raft node of {member.name} does not answer"
            if not status.has_quorum:
                return f"the Raft node of {member.name} has no quorum"
        return None

    def why_not_disturb(self, member: DesiredMember) -> str | None:
        """Why this member's task may not be restarted now; None when it may.

        Never the leader, never while another member is not well or far behind, never on an
        unknown, never without a certain quorum.
        """
        leader = self.leader
        if leader is None:
            return "there is no leader that every observation agrees on"
        if self.is_leader(member) and len(self.desired.members) == 1:
            return f"{member.name} is the only member: restarting it stops the database"
        if self.is_leader(member):
            return f"{member.name} is the leader: the lead has to move to another member first"
        if (move := self.notes.move) is not None:
            return f"the lead is moving from {move.leader} to {move.candidate}"
        if any(other.node in self.maintained for other in self.desired.members):
            return f"{', '.join(self.maintained)} in maintenance: the members that stay are needed"
        for other in self.desired.members:
            status = self.status(other)
            if status is None:
                return f"{other.name} does not answer ({self.why_unknown(other)})"
            if other is not leader and other is not member and not status.is_streaming:
                return f"{other.name} is {status.state}, not streaming"
            if status.paused:
                return "Patroni is paused"
            if other is not member and (unsettled := self.why_unsettled(other)):
                return unsettled
            if other is not leader and other is not member and (far := self.why_too_far(other)):
                return far
        return self.why_no_quorum(without=member) or self.why_changing(member) or self.why_stray()

    def why_stray(self) -> str | None:
        """Why it is not certain who the members are: a service says that it is one, and none of
        the deployed ones is it."""
        scope, anchor = self.desired.name, self.swarm.config(self.desired.anchor.name)
        noted = anchor.value.labels.get(MEMBERS_LABEL, "") if anchor is not None else ""
        known = {f"{scope}_{place.name}" for place in decode_places(noted)}
        known |= {member.service.name for member in self.desired.members}
        stray = next(strays(scope, known, self.swarm), None)
        return f"{stray} is labelled as a member, and was not deployed as one" if stray else None

    def why_unsettled(self, member: DesiredMember) -> str | None:
        """Why a member is not to be relied on while another is restarted: it is changing itself, or
        does not run as one task."""
        if changing := self.why_changing(member):
            return changing
        live = self.swarm.service(member.service.name)
        tasks = self.swarm.tasks_of(live.id) if live else ()
        # A task without a node waits for a place that it can't have, and stops nothing.
        alive = [task for task in tasks if task.is_alive and task.node_id]
        if [task.state for task in alive] != ["running"] or not self.swarm.runs(alive[0]):
            return f"{member.service.name} has no single running task"
        return None

    def why_changing(self, member: DesiredMember) -> str | None:
        """Why a member's task may yet be stopped by what was asked of swarm before: Patroni answers
        well until the very moment at which its container is told to end."""
        live = self.swarm.service(member.service.name)
        if live is None:
            return f"{member.service.name} is not in the swarm"
        ahead = live.updated_at - self.now
        if ahead > SETTLES:
            return (
                f"{live.value.name} was changed {ahead.total_seconds():.0f} s from now, by the "
                "managers' clock: this node's clock is behind, and has to be set right"
            )
        touched_s = self.touched_s_ago.get(live.value.name, float("inf"))
        if self.now - live.updated_at < SETTLES or touched_s < SETTLES.total_seconds():
            return f"{live.value.name} was changed a moment ago"
        if is_under_way(live) and self.now - live.updated_at < UPDATE_LIMIT:
            return f"swarm is still carrying out an update of {live.value.name}"
        return None
