"""Ask the replicas of applications: in every pass, and between passes.

Invariant: a replica that can't be asked is Unknown, and hides no other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import anyio

from queenright.core.audit.record import Trigger
from queenright.core.kinds.kind import Desired
from queenright.core.kinds.registry import KINDS
from queenright.core.observed import Known, SwarmState, Unknown
from queenright.core.observed.readiness import Readiness, ReadinessTarget
from queenright.core.planning.faults import DocumentKey
from queenright.engine.faults import Faults
from queenright.engine.trigger_queue import Wakeup
from queenright.engine.watchers import Trouble
from queenright.ports import Ports
from queenright.settings import PollIntervals

ReadinessReading = Known[Readiness] | Unknown


async def observe_replicas(
    ports: Ports,
    desired: Mapping[DocumentKey, Desired],
    swarm: SwarmState,
    found: dict[str, ReadinessReading],
    faults: Faults,
    *,
    keeps: bool = True,
) -> None:
    """Return each running replica's answer, by task id. With ``keeps``, these are all replicas, and
    what was set up to ask others is removed."""
    wanted: list[ReadinessTarget] = []
    for key, one in desired.items():
        with faults.kept_from_others(key, "observing"):
            wanted += KINDS[key.kind].readiness(one, swarm)
    if keeps:
        await ports.readiness.keep(wanted)
    if wanted:
        found.update(await ports.readiness.ask(wanted))


async def watch_replicas(
    ports: Ports,
    wakeup: Wakeup,
    intervals: PollIntervals,
    present: Callable[[], Mapping[ReadinessTarget, str]],
) -> None:
    """Ask every replica of the last pass again, and wake the loop when an answer has changed. Those
    that are present come with their documents' names."""
    trouble = Trouble("replica can't be watched; falling back to the timer")
    known: Mapping[str, object] = {}
    while True:
        await anyio.sleep(intervals.replica_poll_s)
        try:
            wanted = present()
            found = {
                task: signature(reading)
                for task, reading in (
                    await ports.readiness.ask(tuple(wanted)) if wanted else {}
                ).items()
            }
            changed = sorted(task for task in found if known.get(task) != found[task])
            if changed:
                names = {name for one, name in wanted.items() if one.task_id in changed}
                wakeup.notify(Trigger("member", f"readiness of {len(changed)} replicas"), names)
            known = found
            trouble.is_over()
        except Exception as error:  # noqa: BLE001  # a watcher outlives whatever happens in a round
            trouble.tell(error)


def signature(reading: ReadinessReading) -> object:
    return reading.value.status if isinstance(reading, Known) else "unknown"
