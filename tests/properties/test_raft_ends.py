"""Ends of Raft's journals that a power cut takes: what nodes have applied differs, or never does.

The danger of before decision 35, and that it is gone: with a journal that is synced every 2 s, the
nodes lose different ends of it. A node that comes back with more applies its own entries, the
others cut them off its journal, and what they said stays in its memory: two members prove the
leader lock. tests/unit/images/test_raft_durable.py shows the same with real nodes.
"""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from tests.fakes.raft_nodes import RaftNodes

NODES = ("a:1", "b:1", "c:1")
LOSSES = 3
SEEDS = range(60)
SYNC_TICKS = 20
"""The former image's two seconds."""


def put(nodes: RaftNodes, ticks: int, values: list[str]) -> None:
    """Have the leader write a value in every third tick, as a busy Patroni does."""
    for _ in range(ticks):
        if nodes.now % 3 == 0 and (leader := nodes.leader(*nodes.running)):
            values.append(str(len(values)))
            nodes.running[leader].asked_to_put(values[-1])
        nodes.tick()


def differing(nodes: RaftNodes) -> str:
    """Return what two running nodes have applied at the same place, if that differs."""
    for one, other in combinations(sorted(nodes.running), 2):
        mine, theirs = (nodes.running[own].values for own in (one, other))
        for place, (a, b) in enumerate(zip(mine, theirs, strict=False)):
            if a != b:
                return f"{one} has {a}, and {other} has {b}, as value {place}"
    return ""


def after_losses(seed: int, *, is_durable: bool) -> str:
    """Return how nodes differ after total power losses within a second, each node back in its own
    time; empty if they do not."""
    rng, values = random.Random(seed), list[str]()
    nodes = RaftNodes(seed, SYNC_TICKS, is_durable=is_durable, is_apart=True)
    for own in NODES:
        nodes.start(own, NODES)
    put(nodes, 100, values)
    for _ in range(LOSSES):
        for own in rng.sample(NODES, 3):
            put(nodes, rng.randint(0, 5), values)
            nodes.cut_power(own)
        for own in rng.sample(NODES, 3):
            put(nodes, rng.randint(1, 60), values)
            nodes.start(own, NODES)
        put(nodes, rng.randint(100, 200), values)
        if found := differing(nodes):
            return found
    return ""


def test_what_nodes_have_applied_never_differs_where_it_is_on_the_disk_before_it_counts() -> None:
    found = {seed: text for seed in SEEDS if (text := after_losses(seed, is_durable=True))}
    assert found == {}


def test_nodes_differ_where_the_journal_is_synced_now_and_then() -> None:
    """The model can show the danger: of these seeds, more than one does."""
    found = [seed for seed in SEEDS if after_losses(seed, is_durable=False)]
    assert len(found) > 1


@pytest.mark.parametrize("is_durable", [True, False])
def test_all_have_applied_the_same_without_a_loss(is_durable: bool) -> None:
    nodes, values = RaftNodes(1, SYNC_TICKS, is_durable=is_durable, is_apart=True), list[str]()
    for own in NODES:
        nodes.start(own, NODES)
    put(nodes, 200, values)
    nodes.tick(50)
    applied = {tuple(nodes.running[own].values) for own in NODES}
    assert len(applied) == 1
    assert len(*applied) > 30
