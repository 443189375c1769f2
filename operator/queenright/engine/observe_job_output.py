"""Read the last lines of jobs that have ended, for people and for the log.

A job whose lines can't be read is Unknown, and still ended.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.kinds.registry import owner_labels
from queenright.core.observed import Known, SwarmState, Unknown
from queenright.ports import Ports
from queenright.ports.swarm import SwarmError

OutputReading = Known[str] | Unknown
LINES = 20


def ended_jobs(swarm: SwarmState) -> Iterator[str]:
    """Yield the service ids of our jobs that have ended."""
    ours = {*owner_labels()}
    for live in swarm.services:
        if live.value.mode == "replicated-job" and ours & live.value.labels.keys():
            tasks = list(swarm.tasks_of(live.id))
            if tasks and not any(task.is_alive or swarm.may_run(task) for task in tasks):
                yield live.id


async def observe_output(ports: Ports, service_id: str, found: dict[str, OutputReading]) -> None:
    """Read the last lines of a job."""
    try:
        found[service_id] = Known(await ports.swarm.service_output(service_id, LINES))
    except SwarmError as error:
        found[service_id] = Unknown(str(error))
