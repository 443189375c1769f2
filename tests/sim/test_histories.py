"""Random histories, each by its seed. QUEENRIGHT_SIM_HISTORIES sets how many, and
QUEENRIGHT_SIM_SEED the first; a failure prints the seed and the story."""

from __future__ import annotations

import os

import pytest

from tests.fakes.virtual_loop import run_virtual
from tests.sim.broken import broken_passes
from tests.sim.history import live_through

HISTORIES = int(os.environ.get("QUEENRIGHT_SIM_HISTORIES", "30"))
FIRST = int(os.environ.get("QUEENRIGHT_SIM_SEED", "0"))
SHARDS = 30


def tell_history(seed: int) -> str:
    """ "" when all went well, else the seed, what went wrong, and the story."""
    with broken_passes() as broken:
        outcome = run_virtual(lambda: live_through(seed))
    outcome.violations += [f"a pass broke: {line}" for line in broken]
    return str(outcome) if outcome.violations else ""


@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_histories_end_well(shard: int) -> None:
    """Sharded, so that the cores share the work."""
    for seed in range(FIRST + shard, FIRST + HISTORIES, SHARDS):
        story = tell_history(seed)
        assert not story, story


def test_the_same_seed_gives_the_same_story() -> None:
    for seed in (3, 11):
        first, again = (run_virtual(lambda seed=seed: live_through(seed)) for _ in range(2))  # type: ignore[misc]
        assert str(first) == str(again)
        assert len(first.story) > 10
