"""The trails of edits that the guide shows are those of the operator.

Each block of "The trail of each edit" in docs/guide.md belongs to one simulated edit, and has its
actions in their order, without those that follow the members. `…` in a reason is any text.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from queenright.core.actions import AnyAction
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.topology_world import first_of, text_of, topology_world, write_members

GUIDE = Path(__file__).parents[2] / "docs" / "guide.md"
STEP = re.compile(r"    (\S+) {2,}(\S.*)")
FOLLOWS = re.compile(r"(label-node|create-config|remove-config|route)/|update-service/main_proxy$")
"""Keys of the actions that follow the members."""
ANNOTATIONS = "the operator's annotations"
THREE = ("member-1", "member-2", "member-3")
REPLACED = "  replaceAfter: 60s\n  spareNodes: [node7]\n"

Step = tuple[str, str]
"""An action's key, and its reason."""


async def nothing(_world: World) -> None:
    """Leave the world as it is."""


async def power_cut(world: World) -> None:
    world.power_cut("node4")
    await anyio.sleep(200)


async def renumber(world: World) -> None:
    node = world.store.node_named("node3")
    world.store.set_node(node.id, address="10.77.0.99")
    await anyio.sleep(60)


def with_lines(**at: str) -> str:
    """Return the file with three members, of which some are elsewhere."""
    return text_of(*THREE, at={name.replace("_", "-"): node for name, node in at.items()})


@dataclass(frozen=True)
class Scene:
    """A deployed cluster, what happens to it, and the file after the edit."""

    text: str
    edited: str
    before: Callable[[World], Awaitable[None]] = field(default=nothing)


RENAMED = text_of("member-1", "member-2", "db-3", at={"db-3": "node4"})
ASKED = text_of(*THREE, more=REPLACED)
SCENES: Mapping[str, Scene] = {
    "3 → 5": Scene(first_of(3), first_of(5)),
    "5 → 3": Scene(first_of(5), first_of(3)),
    "1 → 3": Scene(first_of(1), first_of(3)),
    "3 → 1": Scene(first_of(3), first_of(1)),
    "Another node": Scene(first_of(3), with_lines(member_1="node5")),
    "Another name": Scene(first_of(3), RENAMED),
    "Another `address:`": Scene(
        first_of(3), with_lines(member_2="node3, address: 10.77.0.99"), renumber
    ),
    "A dead node": Scene(ASKED, ASKED, power_cut),
}
"""The scene of each block, by words of the paragraph above it."""


def trails_in(text: str) -> dict[str, list[Step]]:
    """Return the steps of each block of the guide, by the paragraph above it."""
    part = text.partition("**The trail of each edit.**")[2].partition("`queenright plan`")[0]
    found: dict[str, list[Step]] = {}
    title = ""
    for paragraph in part.split("\n\n")[1:]:
        if not paragraph.startswith("    "):
            title = paragraph.strip()
            continue
        steps = [STEP.fullmatch(line) for line in paragraph.rstrip().splitlines()]
        found[title] = [(step[1], step[2]) for step in steps if step is not None]
        assert None not in steps, f"{title}: a line is no step"
    return found


def trail_of(scene: Scene) -> list[Step]:
    """Return the operator's actions on the members, from the edit to rest."""
    done: list[AnyAction] = []

    async def walk() -> None:
        world = topology_world(1, scene.text)
        world.start_operator()
        await world.until_whole()
        await anyio.sleep(70)
        known = len(world.audit.outcomes)
        await scene.before(world)
        write_members(world, scene.edited)
        await world.until_whole(1500)
        await anyio.sleep(300)
        done.extend(record.action for record in world.audit.outcomes[known:])

    run_virtual(walk)
    found = [(action.key, action.reason) for action in done]
    return [(k, why) for k, why in found if not FOLLOWS.match(k) and ANNOTATIONS not in why]


def is_told(told: Step, real: Step) -> bool:
    """Return True if the guide's line is this action."""
    pattern = ".*".join(map(re.escape, told[1].split("…")))
    return told[0] == real[0] and re.fullmatch(pattern, real[1]) is not None


TRAILS = trails_in(GUIDE.read_text(encoding="utf-8"))


def told_of(words: str) -> list[Step]:
    """Return the one block of the guide whose paragraph has these words."""
    (found,) = (steps for title, steps in TRAILS.items() if words in title)
    return found


def assert_told(told: list[Step], real: list[Step]) -> None:
    is_same = len(told) == len(real) and all(map(is_told, told, real))
    lines = "\n".join(f"    {key}  {why}" for key, why in real)
    assert is_same, f"docs/guide.md has {len(told)} steps; the operator's are:\n{lines}"


@pytest.mark.parametrize("words", SCENES)
def test_a_trail_of_the_guide_is_the_operators(words: str) -> None:
    assert_told(told_of(words), trail_of(SCENES[words]))


def test_a_dead_node_by_an_edit_has_the_same_trail_without_its_first_step() -> None:
    scene = Scene(first_of(3), with_lines(member_3="node7"), power_cut)
    assert_told(told_of("A dead node")[1:], trail_of(scene))


def test_each_trail_of_the_guide_has_its_scene() -> None:
    assert len(TRAILS) == len(SCENES)
