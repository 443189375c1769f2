"""Members once a container of theirs has started, ended, or leads.

Pure. Assumes what Patroni does when nothing fails: a member that starts streams from the leader
after its first copy, and the first majority elects a leader. Invariant: a member that did not
answer, and is not started, gives no answer here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from queenright.core.forecast.members import Members
from queenright.core.forecast.sync import with_standbys
from queenright.core.forecast.votes import connected, joined
from queenright.core.kinds.postgres_cluster.patroni.pending_restart import HOT_STANDBY
from queenright.core.observed import Known, MemberStatus, Unknown
from queenright.core.observed.archiving import Archiving
from queenright.core.postgres.catalog import Catalog, referred_roles

FIRST_TIMELINE = 1
GONE = Unknown("its service is not in the swarm")
Pending = Mapping[str, tuple[str, str]]


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
    follow it. The first leader of a cluster that never was healthy begins the database."""
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
    is_first = timeline == FIRST_TIMELINE and not members.is_bootstrapped
    return settled(begun(members) if is_first else members)


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


def stopped(members: Members, service: str) -> Members:
    """Return the members after the service of one is gone; its vote stays."""
    raft = members.raft(service)
    members = members.with_status(service, GONE).with_raft(service, GONE)
    return connected(members, raft.voters) if raft is not None else members
