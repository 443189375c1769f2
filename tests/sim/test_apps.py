"""Random histories with an application on the cluster: it comes, is edited to other versions, to
broken ones and to another password, and outlives it all."""

from __future__ import annotations

import anyio
import pytest

from queenright.core.kinds.notes_app.rules.web import plan_web
from queenright.core.kinds.ruleset import RULESET
from tests.fakes.virtual_loop import run_virtual
from tests.sim.app_world import AppWorld, app_script, with_app
from tests.sim.history import prepared_world, run
from tests.sim.seeds import faults, first_seed, histories_of

FIRST, HISTORIES, FAULTS = first_seed(), histories_of(2, 16), faults()
SHARDS = 20
MADE_WITHIN_S = 60.0
"""Much longer than the operator's own rules need: they make the replicas' service within 5 s."""


@pytest.mark.parametrize("shard", range(SHARDS))
def test_an_application_lives_through_random_histories(shard: int) -> None:
    for seed in range(FIRST + shard, FIRST + HISTORIES, SHARDS):
        worlds: list[AppWorld] = []
        outcome = run(app_script(seed, FAULTS), tamper=with_app(seed, worlds))
        (app,) = worlds
        app.judge_end()
        assert not [*outcome.violations, *app.violations], f"{app.violations}\n{outcome}"


def test_the_judge_sees_replicas_that_never_come() -> None:
    rules = tuple(rule for rule in RULESET.rules["NotesApp"] if rule is not plan_web)
    worlds: list[AppWorld] = []

    async def main() -> None:
        world = prepared_world(FIRST)
        with_app(FIRST, worlds)(world)
        world.start_operator(RULESET.with_rules("NotesApp", rules))
        await world.until_whole(is_whole=world.is_main_whole)
        await anyio.sleep(MADE_WITHIN_S)
        worlds[0].judge_end()

    run_virtual(main)
    assert "at the end there are no replicas" in worlds[0].violations
