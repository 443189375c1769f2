"""Random histories, each by its seed. QUEENRIGHT_SIM_HISTORIES sets how many, QUEENRIGHT_SIM_SEED
the first, and QUEENRIGHT_SIM_FAULTS how many faults and edits each has (few by default, many in
``make sim``); a failure prints the seed and the story of the shortest history found that fails."""

from __future__ import annotations

import os

import pytest

from tests.sim.history import run
from tests.sim.script import FEW_FAULTS, make_script, shortest

HISTORIES = int(os.environ.get("QUEENRIGHT_SIM_HISTORIES", "1000"))
FIRST = int(os.environ.get("QUEENRIGHT_SIM_SEED", "0"))
FAULTS = int(os.environ.get("QUEENRIGHT_SIM_FAULTS", str(FEW_FAULTS)))
SHARDS = max(60, HISTORIES // 100)


def tell_history(seed: int) -> str:
    """ "" when all went well, else what went wrong, and the shortest story of it."""
    script = make_script(seed, FAULTS)
    outcome = run(script)
    if not outcome.violations:
        return ""
    found = shortest(script, lambda shorter: bool(run(shorter).violations))
    return f"seed {seed}: {outcome.violations[0]}\nshortest:\n{run(found)}"


@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_histories_end_well(shard: int) -> None:
    """Sharded, so that the cores share the work."""
    for seed in range(FIRST + shard, FIRST + HISTORIES, SHARDS):
        story = tell_history(seed)
        assert not story, story


def test_the_same_seed_gives_the_same_story() -> None:
    for seed in (3, 11):
        first, again = (run(make_script(seed)) for _ in range(2))
        assert str(first) == str(again)
        assert len(first.story) > 30
