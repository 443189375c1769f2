"""A cluster's network: one that differs is left, and a hold names it."""

from __future__ import annotations

import dataclasses

from tests.golden.messages import assert_words
from tests.support.builders import plan_for, summary, swarm_of, three_nodes
from tests.support.changed import with_swarm


def test_a_network_that_differs_is_told_and_left() -> None:
    network = swarm_of(three_nodes()).networks[0]
    changed = dataclasses.replace(
        network, value=dataclasses.replace(network.value, attachable=False)
    )
    plan = plan_for(with_swarm(three_nodes(), networks=(changed,)))
    assert summary(plan) == ([], ["network/main_patroni"])
    assert_words(plan.holds[0])
