"""Reads the world: one concurrent, bounded look at the swarm and at every member.

Decides nothing. Invariant: a source that fails is Unknown with its reason; no failure of one
source hides another.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio

from queenright.core.app.desired import DesiredApp
from queenright.core.app.planner import app_images_needed, expand_app_here
from queenright.core.catalog import NO_CATALOG, DesiredCatalog
from queenright.core.desired import DesiredCluster, DesiredMember
from queenright.core.observed import (
    Attempt,
    ImageFound,
    ImageMissing,
    Known,
    MemberStatus,
    Observed,
    RaftStatus,
    SwarmState,
    Unknown,
)
from queenright.core.planner import expand_here, images_needed
from queenright.core.preflight import engine_hold
from queenright.core.spec.problems import Document
from queenright.engine.catalogs import CatalogReading, observe_catalog
from queenright.engine.judging import Judging
from queenright.engine.outputs import OutputReading, observe_outputs
from queenright.engine.replicas import ReadinessReading, observe_replicas
from queenright.engine.world import Ports
from queenright.ports.swarm import SwarmError

REPLICAS_S = 3.0
"""How long a second look waits for the replicas' word, which holds up what is theirs alone."""

MemberReading = Known[MemberStatus] | Unknown
RaftReading = Known[RaftStatus] | Unknown
SettingsReading = Known[Mapping[str, Any]] | Unknown
ImageReading = Known[ImageFound | ImageMissing] | Unknown


@dataclass(frozen=True, slots=True)
class Readings:
    """What the members tell: each of itself, and the leader of the cluster."""

    members: dict[str, MemberReading]
    settings: dict[str, SettingsReading]
    catalogs: dict[str, CatalogReading]


async def observe(
    ports: Ports,
    documents: Sequence[Document],
    attempts: Mapping[str, Attempt],
    wishes: Mapping[str, DesiredCatalog] | None = None,
    *,
    with_catalogs: bool = True,
) -> Observed:
    """Everything that the rules may rest on, as of now; ``wishes`` are the roles and databases that
    applications need, by the cluster's name. Without ``with_catalogs`` what is there of them is not
    looked at, which can take seconds."""
    try:
        swarm = await ports.swarm.observe()
    except SwarmError as error:
        return Observed(Unknown(str(error)), attempts=attempts)
    if engine_hold(swarm.engine):
        return Observed(Known(swarm), attempts=attempts)
    desired = clusters_here(documents, swarm, wishes or {})
    judging = Judging(ports.secrets) if with_catalogs else None
    members: dict[str, MemberReading] = {}
    images: dict[str, ImageReading] = {}
    settings: dict[str, SettingsReading] = {}
    raft: dict[str, RaftReading] = {}
    catalogs: dict[str, CatalogReading] = {}
    readiness: dict[str, ReadinessReading] = {}
    outputs: dict[str, OutputReading] = {}
    apps = [expand_app_here(one, documents, swarm) for one in documents if one.is_app]
    async with anyio.create_task_group() as group:
        for cluster in desired:
            into = Readings(members, settings, catalogs)
            group.start_soon(observe_cluster, ports, cluster, swarm, into, judging)
            group.start_soon(observe_raft, ports, cluster, swarm, raft)
        for reference in references_needed(desired, apps, swarm):
            group.start_soon(observe_image, ports, reference, images)
        group.start_soon(observe_replicas, ports, apps, swarm, readiness)
        group.start_soon(observe_outputs, ports, swarm, outputs)
    return Observed(
        Known(swarm),
        members,
        images,
        settings,
        attempts,
        raft=raft,
        catalogs=catalogs,
        readiness=readiness,
        outputs=outputs,
    )


async def observe_anew(
    ports: Ports,
    documents: Sequence[Document],
    seen: Observed,
    wishes: Mapping[str, DesiredCatalog],
) -> Observed:
    """The same with what can change at any moment read again: the swarm, and the word of members,
    of their Raft nodes, and of replicas that answer soon. The rest stays as it was seen."""
    try:
        swarm = await ports.swarm.observe()
    except SwarmError as error:
        return dataclasses.replace(seen, swarm=Unknown(str(error)))
    if engine_hold(swarm.engine):
        return dataclasses.replace(seen, swarm=Known(swarm))
    members: dict[str, MemberReading] = {}
    settings: dict[str, SettingsReading] = {}
    raft: dict[str, RaftReading] = {}
    readiness: dict[str, ReadinessReading] = {}
    apps = [expand_app_here(one, documents, swarm) for one in documents if one.is_app]

    async def ask(cluster: DesiredCluster) -> None:
        readings = with_lags(await observe_members(ports, cluster, swarm))
        members.update(readings)
        settings[cluster.name] = await observe_settings(ports, cluster, readings)

    async def ask_replicas() -> None:
        with anyio.move_on_after(REPLICAS_S):
            await observe_replicas(ports, apps, swarm, readiness)

    async with anyio.create_task_group() as group:
        group.start_soon(ask_replicas)
        for cluster in clusters_here(documents, swarm, wishes):
            group.start_soon(ask, cluster)
            group.start_soon(observe_raft, ports, cluster, swarm, raft)
    return dataclasses.replace(
        seen,
        swarm=Known(swarm),
        members=members,
        settings=settings,
        raft=raft,
        readiness=readiness,
    )


def clusters_here(
    documents: Sequence[Document], swarm: SwarmState, wishes: Mapping[str, DesiredCatalog]
) -> list[DesiredCluster]:
    """The clusters of the files, as they are to be in this swarm."""
    found = (
        expand_here(document, swarm, wishes.get(document.name, NO_CATALOG))
        for document in documents
        if document.is_cluster
    )
    return [cluster for cluster in found if cluster is not None]


def references_needed(
    clusters: Sequence[DesiredCluster], apps: Sequence[DesiredApp], swarm: SwarmState
) -> set[str]:
    """Image references that clusters and applications need looked up."""
    return {ref for cluster in clusters for ref in images_needed(cluster, swarm)} | {
        ref for app in apps for ref in app_images_needed(app, swarm)
    }


async def observe_image(ports: Ports, reference: str, found: dict[str, ImageReading]) -> None:
    try:
        found[reference] = Known(await ports.swarm.resolve_image(reference))
    except SwarmError as error:
        found[reference] = Unknown(str(error))


async def observe_cluster(
    ports: Ports,
    cluster: DesiredCluster,
    swarm: SwarmState,
    into: Readings,
    judging: Judging | None,
) -> None:
    """Each member's own word, and the settings, roles and databases as the leader knows them."""
    readings = with_lags(await observe_members(ports, cluster, swarm))
    into.members.update(readings)

    async def ask_settings() -> None:
        into.settings[cluster.name] = await observe_settings(ports, cluster, readings)

    async with anyio.create_task_group() as group:
        group.start_soon(ask_settings)
        if judging is None:
            return
        catalog = await observe_catalog(ports, cluster, swarm, readings, judging)
        if catalog is not None:
            into.catalogs[cluster.name] = catalog


async def observe_settings(
    ports: Ports, cluster: DesiredCluster, readings: Mapping[str, MemberReading]
) -> SettingsReading:
    """The settings as the leader knows them; where nobody leads, as a member does whose Raft node
    has the quorum, or as a paused primary does that goes on without one."""
    answered = [
        (member, reading.value)
        for member in cluster.members
        if isinstance(reading := readings[member.service.name], Known)
    ]
    asked = [member for member, status in answered if status.is_leader]
    if not asked:
        raft: dict[str, RaftReading] = {}
        await ask_raft(ports, cluster, [member for member, _ in answered], raft)
        for member, _ in answered:
            found = raft[member.service.name]
            if isinstance(found, Known) and found.value.has_quorum:
                asked.append(member)
    if not asked:
        asked = [m for m, status in answered if status.paused and status.role == "primary"]
    if not asked:
        return Unknown("there is no leader to ask")
    return await ports.patroni.settings(asked[0].address, cluster.rest_api_port)


async def observe_raft(
    ports: Ports, cluster: DesiredCluster, swarm: SwarmState, found: dict[str, RaftReading]
) -> None:
    """What the Raft node of each deployed member says, by service name."""
    deployed = [m for m in cluster.members if swarm.service(m.service.name) is not None]
    await ask_raft(ports, cluster, deployed, found)


async def ask_raft(
    ports: Ports,
    cluster: DesiredCluster,
    members: Iterable[DesiredMember],
    found: dict[str, RaftReading],
) -> None:
    async def ask(name: str, address: str) -> None:
        found[name] = await ports.patroni.raft(address, cluster.raft_port)

    async with anyio.create_task_group() as group:
        for member in members:
            group.start_soon(ask, member.service.name, member.address)


async def observe_members(
    ports: Ports, cluster: DesiredCluster, swarm: SwarmState
) -> dict[str, MemberReading]:
    """What each deployed member says of itself, by service name."""
    readings: dict[str, MemberReading] = {}

    async def ask(name: str, address: str) -> None:
        readings[name] = await ports.patroni.status(address, cluster.rest_api_port)

    async with anyio.create_task_group() as group:
        for member in cluster.members:
            if swarm.service(member.service.name) is None:
                readings[member.service.name] = Unknown("its service is not in the swarm")
            else:
                group.start_soon(ask, member.service.name, member.address)
    return readings


def with_lags(readings: Mapping[str, MemberReading]) -> dict[str, MemberReading]:
    """The readings with each replica's distance from the leader's WAL location, where both are
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
