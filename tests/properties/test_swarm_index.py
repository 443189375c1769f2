"""The swarm's index finds what a walk over the swarm's lists finds, in their order."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from queenright.core.observed import Observed, SwarmState
from queenright.core.observed.carried_tables import INDEXES, TABLES, in_order_after
from queenright.core.observed.constraints import meets
from queenright.core.observed.swarm import ORDERS
from queenright.core.observed.swarm_index import SwarmIndex
from queenright.core.swarm.objects import CLUSTER_LABEL
from tests.properties.worlds import pairs
from tests.support.builders import swarm_of
from tests.support.examples import EXAMPLES

OF_SEVERAL = {"index", "answers", "ownerless_tasks"}
"""Made from several lists, so that it is made anew for each reading."""


@settings(max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES <= 80)
@given(pairs())
def test_the_index_agrees_with_a_walk(worlds: tuple[Observed, Observed]) -> None:
    for observed in worlds:
        swarm, index = swarm_of(observed), swarm_of(observed).index
        labelled: dict[str, tuple[Any, Any]] = {
            "services": (swarm.services, index.services_labelled),
            "configs": (swarm.configs, index.configs_labelled),
            "networks": (swarm.networks, index.networks_labelled),
            "secrets": (swarm.secrets, index.secrets_labelled),
        }
        for found, look_up in labelled.values():
            for key, value in [pair for live in found for pair in live.value.labels.items()]:
                walk = [live for live in found if live.value.labels.get(key) == value]
                assert [*look_up(key, value)] == walk
            assert not look_up("no", "such label")
        for live in swarm.services:
            constraints = live.value.constraints
            walk = [node for node in swarm.nodes if meets(node, constraints)]
            assert index.nodes_meeting(constraints) == walk
            ports = [port.published for port in live.value.ports]
            sharing = [
                other
                for other in swarm.services
                if {*ports} & {port.published for port in other.value.ports}
            ]
            assert index.services_publishing(ports) == sharing
            assert [*index.services_with_id(live.id)] == [live]
        for scope in ("main", "ma", "main_member-1", ""):
            walk = [
                live
                for live in swarm.services
                if live.value.name.startswith(f"{scope}_")
                or live.value.labels.get(CLUSTER_LABEL) == scope
            ]
            assert [*index.services_of(CLUSTER_LABEL, scope)] == walk
        for node in swarm.nodes:
            ids = {task.service_id for task in swarm.tasks if task.node_id == node.id}
            assert index.services_on(node.id) == [s for s in swarm.services if s.id in ids]
            names, keys = {node.name, "nobody"}, {*node.labels}
            near = [n for n in swarm.nodes if n.name in names or keys & n.labels.keys()]
            assert index.nodes_about(names, keys) == near
            assert [*index.nodes_for_check({node.name}, keys)] == near
            assert index.nodes_for_check(names, keys) == swarm.nodes
        variables = {pair for live in swarm.services for pair in live.value.environment.items()}
        for key, value in (*variables, ("A", ""), ("A", "no such value")):
            walk = [s for s in swarm.services if s.value.environment.get(key, "") == value]
            assert [*index.services_with_variable(key, value)] == walk
        ids = {live.id for live in swarm.services}
        assert [*index.ownerless_tasks] == [t for t in swarm.tasks if t.service_id not in ids]


@settings(max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES <= 80)
@given(pairs(), st.sets(st.sampled_from(sorted(ORDERS))))
def test_what_is_carried_over_is_what_would_be_made(
    worlds: tuple[Observed, Observed], stay: set[str]
) -> None:
    """Of two readings some lists are the same: their tables are taken over, and no others."""
    one, other = (swarm_of(observed) for observed in worlds)
    now = replace(
        other,
        **{
            name: getattr(one, name) if name in stay else getattr(other, name)[1:]
            for name in ORDERS
        },
    )
    former = one.in_order()
    make_all(former)
    carried, fresh = in_order_after((one, former), now), now.in_order()
    taken = [name for name in stay if getattr(carried, name) is getattr(former, name)]
    assert sorted(taken) == sorted(stay)
    make_all(carried)
    make_all(fresh)
    for table in (*chain(*TABLES.values()), *chain(*INDEXES.values())):
        holder = "index" if table in {*chain(*INDEXES.values())} else ""
        found = [getattr(swarm, holder) if holder else swarm for swarm in (carried, fresh)]
        assert vars(found[0])[table] == vars(found[1])[table], table


def make_all(swarm: SwarmState) -> None:
    """Make every table, and look up what makes the others."""
    for table in chain(*TABLES.values()):
        getattr(swarm, table)
    for table in chain(*INDEXES.values()):
        getattr(swarm.index, table)
    swarm.index.services_with_variable("NODE_NAME", "member-1")
    swarm.index.services_of(CLUSTER_LABEL, "main")


def test_every_table_of_one_list_is_carried_over() -> None:
    """A new one is added to ``carried_tables``, or to what needs two lists."""
    known = {*chain(*TABLES.values()), *chain(*INDEXES.values()), *OF_SEVERAL}
    for kind in (SwarmState, SwarmIndex):
        made = {name for name, one in vars(kind).items() if isinstance(one, cached_property)}
        assert made <= known, made - known
