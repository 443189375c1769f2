"""Swarm's objects as values, shared by the desired and the observed state.

One type describes both the desired and the observed object, so that one generic ``diff`` compares
them. Every field is normalised: defaults that Docker fills in are spelled out here, unordered
collections are sorted tuples, sizes are bytes and durations are seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

CLUSTER_LABEL = "queenright.cluster"
"""Label on every object that the operator owns; its value is the cluster's name (the scope)."""

APP_LABEL = "queenright.app"
"""Label on every object of an application; its value is the application's name. These objects have
no ``CLUSTER_LABEL``, so that neither kind takes the other's objects for its own."""

DATABASE_LABEL = "queenright.database"
"""Label of an application's service: the cluster that holds its database."""

STACK_LABEL = "com.docker.stack.namespace"
"""Docker's own label: with it ``docker stack ps <scope>`` shows the cluster's tasks."""

IMAGE_LABEL = "queenright.image"
"""Service label: the image by digest as the operator last deployed it."""

ROLE_LABEL = "queenright.role"
ADDRESS_LABEL = "queenright.address"
"""Label of a member's service: the address by which Raft knows it."""
LOCAL_DIGEST_LABEL = "queenright.local-digest"
"""Label of a template: digest of all but its bootstrap section, which running members ignore."""
DELETION_POLICY_LABEL = "queenright.deletion-policy"
BOOTSTRAPPED_LABEL = "queenright.bootstrapped"
RAFT_RESET_VARIABLE = "RAFT_RESET"
"""Variable of a member's service: a value that the member has not obeyed yet asks it to set its
Raft log aside."""
PARTNERS_VARIABLE = "RAFT_PARTNERS"
"""Variable of a member's service: where its Raft node asks who votes, at its start."""
LAZY_VARIABLES = frozenset({PARTNERS_VARIABLE})
"""Variables in which no service is restarted for a difference alone: it goes along with the next
restart."""
NODE_LABELS_LABEL = "queenright.node-labels"
MEMBERS_LABEL = "queenright.members"
"""Label of the state config: the members as they were deployed, in the order of their numbers."""
VOTELESS_LABEL = "queenright.voteless"
"""Label of the state config: the names of members that have a place, and no vote yet or any more.
"""
VRRP_LABEL = "queenright.vrrp"
"""Label of keepalived's service: digest of the values on which all its nodes must agree."""
HOST_NETWORK = "host"
"""Docker's name for the node's own network; swarm predefines it, and no list contains it."""
RETIRING_LABEL = "queenright.retiring-since"
"""Label of the state config: the moment since which no file describes the cluster."""
CATALOG_LABEL = "queenright.catalog"
"""Label of the state config: the file's roles and databases, with the secrets of passwords."""

VIP_ROLE = "vip"
"""The value of ``ROLE_LABEL`` on keepalived's service."""

MemberRole = Literal["member", "proxy"]


@dataclass(frozen=True, slots=True, order=True)
class Attachment:
    """A service's attachment to an overlay network, by an alias that peers resolve, or to
    ``HOST_NETWORK``: then it has the node's own interfaces."""

    network: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class Port:
    """A published port. ``host`` mode binds the node that runs the task (spec: §2.6)."""

    published: int
    target: int
    protocol: Literal["tcp", "udp", "sctp"] = "tcp"
    mode: Literal["host", "ingress"] = "host"


@dataclass(frozen=True, slots=True, order=True)
class Mount:
    """A named volume, a bind mount or a tmpfs; ``size_bytes`` is for tmpfs."""

    target: str
    kind: str = "volume"
    source: str = ""
    read_only: bool = False
    size_bytes: int = 0
    mode: int = 0


@dataclass(frozen=True, slots=True, order=True)
class FileReference:
    """A config or secret mounted as a file, by object name."""

    name: str
    target: str
    uid: str = "0"
    gid: str = "0"
    mode: int = 0o444


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """The container health check (spec: §8). An empty ``test`` is the image's own."""

    test: tuple[str, ...]
    interval_s: float
    timeout_s: float
    start_period_s: float
    retries: int


@dataclass(frozen=True, slots=True)
class Resources:
    """Memory bounds in bytes and CPU bounds in billionths of a CPU; 0 means unbounded."""

    memory_limit_bytes: int = 0
    memory_reservation_bytes: int = 0
    cpu_limit_nanos: int = 0
    cpu_reservation_nanos: int = 0


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """Swarm's policy for starting finished tasks again; ``max_attempts`` 0 means no limit."""

    condition: str = "any"
    delay_s: float = 5.0
    max_attempts: int = 0
    window_s: float = 0.0


@dataclass(frozen=True, slots=True)
class UpdatePolicy:
    """Swarm's policy for replacing tasks. Host-mode ports need ``stop-first``: start-first
    hangs."""

    parallelism: int = 1
    delay_s: float = 0.0
    order: str = "stop-first"
    failure_action: str = "pause"
    monitor_s: float = 5.0
    max_failure_ratio: float = 0.0


@dataclass(frozen=True, slots=True)
class Service:
    """A whole swarm service: two equal values run the same tasks in the same way."""

    name: str
    image: str
    mode: Literal["replicated", "global", "replicated-job", "global-job"] = "replicated"
    replicas: int = 1
    labels: Mapping[str, str] = field(default_factory=dict)
    container_labels: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    hostname: str = ""
    user: str = ""
    groups: tuple[str, ...] = ()
    working_directory: str = ""
    init: bool = False
    tty: bool = False
    read_only: bool = False
    stop_signal: str = ""
    stop_grace_s: float = 10.0
    capabilities_added: tuple[str, ...] = ()
    capabilities_dropped: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    networks: tuple[Attachment, ...] = ()
    constraints: tuple[str, ...] = ()
    endpoint_mode: Literal["vip", "dnsrr"] = "vip"
    ports: tuple[Port, ...] = ()
    mounts: tuple[Mount, ...] = ()
    configs: tuple[FileReference, ...] = ()
    secrets: tuple[FileReference, ...] = ()
    health_check: HealthCheck | None = None
    resources: Resources = Resources()
    restart: RestartPolicy = RestartPolicy()
    update: UpdatePolicy = UpdatePolicy()
    rollback: UpdatePolicy = UpdatePolicy()
    other: Mapping[str, str] = field(default_factory=dict)
    """Settings that no field above models, as canonical JSON by path: normally empty. A setting
    that a person adds by hand appears here as drift, and is neither kept nor lost unnoticed."""


@dataclass(frozen=True, slots=True)
class Config:
    """A swarm config. Its data is immutable, so its name carries a digest of its content."""

    name: str
    data: bytes
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Secret:
    """A swarm secret's name and labels; the operator's state never holds its value."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Network:
    """An overlay network; ``subnet`` empty lets swarm choose one."""

    name: str
    driver: str = "overlay"
    attachable: bool = True
    internal: bool = False
    subnet: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NodeLabels:
    """Labels that the operator owns on one node; ``None`` means that the label must be absent."""

    node: str
    labels: Mapping[str, str | None]
