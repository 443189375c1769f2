"""One cluster's desired state and everything observed, with the questions that rules ask.

Answers only; decides nothing. Invariant: an answer that rests on an unknown source is the careful
one (not healthy, not idle, not safe).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.facts import ClusterFacts
from queenright.core.kinds.postgres_cluster.losses.returning import why_returning
from queenright.core.kinds.postgres_cluster.membership import unknown_members
from queenright.core.kinds.postgres_cluster.places import decode_places
from queenright.core.kinds.postgres_cluster.raft_reset import is_stuck
from queenright.core.kinds.postgres_cluster.replication.standbys import can_confirm
from queenright.core.observed import joining_key, raft_key
from queenright.core.observed.ages import age_of
from queenright.core.planning.ages import certain_age
from queenright.core.planning.service_context import SETTLES, UPDATE_LIMIT, is_under_way
from queenright.core.swarm.objects import MEMBERS_LABEL


@dataclass(frozen=True)
class ClusterState(ClusterFacts):
    """One cluster as a rule sees it: its facts, and the reasons not to disrupt it now."""

    def unwell(self) -> Iterator[str]:
        """Reasons why the database is not healthy, a line each; none when all members are well.

        All are well when one leader leads and every other member streams from it. Until it was
        healthy once, a replica's lag must be 0 too (spec: Deployment order, 6); a busy database
        always has some.
        """
        claims = self.claims
        if not claims:
            yield "there is no leader"
        elif len(claims) > 1:
            names = " and ".join(member.name for member in claims)
            yield f"{names} each prove the leader lock"
        for member in self.desired.members:
            status = self.status(member)
            if status is None:
                yield f"{member.name} does not answer ({self.why_unknown(member)})"
            elif member not in claims and not status.is_streaming:
                yield f"{member.name} is {status.state}, not streaming"
            elif member not in claims and not self.is_bootstrapped and status.lag_bytes != 0:
                yield f"{member.name} lags by {status.lag_bytes} bytes"
            if stuck := self.why_raft_stuck(member):
                yield stuck

    def why_too_far(self, member: DesiredMember) -> str | None:
        """Reason why a replica is too far behind to be relied on; None when it is not (spec:
        database-cluster §2.5). Patroni uses its own settings, which may not be the file's yet."""
        status = self.status(member)
        most: int = self.desired.settings["maximum_lag_on_failover"]
        kept = self.known_settings.get("maximum_lag_on_failover")
        most = min(most, kept) if isinstance(kept, int) else most
        if status is None or status.lag_bytes is None:
            return f"the lag of {member.name} is not known"
        if status.lag_bytes > most:
            return f"{member.name} lags by {status.lag_bytes} bytes, more than {most}"
        return None

    def why_no_quorum(self, without: Collection[DesiredMember] = ()) -> str | None:
        """Reason why the quorum is not certain, by each Raft node but those of ``without``; None if
        it is. Patroni's REST API reports from local memory, and looks the same without a quorum."""
        for member in self.desired.members:
            status = self.raft_of(member)
            if member in without:
                continue
            if status is None:
                return f"the Raft node of {member.name} does not answer"
            if not status.has_quorum:
                return f"the Raft node of {member.name} has no quorum"
        return None

    def why_raft_stuck(self, member: DesiredMember) -> str | None:
        """Reason why a member's Raft node is of no use though it has quorum; None when it is."""
        status = self.raft_of(member)
        seen_s = self.seen_s_ago.get(raft_key(member.service.name))
        if status is None or not is_stuck(status, seen_s):
            return None
        return (
            f"the Raft node of {member.name} votes, but has applied only {status.last_applied} of "
            f"{status.commit_index} entries"
        )

    def why_not_disrupt(self, member: DesiredMember) -> str | None:
        """Reason why this member's task may not be restarted now; None when it may.

        Never the leader, never while another member is not well or far behind, never on an unknown,
        never without a certain quorum.
        """
        leader = self.leader
        if leader is None:
            return "no single member proves the leader lock"
        if self.is_leader(member) and len(self.desired.members) == 1:
            return f"{member.name} is the only member (a restart stops the database)"
        if self.is_leader(member):
            return f"{member.name} is the leader (a switchover comes first)"
        if (move := self.annotations.move) is not None:
            return f"a switchover from {move.leader} to {move.candidate} is in progress"
        if any(other.node in self.maintained for other in self.desired.members):
            return f"{', '.join(self.maintained)} in maintenance (the members that stay are needed)"
        for other in self.desired.members:
            status = self.status(other)
            if status is None:
                return f"{other.name} does not answer ({self.why_unknown(other)})"
            if other is not leader and other is not member and not status.is_streaming:
                return f"{other.name} is {status.state}, not streaming"
            if status.paused:
                return "Patroni is paused"
            if other is not member and (
                unsettled := self.why_unsettled(other) or self.why_raft_stuck(other)
            ):
                return unsettled
            if other is not leader and other is not member and (far := self.why_too_far(other)):
                return far
        return (
            self.why_no_quorum(without=(member,))
            or self.why_changing(member)
            or self.why_returning(member)
            or self.why_stray()
            or self.why_no_standby(without=(member,))
        )

    def why_returning(self, member: DesiredMember) -> str | None:
        """Reason why a restart of this member may break its rewind off; None when there is none."""
        status = self.status(member)
        if status is None or self.leader is None:
            return None
        return why_returning(
            member.name, status, age_of(self.seen_s_ago, joining_key(member.service.name))
        )

    def may_begin_again(self, member: DesiredMember) -> bool:
        """True for a member whose last try to restore a cluster that was never whole came to
        nothing: it has no data, and what the file says now may help it."""
        status = self.status(member)
        has_failed = status is not None and bool(status.failed_restore) and not status.is_running
        return has_failed and not self.is_bootstrapped and not self.claims

    def why_no_standby(self, without: Collection[DesiredMember]) -> str | None:
        """Reason why no replica could confirm commits without these members; None when one could,
        or none has to."""
        wanted = self.replication
        left = [m for m in self.desired.members if m not in without and not self.is_leader(m)]
        if not wanted.is_synchronous or any(
            (status := self.status(member)) and can_confirm(status, wanted) for member in left
        ):
            return None
        end = "commits would wait" if wanted.strict else "a failover would have no candidate"
        if not left:
            end += "; add a member, or write replication: {mode: asynchronous} for that time"
        return (
            f"no replica could confirm commits ({wanted.mode} replication) without "
            f"{', '.join(member.name for member in without)}: {end}"
        )

    def why_stray(self) -> str | None:
        """Reason why the list of members is not certain; None when it is.

        A service is labelled as a member, and is none of the deployed ones.
        """
        scope, text = self.desired.name, self.noted_labels.get(MEMBERS_LABEL, "")
        known = {f"{scope}_{place.name}" for place in decode_places(text)}
        known |= {member.service.name for member in self.desired.members}
        stray = next(unknown_members(scope, known, self.swarm), None)
        return f"service {stray} has a member's labels, but was not deployed" if stray else None

    def why_unsettled(self, member: DesiredMember) -> str | None:
        """Reason why a member is not to be relied on while another is restarted; None when it is.

        It is changing itself, or does not run as one task.
        """
        if changing := self.why_changing(member):
            return changing
        live = self.swarm.service(member.service.name)
        if live is None or self.swarm.sole_task(live.id) is None:
            return f"{member.service.name} has no single running task"
        return None

    def why_changing(self, member: DesiredMember) -> str | None:
        """Reason why an earlier change may yet stop a member's task; None when none may.

        Patroni answers well until the very moment at which its container is stopped.
        """
        live = self.swarm.service(member.service.name)
        if live is None:
            return f"{member.service.name} is not in the swarm"
        seen = age_of(self.seen_s_ago, live.id)
        ahead = live.updated_at - self.now
        if ahead > SETTLES and seen is None:
            return (
                f"{live.value.name} was changed {ahead.total_seconds():.0f} s in the future by the "
                "managers' clock (this node's clock is behind; set it right)"
            )
        touched = age_of(self.observed.touched_s_ago, live.value.name)
        age = certain_age(live.updated_at, self.now, seen)
        if age < SETTLES or (touched is not None and touched < SETTLES):
            return f"{live.value.name} was changed a moment ago"
        if is_under_way(live) and age < UPDATE_LIMIT:
            return f"swarm is still updating {live.value.name}"
        return None
