"""The indexes of a reading of the swarm, made one after the other."""

from __future__ import annotations

import dataclasses
import weakref
from itertools import pairwise

from queenright.core.observed.swarm_index import LARGE, SwarmIndex
from tests.support.builders import swarm_of, three_nodes
from tests.support.garbage import no_search_for_garbage


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


def test_a_reading_that_nobody_holds_is_freed_at_once() -> None:
    """With its indexes, of a large swarm tens of megabytes: it is in no circle with them."""
    swarm = dataclasses.replace(swarm_of(three_nodes()))
    assert len([*swarm.index.making()]) == len(LARGE)
    gone = [weakref.ref(swarm), weakref.ref(swarm.index)]
    with no_search_for_garbage():
        del swarm
        assert [reference() for reference in gone] == [None, None]
