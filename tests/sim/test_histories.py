"""Random histories, each by its seed. QUEENRIGHT_SIM_HISTORIES sets how many, and
QUEENRIGHT_SIM_SEED the first; a failure prints the seed and the story."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor

from tests.fakes.virtual_loop import run_virtual
from tests.sim.broken import broken_passes
from tests.sim.history import live_through

HISTORIES = int(os.environ.get("QUEENRIGHT_SIM_HISTORIES", "300"))
FIRST = int(os.environ.get("QUEENRIGHT_SIM_SEED", "0"))
CHUNK = 10


def tell_history(seed: int) -> str:
    """ "" when all went well, else the seed, what went wrong, and the story."""
    with broken_passes() as broken:
        outcome = run_virtual(lambda: live_through(seed))
    outcome.violations += [f"a pass broke: {line}" for line in broken]
    return str(outcome) if outcome.violations else ""


def test_random_histories_end_well() -> None:
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(os.cpu_count(), mp_context=context) as pool:
        stories = pool.map(tell_history, range(FIRST, FIRST + HISTORIES), chunksize=CHUNK)
        failed = [story for story in stories if story]
    assert not failed, f"{len(failed)} of {HISTORIES} went wrong; the first:\n{failed[0]}"


def test_the_same_seed_gives_the_same_story() -> None:
    for seed in (3, 11):
        first, again = (run_virtual(lambda seed=seed: live_through(seed)) for _ in range(2))  # type: ignore[misc]
        assert str(first) == str(again)
        assert len(first.story) > 10
