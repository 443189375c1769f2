"""A cluster with synchronous replication, and the rows that it has acknowledged."""

from __future__ import annotations

from dataclasses import dataclass

import anyio

from queenright.core.kinds.ruleset import RULESET, Ruleset
from tests.fakes.world import World
from tests.sim.invariants import Invariants
from tests.support.builders import FILE, NODE_OF, manifest


@dataclass
class Scene:
    """A whole cluster with synchronous replication in force."""

    world: World
    invariants: Invariants
    is_whole: bool = False

    def ended(self) -> Scene:
        """The scene, with what only the world's own clock can tell."""
        self.is_whole = self.world.is_whole()
        return self

    @property
    def found(self) -> list[str]:
        return [*self.world.patroni_model.lost, *self.invariants.violations]

    @property
    def acknowledged(self) -> int:
        known = self.world.patroni_model.consensus("main").acknowledged
        assert known is not None
        return known.location

    def leader(self) -> str:
        leader = self.world.leader()
        assert leader is not None, self.world.patroni_model.story
        return leader.name

    def other(self, *, confirms: bool) -> str:
        """A replica that is in the key, or is not."""
        members = self.world.patroni_model.consensus("main").sync.members
        others = [name for name in NODE_OF if name != self.leader()]
        return next(name for name in others if (name in members) is confirms)


async def begun(mode: str, ruleset: Ruleset = RULESET) -> Scene:
    world = World()
    scene = Scene(world, Invariants(world))
    world.start_operator(ruleset)
    await world.until_whole()
    await anyio.sleep(20)
    world.manifests.write(FILE, manifest(replication=mode))
    await anyio.sleep(40)
    assert world.patroni_model.consensus("main").sync.members
    return scene
