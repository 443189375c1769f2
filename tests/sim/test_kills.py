"""The operator is killed (SIGKILL) at every boundary of every call, each one in turn, while the
cluster is first deployed; the next one always brings it to the same end.

A run takes one boundary in so many, others for every commit; `make sim` takes all (``turns``)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import anyio
import pytest

from queenright.ports.swarm import ConflictError, RejectedError, SwarmError, UnavailableError
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.invariants import Invariants
from tests.sim.seeds import turns
from tests.support.builders import desired

pytestmark = pytest.mark.slow

EVERY_OBJECT = {
    "network/main_patroni",
    *(f"secret/{secret.name}" for secret in desired().secrets),
    *(f"config/{config.name}" for config in desired().configs),
    *(f"service/{service.name}" for service in desired().services),
}
KILLED_ONE_IN, FAILED_ONE_IN = 4, 3


def covers_every_object(places: list[str]) -> bool:
    """Return True if the boundaries are those of a whole deployment."""
    made = {f"create-{name}" for name in EVERY_OBJECT}
    return made | {f"{name} was done" for name in made} <= {*places}


@dataclass
class Killer:
    """Stops the operator dead at its nth boundary (0: never), and counts them."""

    at: int = 0
    count: int = 0
    until_whole: int = 0
    place: str = ""
    places: list[str] = field(default_factory=list)
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, what: str) -> None:
        self.count += 1
        self.places.append(what)
        if self.count == self.at:
            self.place = what
            self.reached.set()
            await anyio.sleep_forever()


async def deploy(killer: Killer) -> World:
    world = World()
    invariants = Invariants(world)
    world.swarm.boundary = world.patroni.boundary = killer
    operator = world.start_operator()
    if killer.at:
        await killer.reached.wait()
        await operator.kill()
        operator = world.start_operator()
    await world.until_whole(3000)
    killer.until_whole = killer.count
    await anyio.sleep(10)
    assert set(world.swarm.created) == EVERY_OBJECT, killer.place
    assert set(world.swarm.created.values()) == {1}, killer.place
    assert world.patroni_model.wrong_password == [], killer.place
    assert invariants.violations == [], killer.place
    writes = len(world.swarm.writes)
    await anyio.sleep(20)
    assert len(world.swarm.writes) == writes, killer.place
    await operator.stop()
    return world


def test_a_kill_at_any_boundary_changes_nothing_of_the_end() -> None:
    unhurt = Killer()

    run_virtual(lambda: deploy(unhurt))
    places = unhurt.places[: unhurt.until_whole]
    assert covers_every_object(places)
    for at in turns(range(1, len(places) + 1), KILLED_ONE_IN, "kills"):
        killer = Killer(at)
        run_virtual(lambda killer=killer: deploy(killer))  # type: ignore[misc]
        assert killer.place == places[at - 1], f"boundary {at} was not reached"


CALLS = 59
"""The number of boundaries at which a call fails: those of a deployment, and a few more."""


@dataclass
class Breaker:
    """Fails the nth call at its boundary (0: never): before its effect, or after, when the answer
    is lost."""

    at: int
    error: SwarmError
    count: int = 0
    place: str = ""
    places: list[str] = field(default_factory=list)

    async def __call__(self, what: str) -> None:
        self.count += 1
        self.places.append(what)
        if self.count == self.at:
            self.place = what
            raise self.error


async def deploy_in_spite_of(breaker: Breaker) -> None:
    world = World()
    invariants = Invariants(world)
    world.swarm.boundary = breaker
    world.start_operator()
    await world.until_whole(3000)
    await anyio.sleep(40)
    assert set(world.swarm.created) == EVERY_OBJECT, breaker
    assert set(world.swarm.created.values()) == {1}, breaker
    assert invariants.violations == [], breaker
    assert world.patroni_model.wrong_password == [], breaker


@pytest.mark.parametrize(
    "error",
    [UnavailableError("timed out"), ConflictError("update out of sequence"), RejectedError("no")],
    ids=["unavailable", "conflict", "rejected"],
)
def test_a_call_that_fails_anywhere_changes_nothing_of_the_end(error: SwarmError) -> None:
    unhurt = Breaker(0, error)
    run_virtual(lambda: deploy_in_spite_of(unhurt))
    places = unhurt.places[:CALLS]
    assert covers_every_object(places)
    for at in turns(range(1, CALLS + 1), FAILED_ONE_IN, str(error)):
        breaker = Breaker(at, error)
        run_virtual(lambda breaker=breaker: deploy_in_spite_of(breaker))  # type: ignore[misc]
        assert breaker.place == places[at - 1], f"call {at} was not reached"


def test_kills_one_after_another() -> None:
    """Each operator lives for a few boundaries only; together they get there."""

    async def main(life: int) -> None:
        world = World()
        invariants = Invariants(world)
        for _ in range(400):
            killer = Killer(life)
            world.swarm.boundary = world.patroni.boundary = killer
            operator = world.start_operator()
            waits = asyncio.create_task(killer.reached.wait())
            await asyncio.wait([waits], timeout=60)
            waits.cancel()
            await operator.kill()
            if world.is_whole():
                break
        assert world.is_whole()
        assert set(world.swarm.created.values()) == {1}
        assert invariants.violations == []

    for life in (19, 22, 27, 34):
        run_virtual(lambda life=life: main(life))  # type: ignore[misc]
