"""Statuses of Raft nodes, as the contracts read them: of the model, and of real ones."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from queenright.adapters.patroni.raft_status import raft_status
from queenright.core.observed import Known, RaftStatus
from tests.fakes.instances import Instance
from tests.fakes.world import World

Statuses = dict[str, RaftStatus]
"""By the address of the node."""


async def of_the_model(world: World, members: Iterable[Instance]) -> Statuses:
    found = {}
    for instance in members:
        reading = await world.patroni.raft(instance.address, 5010)
        assert isinstance(reading, Known), reading
        found[instance.raft_address] = reading.value
    return found


def of_real_nodes(addresses: Iterable[str]) -> Statuses:
    found = {}
    for address in addresses:
        host, _, port = address.rpartition(":")
        reading = asyncio.run(raft_status(host, int(port), 5.0))
        assert isinstance(reading, Known), reading
        found[address] = reading.value
    return found
