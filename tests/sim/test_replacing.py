"""Members on dead nodes are replaced on spare nodes, as `replaceAfter` asks for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio
import pytest

from tests.fakes.files import Refused
from tests.fakes.running_operator import Operator
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.one_edit import holds_now
from tests.sim.replacement_judge import ReplacementJudge
from tests.sim.topology_judge import TopologyJudge
from tests.sim.topology_world import (
    ASKED,
    REPLACES_S,
    Deployed,
    noted_places,
    notes_of,
    text_of,
    topology_world,
    write_members,
)

THREE = ("member-1", "member-2", "member-3")
TEXT = text_of(*THREE, more=ASKED)
LASTS_S = 1500.0


@dataclass
class Scene:
    """A cluster of three whose file asks for replacements, with both judges."""

    world: World
    operator: Operator
    judge: TopologyJudge
    replacements: ReplacementJudge

    async def restart_operator(self) -> None:
        await self.operator.kill()
        self.operator = self.world.start_operator()

    async def until(self, is_so: Callable[[], bool], limit_s: float = LASTS_S) -> float:
        return await self.world.until_whole(limit_s, is_so)

    def home(self, name: str) -> str:
        return dict(Deployed(self.world)).get(name, "")

    @property
    def violations(self) -> list[str]:
        return [*self.judge.violations, *self.replacements.violations]


def played(act: Callable[[Scene], Awaitable[None]], text: str = TEXT) -> None:
    async def play() -> None:
        world = topology_world(1, text)
        judges = TopologyJudge(world), ReplacementJudge(world)
        scene = Scene(world, world.start_operator(), *judges)
        await world.until_whole()
        await anyio.sleep(70)
        await act(scene)
        assert scene.violations == []

    run_virtual(play)


@pytest.mark.parametrize(
    "node",
    [
        pytest.param("node4", id="a replica's", marks=pytest.mark.slow),
        pytest.param("node2", id="the leader's"),
    ],
)
def test_a_dead_node_is_replaced_and_its_member_stays_out_when_it_is_back(node: str) -> None:
    name = f"member-{int(node[-1]) - 1}"

    async def act(scene: Scene) -> None:
        world = scene.world
        world.power_cut(node)
        assert await scene.until(lambda: bool(notes_of(world))) >= REPLACES_S
        await scene.until(world.is_whole)
        assert scene.home(name) == "node7"
        world.power_on(node)
        await anyio.sleep(200)
        await scene.until(world.is_whole)
        assert scene.home(name) == "node7"
        told = [hold.reason for hold in (await holds_now(world))[0]]
        assert any("write node: node7 in its line" in reason for reason in told), told
        write_members(world, text_of(*THREE, at={name: "node7"}, more=ASKED))
        await scene.until(lambda: not notes_of(world))
        await anyio.sleep(60)
        assert world.is_whole()
        assert scene.home(name) == "node7"
        scene.judge.at_rest()

    played(act)


@pytest.mark.slow
def test_a_node_that_comes_and_goes_is_not_replaced() -> None:
    async def act(scene: Scene) -> None:
        for _ in range(8):
            scene.world.power_cut("node4")
            await anyio.sleep(REPLACES_S)
            scene.world.power_on("node4", 0.0)
            await anyio.sleep(2.0)
        assert scene.replacements.begun == []
        await scene.until(scene.world.is_whole)

    played(act)


def test_a_member_that_the_others_reach_is_not_replaced() -> None:
    """The managers and its node do not hear each other, and swarm calls the node down."""

    async def act(scene: Scene) -> None:
        world = scene.world
        world.cut("node1", "node4")
        await anyio.sleep(3 * REPLACES_S)
        assert world.store.nodes["id-node4"].state == "down"
        assert scene.replacements.begun == []
        world.heal("node4")
        await scene.until(world.is_whole)
        assert scene.home("member-3") == "node4"

    played(act)


def test_unknown_is_not_down() -> None:
    """The managers lost their leader, and do not hear the node since."""

    async def act(scene: Scene) -> None:
        world = scene.world
        world.power_cut("node4")
        for _ in range(600):
            if world.store.nodes["id-node4"].state == "down":
                world.store.set_node("id-node4", state="unknown")
            await anyio.sleep(1)
        assert scene.replacements.begun == []
        assert "member-3" in {*Deployed(world)}

    played(act)


def test_a_node_that_is_back_after_the_note_keeps_its_member() -> None:
    async def act(scene: Scene) -> None:
        world = scene.world
        world.power_cut("node4")
        await scene.until(lambda: bool(notes_of(world)))
        world.power_on("node4", 0.0)
        await scene.until(lambda: not notes_of(world))
        await scene.until(world.is_whole)
        assert scene.home("member-3") == "node4"

    played(act)


def test_a_restarted_operator_goes_on() -> None:
    async def act(scene: Scene) -> None:
        world = scene.world
        world.power_cut("node4")
        await scene.until(lambda: bool(notes_of(world)))
        await scene.restart_operator()
        await scene.until(lambda: "member-3" not in {*Deployed(world)})
        await scene.restart_operator()
        await scene.until(world.is_whole)
        assert scene.home("member-3") == "node7"

    played(act)


@pytest.mark.slow
def test_a_dead_spare_is_replaced_in_turn() -> None:
    async def act(scene: Scene) -> None:
        world = scene.world
        world.power_cut("node4")
        await scene.until(lambda: "member-3" not in {*Deployed(world)})
        world.power_cut("node7")
        await scene.until(lambda: scene.home("member-3") == "node8")
        await scene.until(world.is_whole)
        world.power_on("node7")
        world.power_cut("node8")
        await scene.until(lambda: not world.is_whole())
        await anyio.sleep(REPLACES_S + 60)
        assert [note.node for note in notes_of(world)] == ["node7"]
        await scene.until(world.is_whole)
        assert scene.home("member-3") == "node7"

    played(act)


def test_an_edit_takes_the_place_of_a_replacement() -> None:
    """Its owner writes another node while the operator is at it."""

    async def act(scene: Scene) -> None:
        world = scene.world
        world.power_cut("node4")
        await scene.until(lambda: "member-3" not in {*Deployed(world)})
        write_members(world, text_of(*THREE, at={"member-3": "node5"}, more=ASKED))
        await scene.until(world.is_whole)
        assert scene.home("member-3") == "node5"
        assert notes_of(world) == ()
        scene.judge.at_rest()

    played(act)


def test_of_two_dead_members_one_is_removed_and_the_other_replaced() -> None:
    """The removal of the one does not wait for the other, whose replacement waits for it."""

    async def act(scene: Scene) -> None:
        world = scene.world
        world.power_cut("node3")
        world.power_cut("node5")
        await anyio.sleep(30)
        write_members(world, TEXT)
        await scene.until(lambda: scene.home("member-2") not in {"", "node3"})
        await world.until_whole(LASTS_S)
        assert {*Deployed(world)} == {*THREE}

    played(act, text_of(*THREE, "member-4", "member-5"))


@pytest.mark.parametrize(
    ("spares", "more"),
    [
        pytest.param("node7", "node7, node8", id="a spare node for one"),
        pytest.param("node7", "node7, node8, node6", id="for both"),
        pytest.param(
            "node7, node8, node6", "node7, node8, node6", id="begun", marks=pytest.mark.slow
        ),
    ],
)
def test_a_second_one_dies_when_the_first_ones_place_is_free(spares: str, more: str) -> None:
    """The first one's spare node fails, too, and the file names others."""
    four = (*THREE, "member-4")

    def asked(nodes: str) -> str:
        return text_of(*four, more=f"  replaceAfter: {REPLACES_S}s\n  spareNodes: [{nodes}]\n")

    async def act(scene: Scene) -> None:
        world = scene.world
        world.power_cut("node4")
        await scene.until(lambda: "raft-remove" in [what for _, what in world.patroni.verbs])
        world.power_cut("node5")
        if ", " in spares:
            await scene.until(lambda: len(notes_of(world)) == 2)
        world.store.set_node("id-node7", availability="drain")
        await anyio.sleep(2 * REPLACES_S)
        write_members(world, asked(more))
        await scene.until(lambda: scene.home("member-4") not in {"", "node5"})
        if more.count(",") == 1:
            world.store.set_node("id-node7", availability="active")
        await scene.until(world.is_whole)
        refused = [record.refusal for record in world.audit.records if isinstance(record, Refused)]
        assert refused == []

    played(act, asked(spares))


def test_a_replaced_member_that_returns_to_its_node_has_its_data() -> None:
    """It was moved there, so its volumes bear its stand-in's name; the spare node fails when its
    place is free, and its own node is back."""
    more = f"  replaceAfter: {REPLACES_S}s\n  spareNodes: [node7]\n"

    async def act(scene: Scene) -> None:
        world = scene.world
        write_members(world, text_of(*THREE, at={"member-3": "node5"}, more=more))
        await scene.until(lambda: world.is_whole() and scene.home("member-3") == "node5")
        await anyio.sleep(70)
        verbs = world.patroni.verbs
        before = len(verbs)
        world.power_cut("node5")
        await scene.until(lambda: "raft-remove" in [what for _, what in verbs[before:]])
        world.store.set_node("id-node7", availability="drain")
        await scene.until(lambda: "member-3" not in noted_places(world))
        world.power_on("node5")
        await scene.until(world.is_whole)
        assert scene.home("member-3") == "node5"
        assert notes_of(world) == ()
        scene.judge.at_rest()

    played(act, text_of(*THREE, more=more))
