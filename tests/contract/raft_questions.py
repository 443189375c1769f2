"""Questions to the nodes of a Raft world, modelled or real, and changes of its voters."""

from __future__ import annotations

import asyncio

from queenright.core.observed import Known, RaftStatus
from tests.contract.raft_worlds import (
    RaftWorld,
    eventually,
    host_and_port,
)


async def voters(world: RaftWorld, own: str) -> frozenset[str]:
    found = await world.membership.voters(*host_and_port(own))
    assert isinstance(found, Known), found
    return found.value


async def status(world: RaftWorld, own: str) -> RaftStatus:
    found = await world.status(own)
    assert isinstance(found, Known), found
    return found.value


async def all_list(world: RaftWorld, nodes: list[str], listed: list[str]) -> bool:
    return all([await voters(world, own) == set(listed) for own in nodes])


async def is_settled(world: RaftWorld, nodes: list[str]) -> bool:
    """Return True if these nodes list each other, are linked, and name one leader and term."""
    found = [await status(world, own) for own in nodes]
    return (
        await all_list(world, nodes, nodes)
        and not any(node.unreachable for node in found)
        and len({(node.leader, node.term) for node in found}) == 1
        and found[0].leader in nodes
    )


async def until_settled(world: RaftWorld, nodes: list[str]) -> None:
    await eventually(world, lambda: is_settled(world, nodes), f"{nodes} to be settled")


async def until_listed(world: RaftWorld, nodes: list[str], listed: list[str]) -> None:
    await eventually(world, lambda: all_list(world, nodes, listed), f"{nodes} to list {listed}")


async def leads_by_quorum(world: RaftWorld, nodes: list[str]) -> bool:
    found = [await status(world, own) for own in nodes]
    return all(node.has_quorum and node.leader in nodes for node in found)


async def start(world: RaftWorld, nodes: list[str], partners: list[str]) -> None:
    await asyncio.gather(*(world.start(own, partners) for own in nodes))


async def started(world: RaftWorld, count: int = 3) -> list[str]:
    """Return so many running nodes, settled."""
    nodes = world.addresses[:count]
    await start(world, nodes, nodes)
    await until_settled(world, nodes)
    return nodes


async def leader(world: RaftWorld, nodes: list[str]) -> str:
    return (await status(world, nodes[0])).leader


async def followers(world: RaftWorld, nodes: list[str]) -> list[str]:
    found = await leader(world, nodes)
    return [own for own in nodes if own != found]


async def remove(world: RaftWorld, asked: str, voter: str) -> None:
    await world.membership.remove(*host_and_port(asked), voter)


async def transfer(world: RaftWorld, asked: str, voter: str) -> None:
    await world.membership.transfer(*host_and_port(asked), voter)
