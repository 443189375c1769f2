"""Proxy configuration during a change of the members' ports.

While members listen on different ports, the proxies' configuration has every port of every member,
and their checks find the one in use. So clients reach the leader all the time, and the proxies are
replaced twice, however many members there are.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.desired.haproxy_cfg import SERVER_PORT
from queenright.core.kinds.postgres_cluster.desired.services import HAPROXY_TARGET
from queenright.core.kinds.postgres_cluster.preflight import taken_ports
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.planning.service_context import SETTLES, is_under_way
from queenright.core.swarm.objects import Service


def why_not_routed(state: ClusterState, member: DesiredMember) -> str | None:
    """Reason why the proxies would not find the member on its new ports; None if they would.

    None too where its ports stay.
    """
    desired, swarm = state.desired, state.swarm
    if state.access(member).way == desired.way:
        return None
    new = f"{member.name} is to listen on {' and '.join(map(str, desired.way))}"
    proxy = swarm.service(desired.proxy.name)
    if proxy is None:
        return f"{new} (there is no proxy that would route there)"
    mounted = {item.name for item in proxy.value.configs}
    if not {item.name for item in desired.proxy.configs} <= mounted:
        return f"{new} (the proxies have to check these ports first)"
    settled = state.now - proxy.updated_at >= SETTLES
    if not settled or is_under_way(proxy) or proxy.update_state.endswith("paused"):
        return f"{new} (not all proxies check these ports yet)"
    return None


def why_not_narrowed(state: ClusterState) -> str | None:
    """Reason why the proxies still check members on their former ports; None if they need not."""
    desired, swarm = state.desired, state.swarm
    proxy = swarm.service(desired.proxy.name)
    if proxy is None or len(desired.ways) > 1:
        return None
    names = [item.name for item in proxy.value.configs if item.target == HAPROXY_TARGET]
    config = swarm.config(names[0]) if names else None
    if config is None or SERVER_PORT.encode() not in config.value.data:
        return None
    if unwell := next(state.unwell(), None):
        return unwell
    changing = (state.why_unsettled(member) for member in desired.members)
    return next(filter(None, changing), None)


def why_ports_taken(state: ClusterState, service: Service, nodes: Collection[str]) -> str | None:
    """Reason why a deployed service can't have a new port; None if it can.

    Its task would be stopped for one that waits for the port for ever.
    """
    live = state.swarm.service(service.name)
    if live is None:
        return None
    ports = tuple(port for port in service.ports if port not in live.value.ports)
    if not ports:
        return None
    new = replace(service, ports=ports)
    for other in state.swarm.index.services_publishing(port.published for port in ports):
        if other.id == live.id:
            continue
        for port in taken_ports(new, other, frozenset(nodes), state.swarm):
            return (
                f"port {port} is taken by service {other.value.name}: change one of the two, and "
                "the other when that is done"
            )
    return None
