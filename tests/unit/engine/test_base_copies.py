"""The progress of a copy, from the container's lines into the status of its member."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import pytest

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.kinds.postgres_cluster.status.rows import MemberRow, member_row
from queenright.core.observed import Observed, Unknown
from queenright.engine.base_copies import with_copies
from queenright.engine.planning import observe_and_plan
from tests.fakes.copy_lines import WHOLE_KB
from tests.fakes.loading import judged
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.topology_world import first_of, topology_world, write_members

COPIES_S = 50.0
"""Less than the health check allows (spec: database-cluster §8)."""


Rows = dict[str, MemberRow]


async def seen_in(world: World) -> tuple[Observed, Rows]:
    found = await observe_and_plan(world.ports, judged(world.manifests.files).documents)
    observed = await with_copies(world.ports, found.observed)
    (desired,) = (view.desired for view in found.views)
    assert isinstance(desired, DesiredCluster)
    return observed, {member.name: member_row(member, observed) for member in desired.members}


def while_copying(act: Callable[[World], object] = lambda _: None) -> tuple[Observed, Rows]:
    """The observation and the rows, half way through the copy of a fourth member, after an act."""
    seen: list[tuple[Observed, Rows]] = []

    async def main() -> None:
        world = topology_world(1, first_of(3))
        world.start_operator()
        await world.until_whole()
        await anyio.sleep(70)
        world.patroni_model.clone_s = COPIES_S
        write_members(world, first_of(4))

        def copies() -> bool:
            found = world.patroni_model.instances.values()
            return any(one.state == "creating replica" for one in found)

        await world.until_whole(300, copies)
        await anyio.sleep(COPIES_S / 2)
        act(world)
        seen.append(await seen_in(world))

    run_virtual(main)
    return seen[0]


def test_a_member_that_copies_tells_how_far_it_is() -> None:
    observed, rows = while_copying()
    assert {*observed.copies} == {"main_member-4"}
    row = rows["member-4"]
    assert row.copy is not None
    assert 0.4 < row.copy.done_bytes / (WHOLE_KB * 1024) < 0.6
    assert row.copy.bytes_per_s == pytest.approx(WHOLE_KB * 1024 / COPIES_S, rel=0.01)
    told = row.as_json()["copy"]
    assert isinstance(told, dict)
    assert told["left_s"] == pytest.approx(COPIES_S / 2, abs=5)
    assert "a second, " in row.remark
    assert " left" in row.remark
    assert "copy" not in rows["member-1"].as_json()


def no_logs(world: World) -> None:
    world.swarm.gives_logs = lambda _: False


def test_without_its_lines_there_is_no_progress() -> None:
    observed, rows = while_copying(no_logs)
    assert observed.copies == {}
    row = rows["member-4"]
    assert (row.state, row.copy) == ("creating replica", None)


async def test_without_a_swarm_nobody_is_asked() -> None:
    blind = Observed(Unknown("no answer"), {})
    assert (await with_copies(World(1).ports, blind)) is blind
