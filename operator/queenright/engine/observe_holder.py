"""Find who has a cluster's virtual address: ask the member that answers there for its name.

keepalived alone decides who has the address, and Swarm does not know it. Each member answers on all
addresses of its node, so the one that answers at the virtual address is on the node which has it.
Invariant: nothing is decided by it, so a silent address delays a pass by ``ASK_S`` at most.
"""

from __future__ import annotations

import anyio

from queenright.core.kinds.postgres_cluster.deployed import access_to
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.kinds.postgres_cluster.desired.virtual_ip import DesiredVip
from queenright.core.observed import Known, SwarmState, Unknown
from queenright.engine.world import Ports

HolderReading = Known[str] | Unknown

ASK_S = 1.0
"""A member in the same network answers within milliseconds."""


async def observe_holder(
    ports: Ports,
    cluster: DesiredCluster,
    vip: DesiredVip,
    swarm: SwarmState,
    found: dict[str, HolderReading],
) -> None:
    """Read the name of the member at the virtual address, by the cluster's name. Nobody is asked
    where keepalived is not deployed, or no member is on a node with a proxy."""
    beside = [
        access_to(cluster, member, swarm)
        for member in cluster.members
        if member.node in cluster.proxy_nodes and swarm.service(member.service.name) is not None
    ]
    if swarm.service(vip.service.name) is None or not beside:
        return
    reading: HolderReading = Unknown(f"nobody answered at {vip.address} in {ASK_S:g} s")
    with anyio.move_on_after(ASK_S):
        for port in sorted({access.rest_api_port for access in beside}):
            reading = await member_at(ports, cluster, vip.address, port)
            if isinstance(reading, Known):
                break
    found[cluster.name] = reading


async def member_at(
    ports: Ports, cluster: DesiredCluster, address: str, port: int
) -> HolderReading:
    """Return the name of the cluster's member that answers at an address."""
    answer = await ports.patroni.status(address, port)
    if isinstance(answer, Unknown):
        return answer
    status = answer.value
    if status.scope == cluster.name and status.name in {one.name for one in cluster.members}:
        return Known(status.name)
    return Unknown(f"http://{address}:{port} is answered by no member of {cluster.name}")
