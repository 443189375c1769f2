"""Forecasts against what then happens: edits of a cluster at rest, and of its members.

The cases are always of the same seeds, unless one is given; of these a run takes a part, and
`make sim` all (``turns``). The end of each random history is judged as well (``history``).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import anyio
import pytest

from queenright.core.forecast.effects import after
from queenright.core.forecast.model import Effect
from queenright.core.kinds.registry import KINDS
from queenright.core.swarm.objects import Secret
from tests.fakes.replicas import Replicas
from tests.fakes.stage import StandingStill
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.broken_passes import broken_passes
from tests.sim.documents import IMAGES, LASTING_TEXTS
from tests.sim.forecast_judge import compare, forecast_of, judged_edit, until_quiet
from tests.sim.forecast_mutations import MUTATIONS, ForecastMutation
from tests.sim.history import LEISURELY, prepared_world
from tests.sim.one_edit import APP_IMAGES, APP_RICH, OWNERS_SECRETS, draw_valid
from tests.sim.remembered_judge import found_so_far
from tests.sim.schema_edits import fields_of
from tests.sim.seeds import given_seed, histories_of, is_quick, turns
from tests.sim.topology_world import first_of, text_of, topology_world
from tests.support.app_builders import APP_DIGESTS, APP_FILE, app_manifest
from tests.support.builders import FILE, manifest

EDITS = histories_of(2, 10)
CASES = [*range(EDITS)] if is_quick() else turns(range(EDITS), 3, "forecasts")
SHARDS = 4
FIELD_ONE_IN = 3
"""One field in so many of every kind's schema is judged at all."""
FIELD_TURNS = 3
"""A run takes one in so many of those."""
PRESENT, NEXT = sorted(APP_DIGESTS)
NEXT_VERSION = APP_RICH.replace(PRESENT, NEXT)


async def at_rest(world: World, text: str) -> None:
    """A cluster as this text says, and an operator that has nothing left to do."""
    world.manifests.write(FILE, text)
    world.start_operator(tempo=LEISURELY)
    await world.until_whole()
    await until_quiet(world)


def begun(begin: Callable[[], Coroutine[Any, Any, World]]) -> StandingStill[World]:
    """Return a scene from which several edits go on, each by itself."""
    with broken_passes() as broken:
        scene = StandingStill(begin)
    assert not broken, broken[0]
    return scene


def edited(
    scene: StandingStill[World], text: str, effect: Effect = after, file: str = FILE
) -> list[str]:
    """Return where the forecast of an edit of the scene is wrong."""

    async def go_on(world: World) -> list[str]:
        with broken_passes() as broken:  # what a fork hears does not leave it
            found = await judged_edit(world, text, effect, file)
        assert not broken, broken[0]
        assert not found_so_far()
        return found

    return scene.go_on(go_on)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_an_edit_comes_to_what_was_forecast(shard: int) -> None:
    async def main(seed: int) -> list[str]:
        world = prepared_world(seed)
        first, then = random.Random(f"forecast {seed}").sample(LASTING_TEXTS, 2)
        await at_rest(world, first)
        return [f"seed {seed}: {text}" for text in await judged_edit(world, then)]

    for number in CASES[shard::SHARDS]:
        found = run_virtual(lambda number=number: main(given_seed() + number))  # type: ignore[misc]
        assert not found, found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(first_of(3), first_of(5), id="3 to 5"),
        pytest.param(first_of(5), first_of(3), id="5 to 3", marks=pytest.mark.slow),
        pytest.param(
            first_of(3),
            text_of("member-1", "member-2", "member-3", at={"member-3": "node5"}),
            id="a member moves",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_change_of_the_members_comes_to_what_was_forecast(before: str, after: str) -> None:
    async def main() -> list[str]:
        world = topology_world(1, before)
        await at_rest(world, before)
        return await judged_edit(world, after)

    assert run_virtual(main) == []


@pytest.mark.parametrize("hears", [0.8, 0.15])
def test_a_leader_moves_once_for_one_edit(hears: float) -> None:
    """A parameter that needs a restart changes in the same edit: members that are slow to say so
    had the lead moved to one of them, back for its restart, and there again."""

    async def main() -> list[str]:
        world = prepared_world(1)
        world.patroni_model.hears_settings = hears
        await at_rest(world, manifest(primary="member-2", postgresql=BUFFERS))
        found = await judged_edit(world, manifest(primary="member-1"), with_restarts=False)
        moves = sum(kind == "switchover" for _, kind in world.patroni.verbs)
        assert moves == 2, "one for each primary"
        return found

    assert run_virtual(main) == []


@pytest.mark.parametrize(
    "edited",
    [
        pytest.param(
            {"secrets": "{restApi: other_rest_pw}", "ports": "{restApi: 18008}"}, id="a secret"
        ),
        pytest.param({"postgresql": "{parameters: {max_connections: 300}}"}, id="a parameter"),
    ],
)
def test_a_leader_moves_once_without_a_route_hint(edited: dict[str, str]) -> None:
    """The pass that makes a new secret, or writes a parameter, moved the leader as well: it did not
    know yet that all members had to restart for that."""

    async def main() -> list[str]:
        world = prepared_world(1)
        before = manifest(primary="member-1", fastSwitchover="false")
        await at_rest(world, before)
        after = manifest(primary="member-2", fastSwitchover="false", **edited)
        found = await judged_edit(world, after, with_restarts=False)
        assert sum(kind == "switchover" for _, kind in world.patroni.verbs) == 1
        return found

    assert run_virtual(main) == []


BUFFERS = "{parameters: {shared_buffers: 64MB}}"
MOMENTS_S = (4.0, 9.0, 14.0, 21.0, 33.0, 47.0, 66.0, 95.0)
"""Seconds after an edit at which its rest is forecast."""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(first_of(3), first_of(5), id="3 to 5"),
        pytest.param(first_of(5), first_of(3), id="5 to 3", marks=pytest.mark.slow),
        pytest.param(
            first_of(3),
            text_of("member-1", "member-2", "member-4"),
            id="a member for another",
            marks=pytest.mark.slow,
        ),
        pytest.param(LASTING_TEXTS[0], LASTING_TEXTS[3], id="an update", marks=pytest.mark.slow),
    ],
)
def test_the_rest_of_a_change_under_way_comes_to_what_was_forecast(before: str, after: str) -> None:
    """A task is on its way, another one ends, a member joins: all of that ends by itself."""

    async def begin() -> World:
        world = topology_world(1, before)
        await at_rest(world, before)
        return world

    async def go_on(world: World, moment_s: float) -> list[str]:
        world.manifests.write(FILE, after)
        await anyio.sleep(moment_s)
        forecasted = await forecast_of(world)
        found = [] if await until_quiet(world) else ["the operator does not come to rest"]
        return [*found, *compare(world, forecasted)]

    scene = begun(begin)
    wrong = {at_s: scene.go_on(partial(go_on, moment_s=at_s)) for at_s in MOMENTS_S}
    assert {at_s: found for at_s, found in wrong.items() if found} == {}


def test_a_first_deployment_comes_to_what_was_forecast() -> None:
    async def main() -> list[str]:
        world = World()
        forecasted = await forecast_of(world)
        assert all(way.is_whole for way in forecasted.ways)
        world.start_operator()
        await anyio.sleep(10)
        await until_quiet(world)
        return [*compare(world, forecasted)]

    assert run_virtual(main) == []


def test_what_stops_a_forecast_stops_the_operator() -> None:
    """A member's node is off: nothing is restarted, and the forecast says by whom it is held."""

    async def main() -> None:
        world = prepared_world(1)
        await at_rest(world, LASTING_TEXTS[0])
        world.store.set_node("id-node4", availability="drain")
        await anyio.sleep(30)
        edited = {FILE: LASTING_TEXTS[3]}
        forecasted = await forecast_of(world, edited=edited)
        (way,) = forecasted.ways
        assert not way.is_whole
        assert any(hold.key == "update-service/main_member-1" for hold in way.stops)
        world.manifests.write(FILE, LASTING_TEXTS[3])
        await anyio.sleep(300)
        assert [*compare(world, forecasted)] == []

    run_virtual(main)


@pytest.mark.slow
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_worse_model_is_caught_where_the_model_itself_passes(mutation: ForecastMutation) -> None:
    async def begin() -> World:
        world = prepared_world(1)
        await at_rest(world, mutation.before)
        return world

    scene = begun(begin)
    assert edited(scene, mutation.text, mutation.effect) != []
    assert edited(scene, mutation.text) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("", app_manifest(), id="a new application"),
        pytest.param(APP_RICH, NEXT_VERSION, id="an upgrade with a dump"),
        pytest.param(APP_RICH, app_manifest(), id="the edge goes", marks=pytest.mark.slow),
    ],
)
def test_an_application_comes_to_what_was_forecast(before: str, after: str) -> None:
    async def main() -> list[str]:
        world = World(1)
        world.startable |= APP_IMAGES.keys()
        world.swarm.images |= APP_IMAGES
        Replicas(world, random.Random(1))
        if before:
            world.manifests.write(APP_FILE, before)
        world.start_operator()
        await world.until_whole()
        await until_quiet(world)
        return await judged_edit(world, after, file=APP_FILE)

    assert run_virtual(main) == []


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_an_edit_of_any_field_comes_to_what_was_forecast(shard: int) -> None:
    seed = given_seed()

    async def begin(file: str, text: str) -> World:
        world = World(seed)
        world.startable = frozenset(IMAGES) | APP_IMAGES.keys()
        world.swarm.images |= IMAGES | APP_IMAGES
        world.manifests.files[file] = text
        if file == APP_FILE:
            Replicas(world, random.Random(seed))
        for name in OWNERS_SECRETS:
            world.store.create_secret(Secret(name))
        world.start_operator(tempo=LEISURELY)
        await world.until_whole()
        await until_quiet(world)
        return world

    scenes: dict[tuple[str, str], StandingStill[World]] = {}
    every = [(kind, one) for kind in KINDS for one in fields_of(kind)]
    judged = turns(every[seed % FIELD_ONE_IN :: FIELD_ONE_IN], FIELD_TURNS, "fields")
    for kind, one in judged[shard::SHARDS]:
        drawn = draw_valid(kind, one, random.Random(f"{seed}/{kind}/{one}"))
        if drawn is not None:
            text, edit = drawn
            if (edit.file, text) not in scenes:
                scenes[edit.file, text] = begun(partial(begin, edit.file, text))
            found = edited(scenes[edit.file, text], edit.text, file=edit.file)
            assert not found, f"{edit}: {found}"
