"""Carrying out a plan: what stops it, what is recorded, and each error's outcome."""

from __future__ import annotations

import dataclasses

import anyio
import pytest

from queenright.core.actions import AnyAction, CreateNetwork, CreateSecret
from queenright.core.audit.record import Conflict, Done, Failed, Outcome, Trigger
from queenright.core.planning.plan import Plan
from queenright.core.swarm.objects import Network, Secret
from queenright.engine.execute import Result, execute
from queenright.ports.swarm import ConflictError, RejectedError, SwarmError, UnavailableError
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World

ACTIONS: tuple[AnyAction, ...] = (
    CreateNetwork(Network("one"), reason="a test"),
    CreateSecret(Secret("two"), reason="a test"),
    CreateNetwork(Network("three"), reason="a test"),
)
TRIGGER = Trigger("timer")


async def carried_out(
    world: World, actions: tuple[AnyAction, ...] = ACTIONS, stops_after: int = 99
) -> Result:
    def is_stopping() -> bool:
        return len(world.audit.outcomes) >= stops_after

    return await execute(world.ports, Plan("main", "d", actions), TRIGGER, is_stopping)


def test_each_action_has_an_intent_before_and_an_outcome_after() -> None:
    async def main() -> None:
        world = World()
        result = await carried_out(world)
        assert [outcome for _, outcome in result.tried] == [Done()] * 3
        kinds = [type(record).__name__ for record in world.audit.records]
        assert kinds == ["Intent", "Ended"] * 3
        assert result.failures == ()

    run_virtual(main)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (ConflictError("out of sequence"), Conflict("out of sequence")),
        (RejectedError("no"), Failed("no", transient=False)),
        (UnavailableError("timed out"), Failed("timed out", transient=True)),
    ],
)
def test_an_error_ends_the_plan_and_is_told(error: SwarmError, outcome: Outcome) -> None:
    async def main() -> None:
        world = World()

        async def fail(what: str) -> None:
            if what == "create-secret/two":
                raise error

        world.swarm.boundary = fail
        result = await carried_out(world)
        assert [found for _, found in result.tried] == [Done(), outcome]
        assert result.failures == (f"create-secret/two: {error}",)
        assert "three" not in world.store.networks

    run_virtual(main)


def test_nothing_follows_a_disruption() -> None:
    async def main() -> None:
        world = World()
        first = dataclasses.replace(ACTIONS[0], disrupts="somebody")
        result = await carried_out(world, (first, *ACTIONS[1:]))
        assert len(result.tried) == 1

    run_virtual(main)


def test_a_stop_lets_the_action_in_hand_finish_and_begins_no_other() -> None:
    async def main() -> None:
        world = World()
        result = await carried_out(world, stops_after=1)
        assert [action.key for action, _ in result.tried] == ["create-network/one"]
        assert len(world.audit.intents) == len(world.audit.outcomes) == 1

    run_virtual(main)


def test_what_was_seen_too_long_ago_is_not_acted_on() -> None:
    """One cluster's action may take a minute: another's plan does not rest on what was before."""

    async def main() -> None:
        world = World()
        seen_at_s = anyio.current_time()
        plan = Plan("main", "d", ACTIONS)
        fresh = await execute(world.ports, plan, TRIGGER, lambda: False, seen_at_s)
        assert len(fresh.tried) == 3
        await anyio.sleep(6)
        stale = await execute(world.ports, plan, TRIGGER, lambda: False, seen_at_s)
        assert stale.tried == ()

    run_virtual(main)
