"""The age of an observation when a pass acts: a slow source neither ages it nor stops it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import anyio

from queenright.core.actions import CreateNetwork
from queenright.core.audit.record import Trigger
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.ruleset import Ruleset
from queenright.core.observed import Known
from queenright.core.swarm.objects import Network
from queenright.engine.reconcile import LoopState, PassResult, reconcile
from queenright.ports.secrets import Password
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.support.builders import FILE, document, manifest

SHOP = manifest(roles="[{name: shop, passwordSecret: shop_pw}]")


def one_action(_: ClusterState) -> Iterator[CreateNetwork]:
    yield CreateNetwork(Network("made"), reason="a test")


RULESET = Ruleset({"PostgresCluster": (one_action,), "NotesApp": ()}, ())


@dataclasses.dataclass
class SlowSwarm:
    """The world's swarm, which takes this long to answer."""

    world: World
    takes_s: float

    def __post_init__(self) -> None:
        self.world.swarm.boundary = self.boundary

    async def boundary(self, what: str) -> None:
        if what == "observe":
            await anyio.sleep(self.takes_s)


async def one_pass(world: World, memory: LoopState) -> PassResult:
    return await reconcile(
        world.ports,
        [document(SHOP)],
        Trigger("timer"),
        memory,
        lambda: False,
        ruleset=RULESET,
    )


def test_a_slow_secret_does_not_age_what_the_members_said() -> None:
    """Sixteen seconds for secrets, in which the leader goes: what is acted on is its absence."""

    async def main() -> None:
        world = World()
        world.manifests.write(FILE, SHOP)
        operator = world.start_operator()
        await world.until_whole()
        await anyio.sleep(30)
        await operator.stop()
        leader = world.leader()
        assert leader is not None
        name = f"main_{leader.name}"

        async def slow(name: str, secret_id: str, verifier: Password) -> bool:
            world.partition(next(n.name for n in world.store.nodes.values() if n.id == node_id))
            await anyio.sleep(16)
            return True

        node_id = leader.node_id
        world.secrets.matches = slow  # type: ignore[method-assign]
        began = anyio.current_time()
        result = await one_pass(world, LoopState())
        assert not isinstance(result.survey.observed.members[name], Known)
        assert result.survey.seen_at_s >= began + 16
        assert result.has_acted, "a pass with one slow source still acts"

    run_virtual(main)


def test_a_pass_that_is_too_old_is_followed_by_another_and_never_by_none_that_acts() -> None:
    async def main() -> None:
        world = World()
        SlowSwarm(world, takes_s=6)
        memory = LoopState()
        first, second, third = [await one_pass(world, memory) for _ in range(3)]
        assert (first.is_too_old, second.is_too_old, third.is_too_old) == (True, True, False)
        assert not first.has_acted
        assert not second.has_acted
        assert third.has_acted, "what can't be had sooner is acted on in the end"
        SlowSwarm(world, takes_s=0)
        quick = await one_pass(world, memory)
        assert not quick.is_too_old
        assert memory.slow_looks == 0

    run_virtual(main)


def test_the_loop_goes_on_at_once_after_a_pass_that_was_too_old() -> None:
    async def main() -> None:
        world = World()
        slow = SlowSwarm(world, takes_s=6)
        operator = world.start_operator(RULESET)
        await anyio.sleep(13)
        slow.takes_s = 0
        await anyio.sleep(7)
        assert "made" in {live.value.name for live in world.store.networks.values()}
        await operator.stop()

    run_virtual(main)


def test_an_edit_ends_the_pass_in_hand_before_its_next_action() -> None:
    """The owner pauses the operator while it looks around: nothing is done for the former file."""

    async def main() -> None:
        world = World()
        SlowSwarm(world, takes_s=3)
        world.manifests.write(FILE, manifest())
        operator = world.start_operator()
        await anyio.sleep(1)
        world.manifests.write(FILE, manifest(reconcile="paused"))
        await anyio.sleep(20)
        assert not world.store.networks
        assert not world.store.services
        await operator.stop()

    run_virtual(main)
