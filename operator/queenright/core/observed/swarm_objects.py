"""One object of the swarm each, as its managers describe it: node, task, service, engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from queenright.core.observed.known import Live
from queenright.core.observed.task_states import ALIVE_STATES, WANTED_STATES
from queenright.core.swarm.objects import Service

NEVER = datetime.min.replace(tzinfo=UTC)
"""The moment that is used where Docker reports none."""


@dataclass(frozen=True, slots=True)
class Node:
    """A swarm node. ``name`` is its hostname, ``address`` the one that swarm uses."""

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


@dataclass(frozen=True, slots=True)
class Task:
    """A swarm task. ``error`` is swarm's text; ``at`` is when its state was last set."""

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
    """The image of its service at the time when the task was created."""

    @property
    def is_alive(self) -> bool:
        """Return True if the task runs or will run, as far as swarm knows. The desired state of a
        job's task is ``complete`` from its first moment on (swarmkit: jobs/replicated)."""
        return self.state in ALIVE_STATES and self.desired_state in WANTED_STATES


@dataclass(frozen=True, slots=True)
class LiveService(Live[Service]):
    """A service with swarm's report of its last update."""

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
class Unreadable:
    """An object of ours that can't be read. ``label`` and ``owner`` name its owner."""

    label: str
    owner: str
    why: str
