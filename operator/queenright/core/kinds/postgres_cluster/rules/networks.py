"""Rule for the cluster's overlay network: create it when missing, never change it."""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import AnyAction, CreateNetwork
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.planning.plan import Hold


def plan_networks(state: ClusterState) -> Iterator[AnyAction | Hold]:
    wanted = state.desired.network
    live = state.swarm.network(wanted.name)
    if live is None:
        yield CreateNetwork(wanted, reason=f"network {wanted.name} is not in the swarm")
        return
    found = live.value
    wrong = [
        f"{name} is {old}, not {new}"
        for name, old, new in (
            ("attachable", found.attachable, wanted.attachable),
            ("internal", found.internal, wanted.internal),
            ("subnet", found.subnet, wanted.subnet or found.subnet),
        )
        if old != new
    ]
    if wrong:
        yield Hold(
            f"network/{wanted.name}",
            f"network {wanted.name}: {', '.join(wrong)} (swarm can't change a network that is in "
            "use); name another in spec.network.name, or remove it while nothing uses it",
            wants_attention=True,
        )
