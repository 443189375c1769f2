"""One observation of the deployed state, without the files: the swarm, and each member's status."""

from __future__ import annotations

import anyio

from queenright.core.kinds.postgres_cluster.deletion import owned_clusters
from queenright.core.kinds.postgres_cluster.status.live import LiveMember, live_members
from queenright.core.observed import Known, MemberStatus, Observed, Unknown
from queenright.engine.observe_cluster import with_lags
from queenright.ports import Ports
from queenright.ports.swarm import SwarmError


async def live_look(ports: Ports) -> Observed:
    """Return the observation; a member is asked at the address of its own service."""
    try:
        swarm = await ports.swarm.observe()
    except SwarmError as error:
        return Observed(Unknown(str(error)))
    found: dict[str, Known[MemberStatus] | Unknown] = {}

    async def ask(member: LiveMember, port: int) -> None:
        found[member.service] = await ports.patroni.status(member.address, port)

    clusters = [[*live_members(name, swarm)] for name in owned_clusters(swarm)]
    async with anyio.create_task_group() as group:
        for members in clusters:
            for member in members:
                if member.address and member.rest_port is not None:
                    group.start_soon(ask, member, member.rest_port)
    readings: dict[str, Known[MemberStatus] | Unknown] = {}
    for members in clusters:
        asked = {member.service for member in members} & found.keys()
        readings |= with_lags({name: found[name] for name in sorted(asked)})
    return Observed(Known(swarm), readings)
