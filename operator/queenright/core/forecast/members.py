"""Members' answers once a container of theirs has started, ended, or leads.

Pure. Assumes what Patroni does when nothing fails: a member that starts streams from the leader
after its first copy, the first majority elects a leader, and a Raft node that starts adds itself
to the voters. Invariant: a member that did not answer, and is not started, gives no answer here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from queenright.core.forecast.sync import with_standbys
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.observed import Known, MemberStatus, Observed, RaftStatus, Unknown
from queenright.core.observed.archiving import Archiving
from queenright.core.postgres.catalog import Catalog, referred_roles
from queenright.core.swarm.label_values import read_json
from queenright.core.swarm.objects import PARTNERS_VARIABLE

FIRST_TIMELINE = 1
GONE = Unknown("its service is not in the swarm")
NO_VOTE = Unknown("its Raft node is no voter any more")
Pending = Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class Members:
    """One cluster's members as they were observed, or are after a change."""

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


def started(members: Members, service: str) -> Members:
    """Return the members after a container of one has started, for the first time or again."""
    before, leader = members.status(service), members.leader
    waiting = remaining(members, service, before)
    found = MemberStatus(
        state="running",
        role="replica",
        paused=bool(members.settings.get("pause")),
        pending_restart=bool(waiting),
        pending_changes=waiting,
        tags=before.tags if before is not None else {},
        version=before.version if before is not None else "",
        server_version=before.server_version if before is not None else 0,
        timeline=before.timeline if before is not None else None,
        location=before.location if before is not None else None,
    )
    members = joined(members.with_status(service, found), service)
    if leader and leader != service:
        return settled(follows(members, service))
    return settled(elected(members))


def remaining(members: Members, service: str, before: MemberStatus | None) -> Pending:
    """Return the parameters that still wait after a restart: those that a replica can't lower
    before its leader has."""
    leader = members.leader
    ahead = members.status(leader) if leader and leader != service else None
    if before is None or ahead is None:
        return {}
    return {
        name: values
        for name, values in before.pending_changes.items()
        if name in ahead.pending_changes and is_standby_bound(name, values)
    }


HOT_STANDBY = frozenset(
    {
        "max_connections",
        "max_locks_per_transaction",
        "max_prepared_transactions",
        "max_wal_senders",
        "max_worker_processes",
    }
)
"""Parameters of which a standby never has less than its primary (PostgreSQL: "Hot Standby")."""


def is_standby_bound(name: str, values: tuple[str, str]) -> bool:
    """Return True for a parameter that is lowered, and that no replica applies before its
    leader."""
    present, future = values
    if name not in HOT_STANDBY:
        return False
    return present.isdecimal() and future.isdecimal() and int(future) < int(present)


def follows(members: Members, service: str) -> Members:
    """Return the members with one as a replica that streams from the leader, without a lag."""
    status, ahead = members.status(service), members.status(members.leader)
    if status is None or ahead is None:
        return members
    streaming = replace(
        status,
        state="streaming",
        role="replica",
        holds_lock=False,
        replication_state="streaming",
        timeline=ahead.timeline,
        location=ahead.location,
        lag_bytes=0,
        cluster_unlocked=False,
        paused=ahead.paused,
    )
    return members.with_status(service, streaming)


def elected(members: Members) -> Members:
    """Return the members after an election, if a majority of the voters answers and nobody leads:
    the newest data win, then the file's `primary`, then the order of the file."""
    able = [name for name in members.services if (s := members.status(name)) and s.is_running]
    voters = {address for name in able if (raft := members.raft(name)) for address in raft.voters}
    if members.leader or not able or 2 * len(able) <= len(voters):
        return members
    primary = members.service_named(members.cluster.policy.primary)

    def rank(name: str) -> tuple[int, int, bool]:
        status = members.status(name)
        known = (status.timeline or 0, status.location or 0) if status is not None else (0, 0)
        return (*known, name == primary)

    return led(members, max(able, key=rank))


def led(members: Members, service: str) -> Members:
    """Return the members after one was promoted: it is on the next timeline, and all that run
    follow it. A member without a cluster before begins the database."""
    chosen = members.status(service)
    if chosen is None:
        return members
    known = (s.timeline for name in members.services if (s := members.status(name)))
    timeline = max((number for number in known if number), default=FIRST_TIMELINE - 1) + 1
    former = members.leader
    leads = replace(
        chosen,
        state="running",
        role="primary",
        holds_lock=True,
        replication_state="",
        lag_bytes=None,
        timeline=timeline,
        location=chosen.location if chosen.location is not None else 0,
        cluster_unlocked=False,
        synchronous="",
    )
    if former and former != service and (old := members.status(former)) is not None:
        waiting = {
            name: values
            for name, values in old.pending_changes.items()
            if name in chosen.pending_changes and is_standby_bound(name, values)
        }
        demoted = replace(
            old,
            role="replica",
            holds_lock=False,
            pending_restart=bool(waiting),
            pending_changes=waiting,
        )
        members = members.with_status(former, demoted)
    members = members.with_status(service, leads)
    for name in members.services:
        status = members.status(name)
        if name != service and status is not None and (status.is_running or name == former):
            members = follows(members, name)
    return settled(begun(members) if timeline == FIRST_TIMELINE else members)


def begun(members: Members) -> Members:
    """Return the members after the database was made: Patroni's settings are the file's, and the
    leader has no roles and databases but PostgreSQL's own."""
    cluster, observed = members.cluster, members.observed
    members = members.with_settings(dict(cluster.settings))
    others = frozenset(n for n in referred_roles(cluster.catalog) if n.startswith("pg_"))
    wanted = cluster.catalog.databases
    offered = frozenset(name for database in wanted for name in database.extensions)
    empty = Catalog(others=others | {"postgres"}, available=offered | {"plpgsql"})
    observed = replace(members.observed, catalogs={**observed.catalogs, cluster.name: Known(empty)})
    return replace(members, observed=observed)


def archives(members: Members, archiving: Archiving) -> Members:
    """Return the members with a leader that archives."""
    found = {**members.observed.archiving, members.cluster.name: Known(archiving)}
    return replace(members, observed=replace(members.observed, archiving=found))


def settled(members: Members) -> Members:
    """Return the members with the part of each replica in commits as Patroni's settings ask."""
    statuses = {name: s for name in members.services if (s := members.status(name)) is not None}
    for name, status in with_standbys(statuses, members.settings).items():
        if status != statuses[name]:
            members = members.with_status(name, status)
    return members


# Raft


def joined(members: Members, service: str) -> Members:
    """Return the members after the Raft node of one has started, and has added itself."""
    own, known = members.address(service), members.rafts
    base = next((raft for raft in known if raft.has_quorum), None)
    raft = members.raft(service) or base or RaftStatus(has_quorum=False)
    listed = [one.voters for one in known if one.has_quorum or base is None]
    partners = () if base is not None else partners_of(members, service)
    voters = frozenset[str]().union(*listed, partners, {own})
    return connected(members.with_raft(service, replace(raft, address=own)), voters)


def partners_of(members: Members, service: str) -> frozenset[str]:
    """Return the Raft addresses that a member is told at its first start."""
    found = (m.service for m in members.cluster.members if m.service.name == service)
    text = next((one.environment.get(PARTNERS_VARIABLE, "") for one in found), "")
    listed = read_json(text)
    return frozenset(map(str, listed)) if isinstance(listed, list) else frozenset()


def left(members: Members, voter: str) -> Members:
    """Return the members after a vote was removed: its own node is without a quorum."""
    for name in members.services:
        if members.address(name) == voter and members.raft(name) is not None:
            members = members.with_raft(name, NO_VOTE)
            status = members.status(name)
            if status is not None:
                members = members.with_status(name, replace(status, replication_state=""))
    listed = (raft.voters for raft in members.rafts)
    return connected(members, frozenset[str]().union(*listed) - {voter})


def stopped(members: Members, service: str) -> Members:
    """Return the members after the service of one is gone; its vote stays."""
    raft = members.raft(service)
    members = members.with_status(service, GONE).with_raft(service, GONE)
    return connected(members, raft.voters) if raft is not None else members


def connected(members: Members, voters: frozenset[str], leader: str = "") -> Members:
    """Return the members with these voters, of which those reach each other that answer."""
    nodes = {
        name: raft
        for name in members.services
        if (raft := members.raft(name)) is not None and raft.address in voters
    }
    answering = frozenset(raft.address for raft in nodes.values())
    known = (raft.leader for raft in nodes.values() if raft.leader in answering)
    leader = leader or next(known, "") or min(answering, default="")
    has_quorum = 2 * len(answering) > len(voters)
    index = max((raft.commit_index for raft in nodes.values()), default=1)
    for name, raft in nodes.items():
        others = answering - {raft.address}
        status = replace(
            raft,
            has_quorum=has_quorum,
            leader=leader if has_quorum else "",
            term=max(raft.term, 1),
            reachable=others,
            unreachable=voters - answering,
            state="leader" if has_quorum and raft.address == leader else "follower",
            commit_index=index,
            last_applied=index,
            match_index=dict.fromkeys(others, index) if raft.address == leader else {},
        )
        members = members.with_raft(name, status)
    return members
