"""The replicas of applications: asked in every pass, and watched between passes.

Decides nothing. Invariant: a replica that can't be asked is Unknown, and hides no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import anyio

from queenright.core.app.desired import DesiredApp
from queenright.core.app.readiness import Readiness, Target, targets
from queenright.core.audit import Trigger
from queenright.core.observed import Known, SwarmState, Unknown
from queenright.engine.wakeup import Wakeup
from queenright.engine.watchers import Trouble
from queenright.engine.world import Ports, Tempo

ReadinessReading = Known[Readiness] | Unknown


async def observe_replicas(
    ports: Ports,
    apps: Iterable[DesiredApp],
    swarm: SwarmState,
    found: dict[str, ReadinessReading],
) -> None:
    """Each running replica's own word, by task id."""
    wanted = [target for app in apps for target in targets(app, swarm)]
    await ports.readiness.keep(wanted)
    if wanted:
        found.update(await ports.readiness.ask(wanted))


async def watch_replicas(
    ports: Ports, wakeup: Wakeup, tempo: Tempo, present: Callable[[], Sequence[Target]]
) -> None:
    """Asks every replica of the last pass again, and wakes the loop when an answer is another."""
    trouble = Trouble("a replica can't be watched; the timer goes on")
    known: Mapping[str, object] = {}
    while True:
        await anyio.sleep(tempo.replica_poll_s)
        try:
            wanted = present()
            found = {
                task: signature(reading)
                for task, reading in (await ports.readiness.ask(wanted) if wanted else {}).items()
            }
            changed = sorted(task for task in found if known.get(task) != found[task])
            if changed:
                wakeup.notify(Trigger("member", f"readiness of {len(changed)} replicas"))
            known = found
            trouble.is_over()
        except Exception as error:  # noqa: BLE001  # a watcher outlives whatever happens in a round
            trouble.tell(error)


def signature(reading: ReadinessReading) -> object:
    return reading.value.status if isinstance(reading, Known) else "unknown"
