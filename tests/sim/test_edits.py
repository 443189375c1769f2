"""Edits and their records as a cause: until carried out, across a restart, and taken back."""

from __future__ import annotations

import anyio
import pytest

from queenright.core.swarm.objects import RETIRING_LABEL
from tests.fakes.virtual_loop import run_virtual
from tests.fakes.world import World
from tests.sim.invariants import Invariants
from tests.support.builders import FILE, MANIFEST, manifest

LAST_LINE = MANIFEST.count("\n") + 1
EMPTY = "[]\n"
EDIT_IS_DONE_S = 2.5
"""Two looks at the file, a second apart, and a pass."""


def test_every_step_of_a_rollout_is_told_with_the_edit_that_it_is_for() -> None:
    async def main() -> None:
        world = World()
        world.start_operator()
        await world.until_whole()
        await anyio.sleep(20)
        known = len(world.audit.outcomes)
        world.manifests.write(FILE, manifest(stopGracePeriod="90s"))
        await anyio.sleep(60)
        steps = world.audit.outcomes[known:]
        kinds = [type(step.action).__name__ for step in steps if step.action.disrupts]
        assert kinds == ["UpdateService", "UpdateService", "Switchover", "UpdateService"]
        assert {(step.trigger.file, step.trigger.line) for step in steps} == {(FILE, LAST_LINE)}
        assert steps[-1].trigger.kind != "file", "something else woke the later steps"

    run_virtual(main)


def test_once_converged_an_edit_is_no_cause_any_more() -> None:
    async def main() -> None:
        world = World()
        world.start_operator()
        await world.until_whole()
        world.manifests.write(FILE, manifest(deletionPolicy="remove"))
        await anyio.sleep(40)
        world.store.remove_service(world.service("main_proxy").id)
        await anyio.sleep(5)
        last = world.audit.outcomes[-1]
        assert last.action.key == "create-service/main_proxy"
        assert (last.trigger.kind, last.trigger.file) == ("docker", "")

    run_virtual(main)


def test_an_edit_while_no_operator_ran_is_told_with_file_and_line() -> None:
    async def main() -> None:
        world = World()
        operator = world.start_operator()
        await world.until_whole()
        await anyio.sleep(20)
        await operator.kill()
        known = len(world.audit.outcomes)
        world.manifests.write(FILE, manifest(deletionPolicy="remove"))
        world.start_operator()
        await anyio.sleep(5)
        first = world.audit.outcomes[known]
        assert first.action.key == "label-config/main_cluster"
        trigger = first.trigger
        assert (trigger.kind, trigger.file, trigger.line) == ("start", FILE, LAST_LINE)
        assert trigger.detail == "spec.deletionPolicy: retain -> remove"

    run_virtual(main)


@pytest.mark.parametrize("restarted", [False, True])
def test_a_document_that_is_gone_for_half_a_minute_removes_nothing(restarted: bool) -> None:
    async def main() -> None:
        world = World()
        invariants = Invariants(world)
        world.manifests.write(FILE, manifest(deletionPolicy="remove"))
        operator = world.start_operator()
        await world.until_whole()
        await anyio.sleep(20)
        for _ in range(3):
            world.manifests.write(FILE, EMPTY)
            await anyio.sleep(30)
            assert RETIRING_LABEL in world.store.configs["main_cluster"].value.labels
            if restarted:
                await operator.kill()
                operator = world.start_operator()
            world.manifests.write(FILE, manifest(deletionPolicy="remove"))
            await anyio.sleep(35)
            assert RETIRING_LABEL not in world.store.configs["main_cluster"].value.labels
        assert invariants.violations == []
        assert world.is_whole()

    run_virtual(main)


@pytest.mark.parametrize(("policy", "is_removed"), [("remove", True), ("retain", False)])
def test_an_empty_list_removes_a_cluster_after_a_minute_if_its_owner_had_said_so(
    policy: str, is_removed: bool
) -> None:
    async def main() -> None:
        world = World()
        world.manifests.write(FILE, manifest(deletionPolicy=policy))
        world.start_operator()
        await world.until_whole()
        await anyio.sleep(20)
        world.manifests.write(FILE, EMPTY)
        await anyio.sleep(55)
        assert len(world.store.services) == 4
        await anyio.sleep(60)
        assert (not world.store.services) == is_removed
        assert ("main_cluster" not in world.store.configs) == is_removed
        assert len(world.store.secrets) == 3
        assert world.patroni_model.volumes

    run_virtual(main)


EMPTY_TEXTS = ("", "# nothing\n", "---\n", "null\n", "{}\n")


@pytest.mark.parametrize(
    "text", [pytest.param(t, marks=pytest.mark.slow if t else []) for t in EMPTY_TEXTS]
)
def test_what_is_empty_by_accident_removes_nothing(text: str) -> None:
    async def main() -> None:
        world = World()
        world.manifests.write(FILE, manifest(deletionPolicy="remove"))
        world.start_operator()
        await world.until_whole()
        await anyio.sleep(20)
        writes = len(world.swarm.writes)
        world.manifests.write(FILE, text)
        await anyio.sleep(120)
        assert len(world.swarm.writes) == writes

    run_virtual(main)


def test_an_edit_to_and_fro_is_carried_out_as_soon_each_time() -> None:
    """A write that the owner's next edit takes back has had its effect: the same one again is not a
    further try of it, which would wait longer each time."""

    async def main() -> None:
        world = World()
        world.start_operator()
        await world.until_whole()
        await anyio.sleep(20)
        for number in range(16):
            known = len(world.audit.intents)
            world.manifests.write(FILE, manifest(deletionPolicy=("remove", "retain")[number % 2]))
            await anyio.sleep(EDIT_IS_DONE_S)
            assert len(world.audit.intents) == known + 1, f"edit {number}"

    run_virtual(main)
