"""The swarm's index finds what a walk over the swarm's lists finds, in their order."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings

from queenright.core.observed import Observed
from queenright.core.observed.constraints import meets
from queenright.core.swarm.objects import CLUSTER_LABEL
from tests.properties.worlds import pairs
from tests.support.builders import swarm_of
from tests.support.examples import EXAMPLES


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
