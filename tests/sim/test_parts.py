"""Passes over edited documents, in a world of two clusters: each plan is that of the whole
observation of its moment, a part that knows too little is caught, and a full pass follows."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from queenright.core.manifest.document import Document
from queenright.core.planning.plan import Plan
from queenright.engine import loop, part
from queenright.engine.faults import Faults
from queenright.engine.limited import Limited
from queenright.engine.observe import Look, observe
from queenright.engine.part import Edits
from queenright.engine.planning import PlannedObject, Planning
from queenright.engine.remembered import Remembered
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.neighbour import SIDE_FILE, TEXTS, Neighbour, with_neighbour
from tests.sim.remembered_judge import all_of
from tests.support.builders import FILE, MANIFEST, manifest

APART_S = 100.0
EDITS = [
    *((SIDE_FILE, text) for text in (TEXTS[3], TEXTS[4], TEXTS[0], TEXTS[2])),
    (FILE, manifest(stopGracePeriod="90s")),
    (FILE, MANIFEST),
]


@dataclass
class PartJudge:
    """Observes the whole world beside each part, and plans its documents from that."""

    wrong: list[str] = field(default_factory=list)
    planned: int = 0
    whole: Look = field(init=False)

    async def observe(
        self, ports: Any, documents: Sequence[Document], *rest: Any, **how: Any
    ) -> Look:
        found = await observe(ports, documents, *rest, **how)
        self.whole = await observe(ports, documents, *rest)
        return found

    def views_of(self, made: Planning, of: Sequence[Document]) -> Iterator[PlannedObject[Any]]:
        remembers = ("seen_s_ago", "touched_s_ago", "absent_s")
        own = {name: getattr(made.look.observed, name) for name in remembers}
        look = dataclasses.replace(
            self.whole, observed=dataclasses.replace(self.whole.observed, **own)
        )
        anew = dataclasses.replace(made, look=look, faults=Faults(), remembered=Remembered())
        for view in VIEWS_OF(made, of):
            self.planned += 1
            assert view.document is not None
            plan: Plan = anew.described(view.document, anew.swarm).plan
            if all_of(plan) != all_of(view.plan):
                self.wrong.append(f"{view.key}: {view.plan} from a part, {plan} from all")
            yield view


VIEWS_OF = part.views_of


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
    assert judge.planned >= len(EDITS)
    assert not judge.wrong, judge.wrong[0]


class Forgetful(Limited[Any, Any]):
    """A part that takes the answers which it has as well for absent."""

    def __init__(self, found: Any, covers: Any) -> None:
        super().__init__({}, lambda key: True)


def test_a_part_that_lacks_answers_is_caught(
    judge: PartJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("queenright.engine.limited.Limited", Forgetful)
    run_virtual(two_clusters_with_edits)
    assert judge.wrong


def test_what_no_part_has_planned_the_full_pass_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Edits, "take", lambda *_: ())
    run_virtual(two_clusters_with_edits)


def test_what_a_part_has_left_the_full_pass_does(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(*_: Any) -> None:
        await anyio.lowlevel.checkpoint()

    monkeypatch.setattr(loop, "reconcile_part", nothing)
    run_virtual(two_clusters_with_edits)


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
        monkeypatch.setattr(Edits, "take", lambda *_: ())
        world.manifests.write(FILE, manifest(stopGracePeriod="90s"))
        await anyio.sleep(APART_S)
        assert world.service("main_member-2").value.stop_grace_s != 90

    run_virtual(main)
