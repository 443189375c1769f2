"""Random histories, each by its seed (tests/sim/seeds.py: another first one for every commit); a
failure prints the seed and the story of the shortest history found that fails."""

from __future__ import annotations

import pytest

from tests.sim.history import run
from tests.sim.script import make_script, shortest
from tests.sim.seeds import faults, first_seed, histories

FIRST, HISTORIES, FAULTS = first_seed(), histories(), faults()
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


@pytest.mark.slow
def test_the_same_seed_gives_the_same_story() -> None:
    for seed in (3, 11):
        first, again = (run(make_script(seed)) for _ in range(2))
        assert str(first) == str(again)
        assert len(first.story) > 30
