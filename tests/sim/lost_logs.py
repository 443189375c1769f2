"""A total power loss that takes the members' Raft logs, and the world some minutes after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import anyio

from queenright.core.kinds.ruleset import RULESET, Ruleset
from tests.fakes.entry_point import can_be_spared
from tests.fakes.running_operator import Operator
from tests.fakes.world import World
from tests.sim.faults import WORKERS
from tests.sim.invariants import Invariants
from tests.sim.test_kills import Killer
from tests.sim.topology_world import (
    Deployed,
    noted_places,
    subject_of,
    topology_world,
    write_members,
)
from tests.support.builders import FILE, NODE_OF, manifest

Damage = Callable[[World, str], tuple[str, ...]]
"""Given the world without power and the former leader: the members whose logs are lost."""


@dataclass(frozen=True)
class After:
    """The world some minutes after the power is back; ``former`` led before it."""

    world: World
    invariants: Invariants
    former: str
    leader: str
    is_whole: bool

    @property
    def found(self) -> list[str]:
        return [*self.world.patroni_model.lost, *self.invariants.violations]

    @property
    def hold(self) -> str:
        """The reason for which lost logs wait, as the operator told it last."""
        told = [h for held in self.world.audit.holds for h in held.began]
        return next((h.reason for h in reversed(told) if h.key == "raft-log/main"), "")


def after(world: World, invariants: Invariants, former: str) -> After:
    leader = world.leader()
    return After(world, invariants, former, leader.name if leader else "", world.is_whole())


def everybody(_world: World, _former: str) -> tuple[str, ...]:
    return tuple(NODE_OF)


def all_but_the_leader(_world: World, former: str) -> tuple[str, ...]:
    return tuple(name for name in NODE_OF if name != former)


def all_but_the_last(_world: World, former: str) -> tuple[str, ...]:
    last = max(name for name in NODE_OF if name != former)
    return tuple(name for name in NODE_OF if name != last)


def begun(edits: tuple[str, ...]) -> tuple[World, Invariants]:
    """Return the world, with its judge; one with further nodes for edits of the members."""
    if not edits:
        world = World()
        return world, Invariants(world)
    world = topology_world(0)
    return world, Invariants(world, judged=subject_of(world))


async def noted(world: World, edits: tuple[str, ...]) -> None:
    """Make the first edit, and wait for the fourth member's place; nothing without one."""
    for text in edits[:1]:
        await anyio.sleep(60)
        write_members(world, text)
        for _ in range(10_000):
            if "member-4" in noted_places(world):
                break
            await anyio.sleep(0.01)
        assert {"member-4"} == {*noted_places(world)} - {*Deployed(world)}


def tear_logs(world: World, names: tuple[str, ...]) -> None:
    for name in names:
        for (_, source), volume in world.patroni_model.volumes.items():
            if source.startswith(f"main_{name}"):
                volume.raft = "torn"


async def edited_again(world: World, edits: tuple[str, ...]) -> None:
    """Make the further edits, when the members are back and wait."""
    for text in edits[1:]:
        await anyio.sleep(100)
        write_members(world, text)


async def last_starts_again(world: World) -> None:
    """End the container of the member that still waits, once the others are a quorum."""
    for _ in range(10_000):
        await anyio.sleep(0.1)
        waiting = [i for i in world.patroni_model.of_cluster("main") if i.waits]
        if len(waiting) == 1 and can_be_spared(world.patroni_model, waiting[0]):
            world.kill_container(waiting[0].service)
            return
    raise AssertionError("no member waits alone")


async def killed(world: World, operator: Operator, killer: Killer, most_s: float) -> None:
    """End the operator where the killer says so, or after that time."""
    world.swarm.boundary = killer
    with anyio.move_on_after(most_s):
        await killer.reached.wait()
    await operator.kill()


async def logs_lost(
    ruleset: Ruleset = RULESET,
    damage: Damage = everybody,
    *,
    away: str = "",
    stale: bool = False,
    waits: bool = True,
    size_s: float = 300.0,
    recovery_s: float = 0.0,
    fences: bool = True,
    hears: bool = True,
    killer: Killer | None = None,
    kill_at: int = 0,
    edits: tuple[str, ...] = (),
    starts_again: bool = False,
) -> After:
    """All nodes lose power, and the members their Raft logs. ``away`` does not come back: it is a
    member, or "former" for the leader. ``stale``: a former leader has more WAL on an older
    timeline, which it wrote behind a partition. ``killer`` ends the operator at its boundary
    number ``kill_at`` from when the power is back. PostgreSQL of the last leader takes
    ``recovery_s`` longer than usual to start, and the one that is asked last has older data.
    ``fences`` and ``hears`` are of the images. Of ``edits`` the first is a file with a fourth
    member, whose place is noted when the power is lost, and its service not made.
    ``starts_again``: the container of the last one that waits ends once the others are a quorum
    without it."""
    world, invariants = begun(edits)
    world.patroni_model.waits_for_logs = waits
    if recovery_s:  # no health check ends the container meanwhile
        check = {"whileStarting": "healthy"}
        world.manifests.write(FILE, manifest(healthCheck=check))
    operator = world.start_operator(ruleset)
    await world.until_whole()
    await anyio.sleep(20)
    leader = world.leader()
    assert leader is not None
    if stale:
        old = leader
        world.partition(NODE_OF[old.name])
        old.volume.location += 1_000_000
        await anyio.sleep(90)
        leader = world.leader()
        assert leader is not None
        assert leader.name != old.name
    former = leader.name
    if recovery_s:
        last = max(name for name in NODE_OF if name != former)  # it is asked last, so never
        world.patroni_model.slow.add(f"main_{last}")
        world.patroni_model.recovery_s[former] = recovery_s
        await anyio.sleep(20)
    await noted(world, edits)
    world.patroni_model.fences_joiners = fences
    world.patroni_model.hears_partners = hears
    for node in WORKERS:
        world.power_cut(node)
    if stale:
        world.heal(NODE_OF[old.name])
    await anyio.sleep(10)
    tear_logs(world, damage(world, former))
    missing = NODE_OF.get(former if away == "former" else away)
    for node in (node for node in WORKERS if node != missing):
        world.power_on(node)
    await edited_again(world, edits)
    if starts_again:
        await last_starts_again(world)
    if killer is not None:
        killer.at = kill_at
        await killed(world, operator, killer, size_s)
        world.start_operator(ruleset)
    await anyio.sleep(size_s)
    return after(world, invariants, former)
