"""Networks and nodes of a swarm, and its events: the fake and Docker alike."""

from __future__ import annotations

import anyio
import pytest

from queenright.core.actions import LabelNode
from queenright.core.planning.node_labels import relabelled_node
from queenright.core.swarm.objects import (
    Config,
    Network,
    Service,
)
from queenright.ports.swarm import ConflictError, Swarm

Labels = dict[str, str]


async def test_a_network_is_read_back_equal(swarm: Swarm, name: str, labels: Labels) -> None:
    wanted = Network(f"{name}-net", subnet="10.91.7.0/24", labels=labels)
    await swarm.create_network(wanted)
    live = (await swarm.observe()).network(wanted.name)
    assert live is not None
    assert live.value == wanted


async def test_a_nodes_label_is_set_and_removed_if_it_is_as_observed(
    swarm: Swarm, name: str
) -> None:
    node = (await swarm.observe()).node("node1")
    assert node is not None
    action = relabelled_node(node, {name: "x"}, "a test")
    await swarm.label_node(action)
    after = (await swarm.observe()).node("node1")
    assert after is not None
    assert after.labels == {**node.labels, name: "x"}
    with pytest.raises(ConflictError):
        await swarm.label_node(action)
    await swarm.label_node(relabelled_node(after, {name: None}, "a test"))
    last = (await swarm.observe()).node("node1")
    assert last is not None
    assert last.labels == node.labels


async def test_labels_of_many_clusters_are_set_on_a_node_that_was_observed_once(
    swarm: Swarm, name: str
) -> None:
    node = (await swarm.observe()).node("node1")
    assert node is not None
    ours = {f"{name}-{number}": "x" for number in range(3)}
    for key, value in ours.items():
        await swarm.label_node(relabelled_node(node, {key: value}, "a test"))
    after = (await swarm.observe()).node("node1")
    assert after is not None
    assert after.labels == {**node.labels, **ours}
    await swarm.label_node(relabelled_node(after, dict.fromkeys(ours), "a test"))


async def test_labels_are_not_set_on_a_node_that_has_gone(swarm: Swarm, name: str) -> None:
    action = LabelNode("node9", "nosuchnode", {name: None}, {name: "x"}, reason="a test")
    with pytest.raises(ConflictError):
        await swarm.label_node(action)


async def test_a_look_costs_the_same_whatever_there_is(
    swarm: Swarm, name: str, labels: Labels
) -> None:
    async def cost() -> int:
        before = swarm.api_calls
        await swarm.observe()
        return swarm.api_calls - before

    first = await cost()
    for number in range(5):
        await swarm.create_service(
            Service(f"{name}-{number}", "known:1", replicas=0, labels=labels)
        )
        await swarm.create_config(Config(f"{name}-{number}", b"x", labels))
    assert await cost() == first <= 8


async def test_a_change_wakes_the_listener(swarm: Swarm, name: str, labels: Labels) -> None:
    heard: list[str] = []
    ready = anyio.Event()

    async def listen() -> None:
        async for text in swarm.events():
            heard.append(text)
            if name in text:
                ready.set()
                return

    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            group.start_soon(listen)
            await anyio.sleep(0.3)
            await swarm.create_service(Service(name, "known:1", replicas=0, labels=labels))
            await ready.wait()
    assert any(name in text for text in heard)
