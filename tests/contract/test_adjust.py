"""Adjusting a service: what restarts no task is written, the rest stays as a hand left it."""

from __future__ import annotations

import dataclasses

import anyio
import pytest

from queenright.core.swarm.objects import Service, UpdatePolicy
from queenright.ports.swarm import ConflictError, Swarm
from tests.contract.by_hand import LONG_ENOUGH_S, Hand, running, sleeper, until


async def test_adjusting_leaves_what_a_hand_set_and_the_task_alone(
    swarm: Swarm, hand: Hand, name: str, labels: dict[str, str]
) -> None:
    wanted = sleeper(name, hand.image, labels)
    await swarm.create_service(wanted)
    live = await until(swarm, name, lambda state, live: bool(running(state, live)))
    first = running(await swarm.observe(), live)
    hand.change(live.id)
    live = await until(
        swarm,
        name,
        lambda state, live: (
            live.update_state == "completed" and len(running(state, live) - first) == 1
        ),
    )
    before, tasks = hand.kept(live.id), running(await swarm.observe(), live)

    adjusted = dataclasses.replace(
        wanted,
        labels={**labels, "note": "x"},
        update=UpdatePolicy(0, 1.0, "stop-first", "continue", 7.0, 0.5),
        rollback=UpdatePolicy(3, 2.0, "stop-first", "continue", 8.0, 0.25),
    )
    await swarm.adjust_service(live.id, live.version, adjusted)
    await anyio.sleep(LONG_ENOUGH_S)

    state = await swarm.observe()
    after = state.service(name)
    assert after is not None
    assert hand.kept(live.id) == before
    assert running(state, after) == tasks
    assert after.value == dataclasses.replace(
        live.value, labels=adjusted.labels, update=adjusted.update, rollback=adjusted.rollback
    )
    assert after.value.other != {}


async def test_the_replica_count_is_adjusted(
    swarm: Swarm, hand: Hand, name: str, labels: dict[str, str]
) -> None:
    wanted = sleeper(name, hand.image, labels)
    await swarm.create_service(wanted)
    live = await until(swarm, name, lambda state, live: bool(running(state, live)))
    none = dataclasses.replace(wanted, replicas=0)
    await swarm.adjust_service(live.id, live.version, none)
    live = await until(swarm, name, lambda state, live: not running(state, live))
    assert live.value == none


async def test_a_global_service_is_adjusted(
    swarm: Swarm, name: str, labels: dict[str, str]
) -> None:
    constraints = ("node.labels.nowhere==true",)
    service = Service(name, "known:1", mode="global", labels=labels, constraints=constraints)
    await swarm.create_service(service)
    live = (await swarm.observe()).service(name)
    assert live is not None
    noted = dataclasses.replace(service, labels={**labels, "note": "x"})
    await swarm.adjust_service(live.id, live.version, noted)
    after = (await swarm.observe()).service(name)
    assert after is not None
    assert after.value == noted


async def test_a_stale_adjustment_is_a_conflict(
    swarm: Swarm, name: str, labels: dict[str, str]
) -> None:
    service = Service(name, "known:1", replicas=0, labels=labels)
    await swarm.create_service(service)
    live = (await swarm.observe()).service(name)
    assert live is not None
    await swarm.adjust_service(live.id, live.version, service)
    for _ in ("as observed before the other write", "as observed after it"):
        with pytest.raises(ConflictError):
            await swarm.adjust_service(live.id, live.version, service)
        await swarm.observe()
    with pytest.raises(ConflictError):
        await swarm.adjust_service("none", 1, service)
