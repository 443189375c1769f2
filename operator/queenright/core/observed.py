"""What was seen: the swarm's objects and the members' own words, each source known or unknown.

Unknown is not absent: a source that did not answer is ``Unknown`` with its reason, and nothing
destructive may be decided on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Generic, Literal, TypeVar

from queenright.core.app.readiness import Readiness
from queenright.core.catalog import Catalog
from queenright.core.resources import Config, Network, Secret, Service

T_co = TypeVar("T_co", covariant=True)

NEVER = datetime.min.replace(tzinfo=UTC)
"""Stands for a moment that Docker did not tell."""


@dataclass(frozen=True, slots=True)
class Known(Generic[T_co]):
    """A source that answered."""

    value: T_co


@dataclass(frozen=True, slots=True)
class Unknown:
    """A source that did not answer, or not credibly; ``why`` is for people."""

    why: str


@dataclass(frozen=True, slots=True)
class NotAsked(Unknown):
    """Left alone by a command that only looks; the operator itself asks."""


@dataclass(frozen=True, slots=True)
class Live(Generic[T_co]):
    """A swarm object with what a write needs: its id and the version index that was read."""

    id: str
    version: int
    value: T_co


@dataclass(frozen=True, slots=True)
class Node:
    """A swarm node. ``name`` is its hostname, ``address`` what swarm knows it by."""

    id: str
    name: str
    address: str
    role: Literal["manager", "worker"] = "worker"
    state: Literal["ready", "down", "unknown", "disconnected"] = "ready"
    availability: Literal["active", "pause", "drain"] = "active"
    labels: Mapping[str, str] = field(default_factory=dict)
    version: int = 0

    @property
    def is_ready(self) -> bool:
        return self.state == "ready" and self.availability == "active"


ALIVE_STATES = frozenset(
    {"new", "pending", "assigned", "accepted", "preparing", "ready", "starting", "running"}
)


WANTED_STATES = frozenset({"accepted", "ready", "running", "complete"})
"""Desired states of a task that swarm wants to run, now or in a moment."""


@dataclass(frozen=True, slots=True)
class Task:
    """A swarm task. ``error`` is swarm's own text; ``at`` is when its state was last set."""

    id: str
    service_id: str
    node_id: str
    state: str
    desired_state: str
    at: datetime
    error: str = ""
    exit_code: int | None = None
    slot: int = 0
    addresses: Mapping[str, str] = field(default_factory=dict)
    """Its address on each overlay network, by the network's name."""
    image: str = ""
    """What it runs, as its service said when it was made."""

    @property
    def is_alive(self) -> bool:
        """Whether the task runs or will, as far as swarm knows. A job's task is meant to be
        ``complete`` from its first moment on (swarmkit: jobs/replicated)."""
        return self.state in ALIVE_STATES and self.desired_state in WANTED_STATES


@dataclass(frozen=True, slots=True)
class LiveService(Live[Service]):
    """A service with what swarm says of its last change."""

    created_at: datetime = NEVER
    updated_at: datetime = NEVER
    force_update: int = 0
    update_state: str = ""
    update_message: str = ""
    update_started_at: datetime = NEVER
    previous_configs: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Engine:
    """The Docker engine that the operator talks to, and its place in the swarm."""

    node_id: str = ""
    swarm_state: Literal["active", "inactive", "pending", "error", "locked"] = "active"
    is_manager: bool = True
    error: str = ""


@dataclass(frozen=True, slots=True)
class SwarmState:
    """One read of the whole swarm: a constant number of list calls."""

    engine: Engine
    nodes: tuple[Node, ...] = ()
    services: tuple[LiveService, ...] = ()
    tasks: tuple[Task, ...] = ()
    networks: tuple[Live[Network], ...] = ()
    secrets: tuple[Live[Secret], ...] = ()
    configs: tuple[Live[Config], ...] = ()

    def node(self, name: str) -> Node | None:
        return next((node for node in self.nodes if node.name == name), None)

    def node_by_id(self, node_id: str) -> Node | None:
        return next((node for node in self.nodes if node.id == node_id), None)

    def service(self, name: str) -> LiveService | None:
        return next((live for live in self.services if live.value.name == name), None)

    def network(self, name: str) -> Live[Network] | None:
        return next((live for live in self.networks if live.value.name == name), None)

    def secret(self, name: str) -> Live[Secret] | None:
        return next((live for live in self.secrets if live.value.name == name), None)

    def config(self, name: str) -> Live[Config] | None:
        return next((live for live in self.configs if live.value.name == name), None)

    def tasks_of(self, service_id: str) -> Iterator[Task]:
        return (task for task in self.tasks if task.service_id == service_id)

    def running_tasks(self, service_id: str) -> Iterator[Task]:
        """Tasks that run for certain: alive, on a node that is not down."""
        for task in self.tasks_of(service_id):
            if task.state == "running" and self.runs(task):
                yield task

    def possible_tasks(self, service_id: str) -> Iterator[Task]:
        """Tasks that run, or may: a container goes on on a node that swarm has lost sight of, and
        an update would stop it when the node comes back."""
        for task in self.tasks_of(service_id):
            node = self.node_by_id(task.node_id)
            lost = node is not None and node.state != "ready"
            if task.state == "running" and (task.is_alive or lost):
                yield task

    def runs(self, task: Task) -> bool:
        """Whether a task really can be running: tasks on dead nodes stay "running" in swarm's
        lists (moby #31999), so the node's state comes first."""
        node = self.node_by_id(task.node_id)
        return task.is_alive and (node is None or node.state == "ready")


@dataclass(frozen=True, slots=True)
class MemberStatus:
    """What one member says of itself: ``GET /patroni``, always 200 while Patroni runs.

    ``holds_lock`` is whether its ``/primary`` answered 200 in the same round: lock held *and*
    read-write (spec: §4.1). ``location`` is its WAL position in bytes, ``lag_bytes`` its distance
    from the leader's; None when either is not known.
    """

    state: str
    role: str
    timeline: int | None = None
    replication_state: str = ""
    holds_lock: bool = False
    location: int | None = None
    lag_bytes: int | None = None
    paused: bool = False
    pending_restart: bool = False
    pending_changes: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Patroni's ``pending_restart_reason``: by parameter, its present and its future value."""
    cluster_unlocked: bool = False
    version: str = ""
    server_version: int = 0
    tags: Mapping[str, object] = field(default_factory=dict)

    @property
    def is_running(self) -> bool:
        return self.state in {"running", "streaming", "in archive recovery"}

    @property
    def is_leader(self) -> bool:
        """A working leader: it says so, and proves it by its lock."""
        return self.holds_lock and self.role in {"primary", "master", "leader"}

    @property
    def is_streaming(self) -> bool:
        return self.is_running and not self.holds_lock and self.replication_state == "streaming"

    @property
    def is_well(self) -> bool:
        return self.is_leader or self.is_streaming


@dataclass(frozen=True, slots=True)
class LeaderChange:
    """The end of a timeline, as Patroni notes it: ``location`` is where in the WAL, in bytes,
    ``reason`` is PostgreSQL's own word, ``leader`` is who leads on the next one (empty, and ``at``
    None, where Patroni did not note them)."""

    timeline: int
    location: int
    reason: str
    at: datetime | None = None
    leader: str = ""


@dataclass(frozen=True, slots=True)
class RaftStatus:
    """What one Raft node says: of its quorum, and of whom it can reach (addresses with port).
    The Raft leader need not be the database's."""

    has_quorum: bool
    leader: str = ""
    term: int = 0
    reachable: frozenset[str] = frozenset()
    unreachable: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ImageFound:
    """A reference that its registry knows; ``digest`` like ``sha256:…``."""

    digest: str


@dataclass(frozen=True, slots=True)
class ImageMissing:
    """A reference that its registry denies knowing."""

    why: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """How often an action was tried without lasting effect, when last, and what it met with."""

    count: int
    last_at: datetime
    error: str = ""


@dataclass(frozen=True, slots=True)
class Observed:
    """Everything a pass knows. Mappings are keyed by member service name, image reference, cluster
    name (``settings``: what Patroni's ``/config`` answers) and action key."""

    swarm: Known[SwarmState] | Unknown
    members: Mapping[str, Known[MemberStatus] | Unknown] = field(default_factory=dict)
    images: Mapping[str, Known[ImageFound | ImageMissing] | Unknown] = field(default_factory=dict)
    settings: Mapping[str, Known[Mapping[str, Any]] | Unknown] = field(default_factory=dict)
    attempts: Mapping[str, Attempt] = field(default_factory=dict)
    touched_s_ago: Mapping[str, float] = field(default_factory=dict)
    """Seconds, by a clock that never jumps, since this process last disturbed a service."""
    raft: Mapping[str, Known[RaftStatus] | Unknown] = field(default_factory=dict)
    """What each member's Raft node says, by member service name."""
    catalogs: Mapping[str, Known[Catalog] | Unknown] = field(default_factory=dict)
    """Roles and databases as the leader has them, by cluster name; only where some are wished."""
    readiness: Mapping[str, Known[Readiness] | Unknown] = field(default_factory=dict)
    """What each replica of an application says on ``/readyz``, by task id."""
    outputs: Mapping[str, Known[str] | Unknown] = field(default_factory=dict)
    """The last lines of jobs that have ended, by the service's id."""
