"""How an application stands, as rows for people: its replicas, and whether anything is left to do.

Decides from one observation, the desired state and the plan made of it. Invariant: a replica is
called ready by its own word alone, and what is not known is never shown as a value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from queenright.core.app.desired import DesiredApp
from queenright.core.observed import Known, LiveService, Observed, SwarmState, Task, Unknown
from queenright.core.plan import Hold, Plan, summary
from queenright.core.resources import IMAGE_LABEL

REPLICA_COLUMNS = ("Replica", "Node", "Task", "Ready")
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ReplicaRow:
    """One replica. ``task`` is swarm's word for it, ``ready`` its own: ``yes``, ``no``,
    ``unknown``, or empty where it does not run."""

    slot: int
    node: str
    task: str
    ready: str
    remark: str = ""

    @property
    def cells(self) -> tuple[str, ...]:
        """The row under ``REPLICA_COLUMNS``."""
        return (str(self.slot), self.node, self.task, self.ready)


@dataclass(frozen=True, slots=True)
class AppStatus:
    """One application. ``image`` is what runs, empty before anything does; ``database`` says where
    it keeps everything."""

    name: str
    replicas: tuple[ReplicaRow, ...]
    plan: Plan
    image: str = ""
    database: str = ""
    published: tuple[str, ...] = ()

    @property
    def holds(self) -> tuple[Hold, ...]:
        return self.plan.holds

    @property
    def remarks(self) -> tuple[str, ...]:
        return tuple(f"replica {row.slot}: {row.remark}" for row in self.replicas if row.remark)

    @property
    def summary(self) -> str:
        return summary(self.plan)


def app_status(name: str, desired: DesiredApp | None, plan: Plan, observed: Observed) -> AppStatus:
    """The application's rows; without a desired state (no file describes it) there are none."""
    if desired is None or isinstance(observed.swarm, Unknown):
        return AppStatus(name, (), plan)
    swarm = observed.swarm.value
    live = swarm.service(desired.web.name)
    where = f"{desired.url.text.partition('@')[2].partition('?')[0]}" if desired.url else ""
    if live is None:
        return AppStatus(name, (), plan, database=where)
    return AppStatus(
        name,
        tuple(replica_rows(live, swarm, observed)),
        plan,
        image=live.value.labels.get(IMAGE_LABEL, live.value.image).partition("@")[0],
        database=where,
        published=tuple(published(desired, swarm)),
    )


def published(desired: DesiredApp, swarm: SwarmState) -> Iterator[str]:
    """Services and ports that clients come to."""
    for service in desired.services:
        live = swarm.service(service.name)
        for port in live.value.ports if live else ():
            yield f"{service.name}:{port.published} ({port.mode})"


def replica_rows(live: LiveService, swarm: SwarmState, observed: Observed) -> Iterator[ReplicaRow]:
    tasks = [task for task in swarm.tasks_of(live.id) if task.is_alive]
    for task in sorted(tasks, key=lambda task: (task.slot, task.at)):
        node = swarm.node_by_id(task.node_id)
        where = node.name if node else ""
        if node is not None and node.state != "ready":
            yield ReplicaRow(task.slot, where, UNKNOWN, UNKNOWN, f"the node is {node.state}")
        elif task.state != "running":
            yield ReplicaRow(task.slot, where, task.state, "", task.error)
        else:
            ready, remark = word_of(task, observed)
            yield ReplicaRow(task.slot, where, task.state, ready, remark)


def word_of(task: Task, observed: Observed) -> tuple[str, str]:
    match observed.readiness.get(task.id):
        case Known(answer) if answer.is_ready:
            return "yes", ""
        case Known(answer):
            return "no", f"/readyz answers {answer.status} {answer.reason}".rstrip()
        case Unknown(why):
            return UNKNOWN, why
        case None:
            return UNKNOWN, "it was not asked"
