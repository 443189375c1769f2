"""Read one cluster: each member's status, its Raft node's, and the leader's settings.

Invariant: a member that does not answer is Unknown with its reason, and delays no other.

"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio

from queenright.core.kinds.postgres_cluster.deployed import Access, access_to
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster, DesiredMember
from queenright.core.kinds.postgres_cluster.topology.wanted import Arrival, arrival_key
from queenright.core.observed import (
    Known,
    MemberStatus,
    RaftStatus,
    SwarmState,
    TimelineEnd,
    Unknown,
)
from queenright.engine.archiving import ArchivingReading, observe_archiving
from queenright.engine.observe_databases import CatalogReading, observe_catalog
from queenright.engine.observe_holder import HolderReading, observe_holder
from queenright.engine.password_checks import Judging
from queenright.engine.silence import SILENT
from queenright.ports import Ports

MemberReading = Known[MemberStatus] | Unknown
RaftReading = Known[RaftStatus] | Unknown
SettingsReading = Known[Mapping[str, Any]] | Unknown
HistoryReading = Known[Sequence[TimelineEnd]] | Unknown
LocationReading = Known[int] | Unknown
NOBODY = Unknown("no leader to ask")


@dataclass(frozen=True, slots=True)
class Readings:
    """The members' answers: each one's status, and the leader's view of the cluster."""

    members: dict[str, MemberReading] = field(default_factory=dict)
    settings: dict[str, SettingsReading] = field(default_factory=dict)
    catalogs: dict[str, CatalogReading] = field(default_factory=dict)
    raft: dict[str, RaftReading] = field(default_factory=dict)
    history: dict[str, HistoryReading] = field(default_factory=dict)
    leader_locations: dict[str, LocationReading] = field(default_factory=dict)
    archiving: dict[str, ArchivingReading] = field(default_factory=dict)
    holders: dict[str, HolderReading] = field(default_factory=dict)
    silent_s: dict[str, float] = field(default_factory=dict)
    """When nobody answered at a cluster's virtual address, by a clock that never jumps."""
    is_silent: Callable[[str], bool] = lambda _: False
    """Returns True for a member, by service name, that is not to be asked."""


async def observe_cluster(
    ports: Ports,
    cluster: DesiredCluster,
    swarm: SwarmState,
    into: Readings,
    judging: Judging | None,
) -> None:
    """Read each deployed member's Raft node and status, then from the leader what the others do not
    know: settings, and with ``judging`` roles and databases, and how it archives."""
    deployed = [m for m in cluster.members if swarm.service(m.service.name) is not None]
    async with anyio.create_task_group() as group:
        for name, access in accesses(cluster, swarm, deployed):
            if into.is_silent(name):
                into.raft[name] = SILENT
            else:
                group.start_soon(ask_raft, ports, name, access, into.raft)
        for arrival in cluster.topology.asked:
            group.start_soon(ask_beforehand, ports, cluster, arrival, swarm, into.raft)
        if cluster.vip is not None:
            group.start_soon(observe_holder, ports, cluster, swarm, into.holders, into.silent_s)
        readings = with_lags(await observe_members(ports, cluster, swarm, into.is_silent))
        into.members.update(readings)

        async def ask_catalog(judging: Judging) -> None:
            catalog = await observe_catalog(ports, cluster, swarm, readings, judging)
            if catalog is not None:
                into.catalogs[cluster.name] = catalog

        async def ask_archiving() -> None:
            into.archiving[cluster.name] = await observe_archiving(ports, cluster, swarm, readings)

        if judging is not None:
            group.start_soon(ask_catalog, judging)
        if judging is not None and cluster.archive:
            group.start_soon(ask_archiving)
        await ask_leader(ports, cluster, swarm, readings, into)


async def ask_leader(
    ports: Ports,
    cluster: DesiredCluster,
    swarm: SwarmState,
    readings: Mapping[str, Known[MemberStatus] | Unknown],
    into: Readings,
) -> None:
    """Read the settings; where no member leads, also Patroni's history, and how far the last leader
    had come by its note: of that one any member may know, whose Raft node has no quorum."""
    raft: dict[str, RaftReading] = {}
    asked = await whom_to_ask(ports, cluster, swarm, readings, raft)
    access = access_to(cluster, asked, swarm) if asked is not None else None
    into.settings[cluster.name] = (
        await ports.patroni.settings(access.address, access.rest_api_port)
        if access is not None
        else NOBODY
    )
    if any(status.is_leader for status in statuses(readings)):
        return
    knows = asked or knows_most(cluster, raft)
    async with anyio.create_task_group() as group:
        if knows is not None:
            found = into.leader_locations
            group.start_soon(ask_location, ports, cluster, access_to(cluster, knows, swarm), found)
        into.history[cluster.name] = (
            await ports.patroni.history(access.address, access.rest_api_port)
            if access is not None
            else NOBODY
        )


async def ask_location(
    ports: Ports, cluster: DesiredCluster, access: Access, found: dict[str, LocationReading]
) -> None:
    """Read the last leader's WAL position, as a member has it from Raft."""
    asked = ports.patroni.leader_location(access.address, access.rest_api_port)
    found[cluster.name] = await asked


def knows_most(cluster: DesiredCluster, raft: Mapping[str, RaftReading]) -> DesiredMember | None:
    """Return the member whose Raft node has applied the most of the one log."""
    applied = {
        name: reading.value.last_applied
        for name, reading in raft.items()
        if isinstance(reading, Known) and reading.value.has_log
    }
    known = [member for member in cluster.members if member.service.name in applied]
    return max(known, key=lambda member: applied[member.service.name], default=None)


async def whom_to_ask(
    ports: Ports,
    cluster: DesiredCluster,
    swarm: SwarmState,
    readings: Mapping[str, MemberReading],
    raft: dict[str, RaftReading],
) -> DesiredMember | None:
    """Return the member to ask for what Raft keeps: the leader; without one, a member whose Raft
    node has the quorum, or a paused primary that goes on without one. Without a leader, ``raft``
    gets the answers of the Raft nodes."""
    answered = [
        (member, reading.value)
        for member in cluster.members
        if isinstance(reading := readings[member.service.name], Known)
    ]
    asked = [member for member, status in answered if status.is_leader]
    if not asked:
        async with anyio.create_task_group() as group:
            for name, access in accesses(cluster, swarm, [member for member, _ in answered]):
                group.start_soon(ask_raft, ports, name, access, raft)
        for member, _ in answered:
            found = raft[member.service.name]
            if isinstance(found, Known) and found.value.has_quorum:
                asked.append(member)
    if not asked:
        asked = [m for m, status in answered if status.paused and status.role == "primary"]
    return asked[0] if asked else None


def accesses(
    cluster: DesiredCluster, swarm: SwarmState, members: Iterable[DesiredMember]
) -> Iterator[tuple[str, Access]]:
    """Yield each member's service name and the access to it."""
    return ((m.service.name, access_to(cluster, m, swarm)) for m in members)


async def ask_raft(ports: Ports, name: str, access: Access, found: dict[str, RaftReading]) -> None:
    """Read the status of a member's Raft node, by its service name."""
    found[name] = await ports.patroni.raft(access.address, access.raft_port)


async def ask_beforehand(
    ports: Ports,
    cluster: DesiredCluster,
    arrival: Arrival,
    swarm: SwarmState,
    found: dict[str, RaftReading],
) -> None:
    """Read what answers where a member is to be added: nothing should. A node that is not ready is
    not asked."""
    node = swarm.node(arrival.node)
    if node is not None and node.is_ready and arrival.address:
        name = arrival_key(cluster.name, arrival)
        found[name] = await ports.patroni.raft(arrival.address, cluster.raft_port)


async def observe_members(
    ports: Ports,
    cluster: DesiredCluster,
    swarm: SwarmState,
    is_silent: Callable[[str], bool] = lambda _: False,
) -> dict[str, MemberReading]:
    """Return each deployed member's status, by service name. Silent ones are not asked."""
    readings: dict[str, MemberReading] = {}

    async def ask(name: str, access: Access) -> None:
        readings[name] = await ports.patroni.status(access.address, access.rest_api_port)

    async with anyio.create_task_group() as group:
        for member in cluster.members:
            if swarm.service(member.service.name) is None:
                readings[member.service.name] = Unknown("its service is not in the swarm")
            elif is_silent(member.service.name):
                readings[member.service.name] = SILENT
            else:
                group.start_soon(ask, member.service.name, access_to(cluster, member, swarm))
    return readings


def with_lags(readings: Mapping[str, MemberReading]) -> dict[str, MemberReading]:
    """Return the readings with each replica's distance from the leader's WAL location, if both are
    known. Patroni's own figure in ``/cluster`` is as old as the replica's last loop."""
    leader = next((status for status in statuses(readings) if status.is_leader), None)

    def place(reading: MemberReading) -> MemberReading:
        if isinstance(reading, Unknown) or leader is None or reading.value.is_leader:
            return reading
        ahead, behind = leader.location, reading.value.location
        if ahead is None or behind is None:
            return reading
        return Known(dataclasses.replace(reading.value, lag_bytes=max(0, ahead - behind)))

    return {name: place(reading) for name, reading in readings.items()}


def statuses(readings: Mapping[str, MemberReading]) -> Iterable[MemberStatus]:
    return (reading.value for reading in readings.values() if isinstance(reading, Known))
