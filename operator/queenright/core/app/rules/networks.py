"""The application's own overlay network: created when missing, never changed under its tasks."""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import Action, CreateNetwork
from queenright.core.app.situation import AppSituation
from queenright.core.plan import Hold


def plan_networks(situation: AppSituation) -> Iterator[Action | Hold]:
    wanted = situation.desired.network
    live = situation.swarm.network(wanted.name)
    if live is None:
        yield CreateNetwork(wanted, reason=f"network {wanted.name} is not in the swarm")
        return
    found = live.value
    if wanted.subnet and found.subnet != wanted.subnet:
        yield Hold(
            f"network/{wanted.name}",
            f"network {wanted.name}: subnet is {found.subnet}, not {wanted.subnet}; swarm can't "
            "change a network that is in use: name another in spec.network.name, or remove it "
            "while nothing uses it",
            wants_attention=True,
        )
