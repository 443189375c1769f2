"""Ask the replicas of applications: in every pass, and between passes.

Invariant: a replica that can't be asked is Unknown, and hides no other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import anyio

from queenright.core.audit.record import Trigger
from queenright.core.kinds.kind import Desired
from queenright.core.kinds.registry import KINDS
from queenright.core.observed import Known, SwarmState, Unknown
from queenright.core.observed.readiness import Readiness, ReadinessTarget
from queenright.core.planning.faults import DocumentKey
from queenright.engine.faults import Faults
from queenright.engine.silence import SILENT
from queenright.engine.trigger_queue import Wakeup
from queenright.engine.watchers import Trouble
from queenright.ports import Ports
from queenright.settings import PollIntervals

ReadinessReading = Known[Readiness] | Unknown
NOT_HEARD = "unknown"


async def observe_replicas(
    ports: Ports,
    desired: Mapping[DocumentKey, Desired],
    swarm: SwarmState,
    found: dict[str, ReadinessReading],
    faults: Faults,
    *,
    keeps: bool = True,
    is_silent: Callable[[str], bool] = lambda _: False,
) -> None:
    """Return each running replica's answer, by task id. With ``keeps``, these are all replicas, and
    what was set up to ask others is removed. Silent ones are not asked."""
    wanted: list[ReadinessTarget] = []
    for key, one in desired.items():
        with faults.kept_from_others(key, "observing"):
            wanted += KINDS[key.kind].readiness(one, swarm)
    if keeps:
        await ports.readiness.keep(wanted)
    silent = {one.task_id for one in wanted if is_silent(one.task_id)}
    found.update(dict.fromkeys(silent, SILENT))
    if asked := [one for one in wanted if one.task_id not in silent]:
        found.update(await ports.readiness.ask(asked))


@dataclass
class ReplicaWatch:
    """Asks every replica of the last pass again, and wakes the loop when an answer has changed.
    Those that are present come with their documents' names."""

    ports: Ports
    wakeup: Wakeup
    present: Callable[[], Mapping[ReadinessTarget, str]]
    known: Mapping[str, object] = field(default_factory=dict)
    """The last answers, by task id."""

    def is_silent(self, name: str) -> bool:
        """Return True if the replica of this task id did not answer the last question."""
        return self.known.get(name) == NOT_HEARD

    async def run(self, intervals: PollIntervals) -> None:
        trouble = Trouble("replica can't be watched; falling back to the timer")
        while True:
            await anyio.sleep(intervals.replica_poll_s)
            try:
                await self._round()
                trouble.is_over()
            except Exception as error:  # noqa: BLE001  # a watcher outlives whatever happens
                trouble.tell(error)

    async def _round(self) -> None:
        wanted = self.present()
        found = {
            task: signature(reading)
            for task, reading in (
                await self.ports.readiness.ask(tuple(wanted)) if wanted else {}
            ).items()
        }
        changed = sorted(task for task in found if self.known.get(task) != found[task])
        if changed:
            names = {name for one, name in wanted.items() if one.task_id in changed}
            self.wakeup.notify(Trigger("member", f"readiness of {len(changed)} replicas"), names)
        self.known = found


def signature(reading: ReadinessReading) -> object:
    return reading.value.status if isinstance(reading, Known) else NOT_HEARD
