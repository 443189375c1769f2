"""Status rows of an application: its replicas, its edge, and what is left to do.

Decides from one observation, the desired state and the plan made of it. Invariant: a replica is
shown as ready by its own answer alone, and what is not known is never shown as a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from queenright.core.kinds.notes_app.desired.app import DesiredApp
from queenright.core.kinds.notes_app.desired.edge import EDGE_ROLE
from queenright.core.observed import Known, LiveService, Node, Observed, SwarmState, Task, Unknown
from queenright.core.planning.plan import NOT_COMPARED, Hold, Plan, summary
from queenright.core.planning.status import Block, Line, Lines, Table
from queenright.core.planning.task_watch import is_eligible
from queenright.core.swarm.objects import APP_LABEL, IMAGE_LABEL, ROLE_LABEL

REPLICA_COLUMNS = ("Replica", "Node", "Task", "Ready")
UNKNOWN = "unknown"
FACTS_WIDTH = len("Published")


@dataclass(frozen=True, slots=True)
class ReplicaRow:
    """One replica.

    ``task`` is swarm's state of it, ``ready`` its own answer: ``yes``, ``no``, ``unknown``, or
    empty where it does not run.
    """

    slot: int
    node: str
    task: str
    ready: str
    remark: str = ""

    def as_json(self) -> dict[str, object]:
        return {
            "replica": self.slot,
            "node": self.node or None,
            "task": self.task,
            "ready": self.ready or None,
            "remark": self.remark or None,
        }

    @property
    def cells(self) -> tuple[str, ...]:
        """The row under ``REPLICA_COLUMNS``."""
        return (str(self.slot), self.node, self.task, self.ready)


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """An edge's service: the nodes on which it runs, and what keeps it from running on others."""

    service: str
    nodes: tuple[str, ...] = ()
    waits: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        return {"service": self.service, "runs_on": list(self.nodes), "waits": list(self.waits)}

    @property
    def text(self) -> str:
        return f"runs on {', '.join(self.nodes)}" if self.nodes else "runs on no node"


@dataclass(frozen=True, slots=True)
class AppStatus:
    """Status of one application.

    ``image`` is what runs, empty before anything does; ``database`` is its address; ``edges``
    includes one that the file no longer has.
    """

    name: str
    replicas: tuple[ReplicaRow, ...]
    plan: Plan
    image: str = ""
    database: str = ""
    published: tuple[str, ...] = ()
    edges: tuple[EdgeRow, ...] = ()
    is_compared: bool = True
    """False where no valid file describes it."""

    @property
    def holds(self) -> tuple[Hold, ...]:
        return self.plan.held

    @property
    def notes(self) -> tuple[Hold, ...]:
        return self.plan.notes

    @property
    def remarks(self) -> tuple[str, ...]:
        of_replicas = [f"replica {row.slot}: {row.remark}" for row in self.replicas if row.remark]
        of_edges = [f"{row.service}: {why}" for row in self.edges for why in row.waits]
        return (*of_replicas, *of_edges)

    @property
    def summary(self) -> str:
        return summary(self.plan) if self.is_compared else NOT_COMPARED

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The services with their nodes, and the replicas."""
        facts = (
            Line("Image", self.image),
            Line("Database", self.database),
            Line("Published", ", ".join(self.published)),
            Line("Edge", "; ".join(edge.text for edge in self.edges)),
        )
        return (
            Lines(tuple(line for line in facts if line.text), FACTS_WIDTH),
            Table(REPLICA_COLUMNS, tuple(row.cells for row in self.replicas)),
        )

    def details(self) -> Mapping[str, object]:
        return {
            "image": self.image or None,
            "database": self.database or None,
            "published": list(self.published),
            "replicas": [row.as_json() for row in self.replicas],
            "edges": [row.as_json() for row in self.edges],
        }


def app_status(name: str, desired: DesiredApp | None, plan: Plan, observed: Observed) -> AppStatus:
    """The application's rows; without a desired state (no file describes it) there are none."""
    if desired is None or isinstance(observed.swarm, Unknown):
        return AppStatus(name, (), plan)
    swarm = observed.swarm.value
    live = swarm.service(desired.web.name)
    where = f"{desired.url.text.partition('@')[2].partition('?')[0]}" if desired.url else ""
    if live is None:
        return AppStatus(name, (), plan, database=where, edges=tuple(edge_rows(desired, swarm)))
    return AppStatus(
        name,
        tuple(replica_rows(live, swarm, observed)),
        plan,
        image=live.value.labels.get(IMAGE_LABEL, live.value.image).partition("@")[0],
        database=where,
        published=tuple(published(desired, swarm)),
        edges=tuple(edge_rows(desired, swarm)),
    )


def published(desired: DesiredApp, swarm: SwarmState) -> Iterator[str]:
    """Services and ports that clients come to."""
    for service in desired.services:
        live = swarm.service(service.name)
        for port in live.value.ports if live else ():
            yield f"{service.name}:{port.published} ({port.mode})"


def edge_rows(desired: DesiredApp, swarm: SwarmState) -> Iterator[EdgeRow]:
    wanted = {service.name for service in desired.others}
    there = {
        live.value.name
        for live in swarm.index.services_labelled(APP_LABEL, desired.name)
        if live.value.labels.get(ROLE_LABEL) == EDGE_ROLE
    }
    for name in sorted(wanted | there):
        live = swarm.service(name)
        if live is None:
            yield EdgeRow(name, waits=("it is not deployed yet",))
            continue
        tasks = swarm.tasks_of(live.id)
        nodes = [node for task in tasks if (node := running_on(task, swarm)) is not None]
        names = tuple(sorted({node.name for node in nodes}))
        by_node = live.value.mode == "global"
        waits = waiting_nodes(live, swarm) if by_node else waiting_tasks(live, swarm, len(nodes))
        yield EdgeRow(name, names, tuple(waits))


def running_on(task: Task, swarm: SwarmState) -> Node | None:
    """The node on which a task runs for certain."""
    runs = swarm.is_running(task)
    return swarm.node_by_id(task.node_id) if runs else None


def waiting_nodes(live: LiveService, swarm: SwarmState) -> Iterator[str]:
    """The nodes that should run the edge and do not, each with the reason."""
    for node in sorted(swarm.nodes, key=lambda node: node.name):
        tasks = [task for task in swarm.tasks_of(live.id) if task.node_id == node.id]
        if not is_eligible(node, live.value):
            continue
        if any(running_on(task, swarm) for task in tasks):
            continue
        if not node.is_ready:
            state = node.state if node.state != "ready" else f"set to {node.availability}"
            yield f"not on {node.name}, which is {state}"
        else:
            yield f"not on {node.name}: {last_word(tasks)}"


def waiting_tasks(live: LiveService, swarm: SwarmState, running: int) -> Iterator[str]:
    wanted = live.value.replicas
    if running < wanted:
        tasks = [task for task in swarm.tasks_of(live.id) if running_on(task, swarm) is None]
        yield f"{running} of {wanted} run: {last_word(tasks)}"


def last_word(tasks: list[Task]) -> str:
    """Swarm's state of the task that is on its way, or else of the last one that ended."""
    last = max(tasks, key=lambda task: (task.is_alive, task.at), default=None)
    if last is None:
        return "swarm has not started it yet"
    failed = max((task for task in tasks if task.error), key=lambda task: task.at, default=None)
    return last.state + (f" ({failed.error})" if failed else "")


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
            return UNKNOWN, "not asked yet"
