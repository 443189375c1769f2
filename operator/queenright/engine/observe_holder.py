"""Find who has a cluster's virtual address: ask the member that answers there for its name.

keepalived alone decides who has the address, and Swarm does not know it. Each member answers on all
addresses of its node, so the one that answers at the virtual address is on the node which has it.
Invariant: nothing is decided by it, so an address at which nobody answers is asked again after
``AGAIN_S`` only: it delays one pass by the time limit of a question, and not the next ones.
"""

from __future__ import annotations

import anyio

from queenright.core.kinds.postgres_cluster.deployed import access_to
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.observed import Known, SwarmState, Unknown
from queenright.ports import Ports

HolderReading = Known[str] | Unknown

AGAIN_S = 15.0
"""As long as the address takes to come to another node, several times over."""


async def observe_holder(
    ports: Ports,
    cluster: DesiredCluster,
    swarm: SwarmState,
    found: dict[str, HolderReading],
    silent_s: dict[str, float],
) -> None:
    """Read the name of the member at the virtual address, by the cluster's name. Nobody is asked
    where keepalived is not deployed, or no member is on a node with a proxy. ``silent_s`` has the
    times at which nobody answered, by the cluster's name."""
    beside = [
        access_to(cluster, member, swarm)
        for member in cluster.members
        if member.node in cluster.proxy_nodes and swarm.service(member.service.name) is not None
    ]
    vip = cluster.vip
    if vip is None or swarm.service(vip.service.name) is None or not beside:
        return
    reading: HolderReading = Unknown(f"nobody answered at {vip.address} a moment ago")
    if anyio.current_time() - silent_s.get(cluster.name, float("-inf")) >= AGAIN_S:
        for port in sorted({access.rest_api_port for access in beside}):
            reading = await member_at(ports, cluster, vip.address, port)
            if isinstance(reading, Known):
                silent_s.pop(cluster.name, None)
                break
        else:
            silent_s[cluster.name] = anyio.current_time()
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
