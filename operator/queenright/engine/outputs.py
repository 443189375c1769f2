"""What the jobs that have ended had to say: their last lines, for people and for the log.

Decides nothing. A job whose lines can't be had is Unknown, and no less ended.
"""

from __future__ import annotations

import anyio

from queenright.core.app.dump_job import DUMP_ROLE
from queenright.core.observed import Known, SwarmState, Unknown
from queenright.core.resources import APP_LABEL, ROLE_LABEL
from queenright.engine.world import Ports
from queenright.ports.swarm import SwarmError

OutputReading = Known[str] | Unknown
LINES = 20


async def observe_outputs(ports: Ports, swarm: SwarmState, found: dict[str, OutputReading]) -> None:
    """The last lines of each dump that has ended, by the service's id."""

    async def ask(service_id: str) -> None:
        try:
            found[service_id] = Known(await ports.swarm.service_output(service_id, LINES))
        except SwarmError as error:
            found[service_id] = Unknown(str(error))

    async with anyio.create_task_group() as group:
        for live in swarm.services:
            labels = live.value.labels
            is_dump = APP_LABEL in labels and labels.get(ROLE_LABEL) == DUMP_ROLE
            tasks = list(swarm.tasks_of(live.id))
            if is_dump and tasks and not any(task.is_alive for task in tasks):
                group.start_soon(ask, live.id)
