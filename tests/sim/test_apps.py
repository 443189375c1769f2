"""Random histories with an application on the cluster: it comes, is edited to other versions, to
broken ones and to another password, and outlives it all."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from queenright.core.app.rules.web import plan_web
from queenright.core.doctrine import DOCTRINE
from tests.sim.app_world import AppWorld, app_script, with_app
from tests.sim.history import run
from tests.sim.script import FEW_FAULTS

HISTORIES = max(20, int(os.environ.get("QUEENRIGHT_SIM_HISTORIES", "1000")) // 16)
FIRST = 50_000
FAULTS = int(os.environ.get("QUEENRIGHT_SIM_FAULTS", str(FEW_FAULTS)))
SHARDS = 20


@pytest.mark.parametrize("shard", range(SHARDS))
def test_an_application_lives_through_random_histories(shard: int) -> None:
    for seed in range(FIRST + shard, FIRST + HISTORIES, SHARDS):
        worlds: list[AppWorld] = []
        outcome = run(app_script(seed, FAULTS), tamper=with_app(seed, worlds))
        (app,) = worlds
        app.judge_end()
        assert not [*outcome.violations, *app.violations], f"{app.violations}\n{outcome}"


def test_the_judge_sees_replicas_that_never_come() -> None:
    rules = tuple(rule for rule in DOCTRINE.app_rules if rule is not plan_web)
    worlds: list[AppWorld] = []
    run(app_script(FIRST, 2), replace(DOCTRINE, app_rules=rules), with_app(FIRST, worlds))
    worlds[0].judge_end()
    assert "at the end there are no replicas" in worlds[0].violations
