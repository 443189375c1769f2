"""An update that swarm stopped, because a task that it had made failed: what it then waits for."""

from __future__ import annotations

import dataclasses

import anyio

from queenright.core.swarm.objects import RestartPolicy, UpdatePolicy
from queenright.ports.swarm import Swarm
from tests.contract.by_hand import LONG_ENOUGH_S, Hand, running, sleeper, until

REPLICAS = 3


async def test_a_stopped_update_goes_on_with_any_write_and_with_what_it_had_left(
    swarm: Swarm, hand: Hand, name: str, labels: dict[str, str]
) -> None:
    first = dataclasses.replace(
        sleeper(name, hand.image, labels),
        replicas=REPLICAS,
        restart=RestartPolicy(delay_s=0.5),
        update=UpdatePolicy(delay_s=1.0),
    )
    await swarm.create_service(first)
    live = await until(swarm, name, lambda state, live: len(running(state, live)) == REPLICAS)
    former = running(await swarm.observe(), live)

    await swarm.update_service(live.id, live.version, hand.failing_once(first), live.force_update)
    live = await until(
        swarm,
        name,
        lambda state, live: live.update_state == "paused" and len(running(state, live)) == REPLICAS,
    )
    await anyio.sleep(LONG_ENOUGH_S)
    state = await swarm.observe()
    (updated,) = running(state, live) - former
    stopped = state.service(name)
    assert stopped is not None
    assert stopped.update_state == "paused"

    await swarm.adjust_service(live.id, stopped.version, stopped.value)
    live = await until(
        swarm,
        name,
        lambda state, live: live.update_state == "completed" and not running(state, live) & former,
    )
    present = running(await swarm.observe(), live)
    assert len(present) == REPLICAS
    assert updated in present
