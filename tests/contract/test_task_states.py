"""Swarm's task states while a container starts, is replaced, and is never healthy: a task that
holds a process is "running" only from its first successful health check on."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import anyio

from queenright.core.observed import Task
from queenright.core.swarm.objects import HealthCheck, RestartPolicy, Service
from queenright.ports.swarm import Swarm
from tests.contract.by_hand import Hand, sleeper

INTERVAL_S = 2.0
ENDS_S = 3.0
"""The time in which a container that ignores SIGTERM ends."""
RESTART_S = 4.0

Words = tuple[str, str]
"""A task's state, and the one that swarm wants."""


def checked(name: str, image: str, labels: dict[str, str], check: str = "true") -> Service:
    return dataclasses.replace(
        sleeper(name, image, labels),
        stop_grace_s=ENDS_S,
        health_check=HealthCheck(("CMD", "/busybox", check), INTERVAL_S, 1.0, INTERVAL_S, 2),
        restart=RestartPolicy("on-failure", RESTART_S, 0, 0.0),
    )


class Watch:
    """Looks ten times a second at a service's tasks: when each word of each was first heard."""

    def __init__(self, swarm: Swarm, name: str) -> None:
        self.swarm, self.name = swarm, name
        self.first_s: dict[tuple[str, Words], float] = {}
        self.looks: list[tuple[Task, ...]] = []

    async def until(self, condition: Callable[[], bool]) -> None:
        with anyio.fail_after(40):
            while True:
                state = await self.swarm.observe()
                live = state.service(self.name)
                assert live is not None
                tasks = tuple(state.tasks_of(live.id))
                self.looks.append(tasks)
                for task in tasks:
                    words = (task.state, task.desired_state)
                    self.first_s.setdefault((task.id, words), anyio.current_time())
                if condition():
                    return
                await anyio.sleep(0.1)

    def heard(self, state: str, desired: str = "running") -> list[str]:
        """The tasks of which this was ever said, in the order of it."""
        found = [
            (at, task) for (task, words), at in self.first_s.items() if words == (state, desired)
        ]
        return [task for _, task in sorted(found)]

    def said_s(self, task: str, state: str) -> float:
        return self.first_s[task, (state, "running")]


async def test_a_container_runs_for_an_interval_before_swarm_says_so(
    swarm: Swarm, hand: Hand, name: str, labels: dict[str, str]
) -> None:
    await swarm.create_service(checked(name, hand.image, labels))
    watch = Watch(swarm, name)
    await watch.until(lambda: bool(watch.heard("running")))
    (task,) = watch.heard("running")
    lasted_s = watch.said_s(task, "running") - watch.said_s(task, "starting")
    assert INTERVAL_S - 0.5 < lasted_s < INTERVAL_S + 2.0


async def test_a_task_that_is_replaced_says_running_until_it_has_ended(
    swarm: Swarm, hand: Hand, name: str, labels: dict[str, str]
) -> None:
    """Its successor waits, wanted to be ready, not to run."""
    service = checked(name, hand.image, labels)
    await swarm.create_service(service)
    watch = Watch(swarm, name)
    await watch.until(lambda: bool(watch.heard("running")))
    (old,) = watch.heard("running")
    live = (await swarm.observe()).service(name)
    assert live is not None
    changed = dataclasses.replace(service, environment={"A": "b"})
    await swarm.update_service(live.id, live.version, changed, live.force_update)
    await watch.until(lambda: len(watch.heard("running")) == 2)
    new = watch.heard("running")[1]
    assert old in watch.heard("running", "shutdown")
    assert watch.heard("ready", "ready") == [new]
    assert watch.heard("starting") == [old, new]
    for tasks in watch.looks:
        said = {task.id: task for task in tasks}
        if new in said and said[old].state == "running":
            assert said[new].desired_state == "ready"


async def test_a_container_that_is_never_healthy_is_ended_while_it_starts(
    swarm: Swarm, hand: Hand, name: str, labels: dict[str, str]
) -> None:
    """Its successor waits for the restart policy's delay, wanted to be ready, not to run."""
    await swarm.create_service(checked(name, hand.image, labels, "false"))
    watch = Watch(swarm, name)
    await watch.until(lambda: len(watch.heard("starting")) == 2)
    first, second = watch.heard("starting")
    assert not watch.heard("running")
    failed_s = watch.first_s[first, ("failed", "shutdown")]
    assert failed_s - watch.said_s(first, "starting") > 2 * INTERVAL_S - 0.5
    assert watch.heard("ready", "ready") == [second]
    assert watch.said_s(second, "starting") - failed_s > RESTART_S - 1.0
