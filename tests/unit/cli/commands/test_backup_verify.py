"""``backup verify`` on a simulated cluster, with an operator or without."""

from __future__ import annotations

import anyio

from queenright.cli.commands.backup import back_up_now, verify_now
from queenright.core.kinds.postgres_cluster.drill.note import REQUEST_LABEL
from tests.support.builders import manifest
from tests.support.simulated_commands import Act, Stage
from tests.unit.cli.commands.test_backup import REPOSITORY, staged

DRILLED = manifest(backup=f"{{{REPOSITORY}, drill: {{node: node4}}}}")


def verify(*, no_wait: bool = False) -> Act:
    return lambda live: verify_now(live, no_wait=no_wait)


def now() -> Act:
    return lambda live: back_up_now(live, no_wait=False)


def request_label(stage: Stage) -> str | None:
    return stage.world.store.configs["main_cluster"].value.labels.get(REQUEST_LABEL)


def test_the_latest_backup_is_proven_when_somebody_asks_and_the_figures_are_told() -> None:
    async def play(stage: Stage) -> None:
        assert await stage.command(now()) == 0
        assert await stage.command(verify(), "backup verify") == 0
        assert "A drill is requested at " in stage.out
        assert "A drill runs since " in stage.out
        assert "The restore is proven: 14 GB in 6 min, to " in stage.out
        await anyio.sleep(60)
        assert request_label(stage) is None
        assert stage.world.store.service_named("main_backup_drill") is None

    staged(play, DRILLED)


def test_a_failure_ends_the_command_with_its_cause_and_another_request_does_not_wait() -> None:
    async def play(stage: Stage) -> None:
        assert await stage.command(now()) == 0
        stage.world.drills.missing = "base/x/data.tar.gz"
        assert await stage.command(verify()) == 1
        assert "Missing file base/x/data.tar.gz" in stage.err
        stage.world.drills.missing = ""
        await anyio.sleep(2)
        assert await stage.command(verify()) == 0

    staged(play, DRILLED)


def test_a_drill_that_nobody_heard_proves_nothing_and_the_cure_is_told() -> None:
    async def play(stage: Stage) -> None:
        assert await stage.command(now()) == 0
        stage.world.reach.unlogged.add(stage.world.store.node_named("node4").id)
        assert await stage.command(verify()) == 1
        assert "it ended well, and its lines are lost (service logs: the swarm gets" in stage.err
        assert "restart Docker's engine there" in stage.err
        stage.world.reach.unlogged.clear()
        assert await stage.command(verify()) == 0

    staged(play, DRILLED)


def test_a_request_that_waits_says_for_what_and_stays() -> None:
    async def play(stage: Stage) -> None:
        assert await stage.command(verify()) == 1
        assert "there is no base backup yet" in stage.err
        first = request_label(stage)
        assert first is not None
        assert await stage.command(verify(no_wait=True)) == 0
        assert request_label(stage) == first

    staged(play, DRILLED)


def test_without_the_field_nothing_is_requested() -> None:
    async def play(stage: Stage) -> None:
        assert await stage.command(verify()) == 1
        assert "has no `backup.drill`" in stage.err
        assert request_label(stage) is None

    staged(play, manifest(backup=f"{{{REPOSITORY}}}"))
