"""Rule for the proxies' global service: deployed from the beginning, kept throughout.

A proxy routes only to members that it has checked, so it may start before its database does, and
has passed its two checks by the time there is a leader.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from queenright.core.actions import AnyAction
from queenright.core.kinds.postgres_cluster.port_changes import why_not_narrowed, why_ports_taken
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.planning.plan import Hold
from queenright.core.planning.service_context import SETTLES
from queenright.core.planning.service_rollout import plan_service


def plan_proxies(state: ClusterState) -> Iterator[AnyAction | Hold]:
    desired, swarm = state.desired, state.swarm
    files = (desired.haproxy, desired.route)
    if not (swarm.network(desired.network.name) and all(swarm.config(f.name) for f in files)):
        return
    proxy, live = desired.proxy, swarm.service(desired.proxy.name)
    if live is not None and (why := why_not_narrowed(state)):
        # Only the configuration waits; all other differences of the proxies are corrected.
        proxy = replace(proxy, configs=live.value.configs)
        yield Hold(
            f"ports/{desired.proxy.name}",
            f"{proxy.name}: checks members on their former ports too until all are well ({why})",
            state.now + SETTLES,
        )
    taken = why_ports_taken(state, desired.proxy, desired.proxy_nodes)
    yield from plan_service(state, proxy, obstacle=taken)
