"""A cluster of each recorded release takes its first edit of the members, by today's operator.

The members run the image that the release was recorded with, and stay with it: it syncs none of
Raft's files, and its entry point mends nothing (``tests.fakes.images``). A new member has that
image too, or today's, where it was pushed under the same tag. The judges are those of today's
edits. The edit is written in the moment in which today's operator takes over.
"""

from __future__ import annotations

import asyncio
import random

import anyio
import pytest

from queenright.core.swarm.objects import IMAGE_LABEL
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.releases.recording import recordings
from tests.sim.recorded_world import PUSHED, begin, recorded
from tests.sim.seeds import faults, first_seed, histories_of
from tests.sim.topology_history import Told, live_through, steps_of, text_for
from tests.sim.topology_world import Deployed
from tests.support.builders import FILE

SCENES = tuple((path.parent.name, path.stem) for path in recordings())
FIRST_EDITS = ("3 to 5 to 3", "3 to 1", "a move", "the leader moves", "another name")
LEADS_BY_NAME = {("0.2.0", "day-two"): "3 to 1"}
"""The edit that a scene's file can't take: its `primary` would be no member."""
EDITS = [
    (release, scene, walk, is_pushed)
    for release, scene in SCENES
    for walk in FIRST_EDITS
    for is_pushed in (False, True)
    if LEADS_BY_NAME.get((release, scene)) != walk
]
USUAL = {("0.2.0", "usual", walk, False) for walk in FIRST_EDITS} | {
    ("0.1.0", "usual", "3 to 5 to 3", False),
    ("0.2.0", "usual", "a move", True),
}
"""Edits in `make check`."""
DRAWN = ("3 to 4 to 3", "3 to 5 to 3", "3 to 1", "a move", "a move and back", "the leader moves")
SEEDS = range(first_seed(), first_seed() + histories_of(2, 16))


async def full_disk(world: World, seed: int) -> None:
    """A member's Raft node ends beside its Patroni, and a person starts it again; both before the
    faults end."""
    rng = random.Random(f"full disk {seed}")
    await anyio.sleep(rng.uniform(0, 80))
    name = rng.choice(["main_member-1", "main_member-2", "main_member-3"])
    if world.end_raft(name):
        await anyio.sleep(rng.uniform(10, 100))
        world.kill_container(name)


def live(
    release: str, scene: str, told: Told, count: int, *, is_pushed: bool, fills: bool = False
) -> World:
    """Take the recorded cluster through a walk with so many faults; ``fills`` a disk, too."""
    recorded(release, scene)
    worlds: list[World] = []

    async def main() -> None:
        world = await begin(release, scene, told.seed, is_pushed=is_pushed)
        worlds.append(world)
        filling = asyncio.ensure_future(full_disk(world, told.seed)) if fills else None
        await live_through(told, steps_of(told.seed, count), world=world)
        if filling is not None:
            await filling

    run_virtual(main)
    return worlds[0]


@pytest.mark.parametrize(
    ("release", "scene", "walk", "is_pushed"),
    [pytest.param(*edit, marks=[] if edit in USUAL else [pytest.mark.slow]) for edit in EDITS],
)
def test_the_first_edit_of_the_members_is_reached(
    release: str, scene: str, walk: str, is_pushed: bool
) -> None:
    told = Told(0, walk)
    before = recorded(release, scene).swarm
    world = live(release, scene, told, 0, is_pushed=is_pushed)
    assert told.found() == [], str(told)
    (image,) = {
        live.value.image for live in before.services if live.value.name.startswith("main_member-")
    }
    present = {
        live.value.name: live.value
        for live in world.store.services.values()
        if live.value.name.removeprefix("main_") in {*Deployed(world)}
    }
    assert present
    for name, service in present.items():
        was_there = before.service(name) is not None and walk in {"3 to 5 to 3", "3 to 1"}
        assert service.image == service.labels[IMAGE_LABEL]
        if was_there or not is_pushed:
            assert service.image == image, f"{name} is updated by an edit of the members"
    if is_pushed and walk in {"a move", "the leader moves"}:
        assert any(service.image.endswith(PUSHED) for service in present.values())


@pytest.mark.parametrize("seed", SEEDS)
def test_histories_of_its_first_edits_end_as_the_file_says(seed: int) -> None:
    release = "0.1.0" if seed // len(DRAWN) % 2 else "0.2.0"
    told = Told(seed, DRAWN[seed % len(DRAWN)])
    is_pushed, fills = bool(seed // 2 % 2), bool(seed // 3 % 2)
    live(release, "usual", told, faults(), is_pushed=is_pushed, fills=fills)
    assert told.found() == [], str(told)


@pytest.mark.parametrize(("release", "scene"), SCENES)
def test_the_world_begins_as_it_was_recorded(release: str, scene: str) -> None:
    found = recorded(release, scene)

    async def main() -> None:
        world = await begin(release, scene, 1)
        assert world.manifests.files == {FILE: found.text} == {FILE: text_for(3, found.text)}
        assert world.store.state().services == found.swarm.services
        assert world.store.state().configs == found.swarm.configs
        leader = world.leader()
        assert leader is not None
        assert [leader.name] == [m.name for m in found.members.values() if m.holds_lock]
        images = {
            world.patroni_model.image_of(i).mends_raft
            for i in world.patroni_model.of_cluster("main")
        }
        assert images == {False}
        assert world.changes == 0

    run_virtual(main)
