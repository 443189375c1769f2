"""The indexes of a reading of the swarm, made one after the other."""

from __future__ import annotations

from itertools import pairwise

from queenright.core.observed.swarm_index import LARGE, SwarmIndex
from tests.support.builders import swarm_of, three_nodes


def test_each_large_index_is_made_in_a_step_of_its_own() -> None:
    index = SwarmIndex(swarm_of(three_nodes()))
    made = [{name for name in LARGE if name in vars(index)} for _ in index.making()]
    assert len(made) == len(LARGE)
    assert made[-1] == {*LARGE}
    assert all(before <= after for before, after in pairwise(made))


def test_indexes_made_beforehand_answer_as_others() -> None:
    swarm = swarm_of(three_nodes())
    ahead, later = SwarmIndex(swarm), SwarmIndex(swarm)
    assert len([*ahead.making()]) == len(LARGE)
    for name in LARGE:
        assert getattr(ahead, name) == getattr(later, name)
