"""Passes over edited documents, in a world of two clusters: each plan is that of the whole
observation of its moment, a part that knows too little is caught, and a full pass follows."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import pytest

from queenright.engine import loop, part
from queenright.engine.limited import Limited
from queenright.engine.part import Changes
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.neighbour import SIDE_FILE, TEXTS, Neighbour, with_neighbour
from tests.sim.part_judge import PartJudge
from tests.support.builders import FILE, MANIFEST, manifest

APART_S = 60.0
EDITS = [
    *((SIDE_FILE, text) for text in (TEXTS[3], TEXTS[4], TEXTS[0], TEXTS[2])),
    (FILE, manifest(stopGracePeriod="90s")),
    (FILE, MANIFEST),
]


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> PartJudge:
    made = PartJudge()
    monkeypatch.setattr(part, "observe", made.observe)
    monkeypatch.setattr(part, "views_of", made.views_of)
    return made


async def two_clusters_with_edits() -> World:
    world, found = World(), list[Neighbour]()
    with_neighbour(0, found)(world)
    for owner in world.owners:
        owner.cancel()
    world.start_operator()
    await world.until_whole()
    await anyio.sleep(120)
    for file, text in EDITS:
        world.manifests.write(file, text)
        await anyio.sleep(APART_S)
    grace_s = world.service("main_member-1").value.stop_grace_s
    for name in found[0].subject.services:
        assert world.service(name).value.stop_grace_s == grace_s
    return world


def test_the_plan_of_a_part_is_that_of_the_whole(judge: PartJudge) -> None:
    run_virtual(two_clusters_with_edits)
    assert len(judge.planned) >= len(EDITS)
    assert not judge.wrong, judge.wrong[0]
    assert not judge.stale, judge.stale[0]


class Forgetful(Limited[Any, Any]):
    """A part that takes the answers which it has as well for absent."""

    def __init__(self, found: Any, covers: Any) -> None:
        super().__init__({}, lambda key: True)


@pytest.mark.slow
def test_a_part_that_lacks_answers_is_caught(
    judge: PartJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("queenright.engine.limited.Limited", Forgetful)
    run_virtual(two_clusters_with_edits)
    assert judge.wrong


@pytest.mark.slow
def test_what_no_part_has_planned_the_full_pass_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Changes, "take", lambda *_: None)
    run_virtual(two_clusters_with_edits)


@pytest.mark.slow
def test_what_a_part_has_left_the_full_pass_does(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(*_: Any) -> None:
        await anyio.lowlevel.checkpoint()

    monkeypatch.setattr(loop, "reconcile_part", nothing)
    run_virtual(two_clusters_with_edits)


@pytest.mark.slow
def test_the_world_needs_a_pass_to_carry_an_edit_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shows that the two tests above can fail."""

    async def no_pass(*_: Any) -> None:
        await anyio.lowlevel.checkpoint()

    async def main() -> None:
        world = World()
        world.start_operator()
        await world.until_whole()
        await anyio.sleep(60)
        monkeypatch.setattr(loop.Loop, "_pass", no_pass)
        monkeypatch.setattr(Changes, "take", lambda *_: None)
        world.manifests.write(FILE, manifest(stopGracePeriod="90s"))
        await anyio.sleep(APART_S)
        assert world.service("main_member-2").value.stop_grace_s != 90

    run_virtual(main)
