"""Rule for the application's own overlay network: create it when missing, never change it."""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import AnyAction, CreateNetwork
from queenright.core.kinds.notes_app.state import AppState
from queenright.core.planning.plan import Hold


def plan_networks(state: AppState) -> Iterator[AnyAction | Hold]:
    wanted = state.desired.network
    live = state.swarm.network(wanted.name)
    if live is None:
        yield CreateNetwork(wanted, reason=f"network {wanted.name} is not in the swarm")
        return
    found = live.value
    if wanted.subnet and found.subnet != wanted.subnet:
        yield Hold(
            f"network/{wanted.name}",
            f"network {wanted.name}: subnet is {found.subnet}, not {wanted.subnet} (swarm can't "
            "change a network that is in use); name another in spec.network.name, or remove it "
            "while nothing uses it",
            wants_attention=True,
        )
