"""Passes over the documents of which events and members' answers tell, where full passes are rare:
they do what a full pass would, soon, from fresh answers; one that does not is caught."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from queenright.core.kinds.postgres_cluster.annotations import read_annotations
from queenright.engine import full_passes, part
from queenright.engine.observe import Look, observe
from queenright.settings import PollIntervals
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import TEMPO, World
from tests.sim.history import run
from tests.sim.neighbour import Neighbour, neighbour_script, with_neighbour
from tests.sim.part_judge import PartJudge
from tests.sim.seeds import faults, first_seed, histories_of
from tests.sim.test_parts import Forgetful

APART_S = 60.0
REST_S = 6.0
"""For each of two documents: full passes rest for 12 s, and so does what no part does."""
NEVER_S = 1e6
SOON_S = 4.0
"""Two looks of the watcher at a member, and a part."""
FIRST, HISTORIES = first_seed(), histories_of(2, 20)


@pytest.fixture(autouse=True)
def _rare_full_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(full_passes, "REST_S", REST_S)


def judging(monkeypatch: pytest.MonkeyPatch, judge: PartJudge) -> PartJudge:
    monkeypatch.setattr(part, "observe", judge.observe)
    monkeypatch.setattr(part, "views_of", judge.views_of)
    return judge


async def converged(tempo: PollIntervals = TEMPO) -> World:
    """Two clusters at rest, whose operator has made its full passes."""
    world, found = World(), list[Neighbour]()
    with_neighbour(0, found)(world)
    for owner in world.owners:
        owner.cancel()
    world.start_operator(tempo=tempo)
    await world.until_whole()
    await anyio.sleep(2 * APART_S)
    return world


async def two_clusters_in_trouble() -> World:
    """Changes by hand and lost members, each followed by some time."""
    world = await converged()
    for event in (
        lambda: world.change_service("side_one", environment={}),
        lambda: world.store.remove_service(world.service("main_proxy").id),
        lambda: world.patroni_model.switch_over("main", "member-2"),
        lambda: world.kill_container("side_two"),
        lambda: world.power_cut("node6"),
        lambda: world.power_on("node6"),
    ):
        event()
        await anyio.sleep(APART_S)
    await world.until_whole()
    return world


def test_parts_plan_what_the_whole_gives_from_fresh_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judge = judging(monkeypatch, PartJudge())
    run_virtual(two_clusters_in_trouble)
    assert {*judge.planned} == {"main", "side"}
    assert {*judge.acted_on} == {"main", "side"}
    assert not judge.wrong, judge.wrong[0]
    assert not judge.stale, judge.stale[0]


@pytest.mark.slow
def test_a_part_that_lacks_answers_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = judging(monkeypatch, PartJudge())
    monkeypatch.setattr("queenright.engine.limited.Limited", Forgetful)
    run_virtual(two_clusters_in_trouble)
    assert judge.wrong


@pytest.mark.slow
def test_a_part_that_plans_from_former_answers_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[object, Look] = {}

    async def observe_once(*rest: Any, **how: Any) -> Look:
        key = tuple(document.name for document in how["part"])
        if key not in kept:
            kept[key] = await observe(*rest, **how)
        return kept[key]

    judge = judging(monkeypatch, PartJudge(observe_once))
    run_virtual(two_clusters_in_trouble)
    assert judge.stale


async def without_full_passes() -> tuple[float, float]:
    """Return the seconds from a removed service to its creation, and from a new leader to its note
    in the state config, where no timer starts a full pass."""
    world = await converged(PollIntervals(resync_s=NEVER_S, file_poll_s=1.0, member_poll_s=2.0))
    world.store.remove_service(world.service("main_proxy").id)
    created_s = await until(world, lambda: world.store.service_named("main_proxy") is not None)
    await anyio.sleep(APART_S)
    before = noted_leader(world)
    world.patroni_model.switch_over("main", "member-3")
    while world.leader() is None or world.leader().name == before:  # type: ignore[union-attr]  # noqa: ASYNC110
        await anyio.sleep(0.1)
    return created_s, await until(world, lambda: noted_leader(world) == "member-3")


async def until(world: World, is_so: Any) -> float:
    """Return the seconds until then, ``NEVER_S`` if it did not come within a minute."""
    began_s = world.now_s
    while not is_so():
        if world.now_s - began_s > APART_S:
            return NEVER_S
        await anyio.sleep(0.1)
    return world.now_s - began_s


def noted_leader(world: World) -> str:
    live = next(c for c in world.store.configs.values() if c.value.name == "main_cluster")
    leader = read_annotations(live.value.labels).leader
    return "" if leader is None else leader.member


@pytest.fixture
def _no_full_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(full_passes, "REST_S", NEVER_S)


@pytest.mark.usefixtures("_no_full_passes")
def test_a_part_answers_soon_where_no_full_pass_comes() -> None:
    created_s, noted_s = run_virtual(without_full_passes)
    assert created_s < SOON_S
    assert noted_s < SOON_S


@pytest.mark.slow
@pytest.mark.usefixtures("_no_full_passes")
def test_a_part_that_does_not_find_its_documents_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shows that the test above can fail."""
    monkeypatch.setattr(part, "owners_of", lambda _: frozenset())
    created_s, noted_s = run_virtual(without_full_passes)
    assert min(created_s, noted_s) > SOON_S


@pytest.mark.parametrize("seed", range(FIRST, FIRST + HISTORIES))
def test_two_clusters_live_through_histories_of_rare_full_passes(seed: int) -> None:
    found: list[Neighbour] = []
    outcome = run(neighbour_script(seed, faults()), tamper=with_neighbour(seed, found))
    (neighbour,) = found
    assert not [*outcome.violations, *neighbour.violations], (
        f"seed {seed}: {neighbour.violations}\n{outcome}"
    )
