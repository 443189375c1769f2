"""Read how far the members' copies of data have come, for the commands that show it.

Nothing is decided by it: a pass does not ask. Where a container's lines can't be read, or tell
nothing, there is no progress to show.
"""

from __future__ import annotations

from dataclasses import replace

import anyio

from queenright.core.observed import Known, Observed
from queenright.core.observed.base_copies import BaseCopy, copy_in
from queenright.ports import Ports
from queenright.ports.errors import PortError

LINES = 100
"""More than a minute of pg_basebackup's lines, with Patroni's between them."""
ANSWERS_S = 3.0


async def with_copies(ports: Ports, observed: Observed) -> Observed:
    """Return the observation with the progress of each member that copies another's data."""
    if not isinstance(observed.swarm, Known):
        return observed
    found: dict[str, BaseCopy] = {}

    async def ask(name: str, service_id: str) -> None:
        try:
            lines = await ports.swarm.service_output(service_id, LINES, timed=True)
        except PortError:
            return
        if (copy := copy_in(lines)) is not None:
            found[name] = copy

    with anyio.move_on_after(ANSWERS_S):
        async with anyio.create_task_group() as group:
            for name, reading in observed.members.items():
                live = observed.swarm.value.service(name)
                if live is not None and isinstance(reading, Known) and reading.value.is_copying:
                    group.start_soon(ask, name, live.id)
    return replace(observed, copies=found)
