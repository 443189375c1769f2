"""Everything that a pass observes: the swarm's objects and the members' answers.

Each source is known or unknown; nothing destructive may be decided on an unknown one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from queenright.core.observed.archiving import Archiving
from queenright.core.observed.base_copies import BaseCopy
from queenright.core.observed.known import Known, Live, NotAsked, Unknown
from queenright.core.observed.patroni import (
    MemberStatus,
    RaftLoss,
    RaftStatus,
    RemovedWal,
    TimelineEnd,
    raft_hears,
)
from queenright.core.observed.readiness import Readiness
from queenright.core.observed.swarm import SwarmState
from queenright.core.observed.swarm_objects import (
    NEVER,
    Engine,
    LiveService,
    Node,
    Task,
    Unreadable,
)
from queenright.core.postgres.catalog import Catalog

__all__ = (
    "LEADERLESS",
    "NEVER",
    "NODE_DOWN",
    "UNLOCKED",
    "Archiving",
    "Attempt",
    "Engine",
    "ImageFound",
    "ImageMissing",
    "Known",
    "Live",
    "LiveService",
    "MemberStatus",
    "Node",
    "NotAsked",
    "Observed",
    "RaftLoss",
    "RaftStatus",
    "RemovedWal",
    "SwarmState",
    "Task",
    "TimelineEnd",
    "Unknown",
    "Unreadable",
    "cluster_of",
    "down_key",
    "hung_key",
    "joining_key",
    "mute_key",
    "node_key",
    "parameters_key",
    "parameters_of",
    "raft_hears",
    "raft_key",
    "seen_parameters",
    "voters_key",
)


LEADERLESS = "no leader/"
"""Before a cluster's name, the key in ``Observed.seen_s_ago`` of the time without a leader, and
without a newer timeline, which a leader between two passes leaves behind."""


UNLOCKED = "no lock/"
"""Before a cluster's name, the key in ``Observed.seen_s_ago`` of the time for which its members say
that nobody holds the leader lock. While all are silent, somebody may lead."""


NODE_DOWN = "node down/"
"""Before a node's id, the key in ``Observed.seen_s_ago`` of the time for which swarm calls it down
without a break."""


def cluster_of(member: str) -> str:
    """Return the name of the cluster that a member's service belongs to; it has no underscore."""
    return member.partition("_")[0]


def node_key(node_id: str) -> str:
    """Return the key in ``seen_s_ago`` of a node's state, labels and availability."""
    return f"node/{node_id}"


def parameters_key(cluster: str) -> str:
    """Return the key in ``seen_s_ago`` of the parameters in a cluster's settings of Patroni."""
    return f"{cluster}/postgresql/parameters"


def parameters_of(settings: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return PostgreSQL's parameters in Patroni's settings; None where there is no mapping."""
    section = settings.get("postgresql")
    found = section.get("parameters") if isinstance(section, Mapping) else None
    return found if isinstance(found, Mapping) else None


def seen_parameters(settings: Mapping[str, Any]) -> tuple[tuple[str, str], ...] | None:
    """Return them as text and in order, to see whether they change; None where there are none."""
    found = parameters_of(settings)
    return None if found is None else tuple((key, str(found[key])) for key in sorted(found))


def raft_key(service: str) -> str:
    """Return the key in ``seen_s_ago`` of the Raft node of a member's service."""
    return f"raft/{service}"


def voters_key(service: str) -> str:
    """Return the key in ``seen_s_ago`` of the voters that a member's Raft node lists."""
    return f"{raft_key(service)}/voters"


def hung_key(service: str) -> str:
    """Return the key in ``seen_s_ago`` of a member that has no data and is not copying any."""
    return f"hung/{service}"


def down_key(service: str) -> str:
    """Return the key in ``seen_s_ago`` of a member that has data, and neither leads nor streams, or
    whose Raft node answers alone."""
    return f"down/{service}"


def joining_key(service: str) -> str:
    """Return the key in ``seen_s_ago`` of a member that answers, has data, and does not stream from
    the leader that there is."""
    return f"joins/{service}"


def mute_key(service: str) -> str:
    """Return the key in ``seen_s_ago`` of a member whose Patroni answers, and whose Raft node does
    not."""
    return f"mute/{service}"


@dataclass(frozen=True, slots=True)
class ImageFound:
    """A reference that its registry has; ``digest`` like ``sha256:…``."""

    digest: str


@dataclass(frozen=True, slots=True)
class ImageMissing:
    """A reference that its registry does not have."""

    why: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """The tries of an action without lasting effect: their number, and the last one's error.
    ``ago_s`` are seconds by a monotonic clock."""

    count: int
    ago_s: float
    error: str = ""


@dataclass(frozen=True, slots=True)
class Observed:
    """Everything that a pass knows. Mappings are keyed by member service name, image reference,
    cluster name (``settings``: Patroni's answer on ``/config``) and action key."""

    swarm: Known[SwarmState] | Unknown
    members: Mapping[str, Known[MemberStatus] | Unknown] = field(default_factory=dict)
    images: Mapping[str, Known[ImageFound | ImageMissing] | Unknown] = field(default_factory=dict)
    settings: Mapping[str, Known[Mapping[str, Any]] | Unknown] = field(default_factory=dict)
    attempts: Mapping[str, Attempt] = field(default_factory=dict)
    touched_s_ago: Mapping[str, float] = field(default_factory=dict)
    """Seconds, by a monotonic clock, since this process last disrupted a service."""
    seen_s_ago: Mapping[str, float] = field(default_factory=dict)
    """Seconds, by that clock, for which this process has seen something in its present state: a
    service or task by its id, a config's label by the config's id, a slash and its key, one of
    Patroni's settings by the cluster's name, a slash and its key, a Raft node that applies nothing
    though it is behind by ``raft_key``, the voters that a Raft node lists by ``voters_key``, a
    member without data by ``hung_key``, one that neither leads nor streams by ``down_key``, one
    that does not stream from the present leader by ``joining_key``, one whose Patroni answers and
    whose Raft node does not by ``mute_key``, a
    cluster without a leader by ``LEADERLESS`` and its name, one whose members say so by
    ``UNLOCKED``, a node that swarm calls down by ``NODE_DOWN`` and its id, and each node as it is
    now by ``node_key``.
    Empty for a read-only command."""
    absent_s: Mapping[str, float] = field(default_factory=dict)
    """Seconds, by that clock, for which this process has known that no document describes the
    object of this name; one that is not listed may have been described a moment ago."""
    raft: Mapping[str, Known[RaftStatus] | Unknown] = field(default_factory=dict)
    """The status of each member's Raft node, by member service name."""
    catalogs: Mapping[str, Known[Catalog] | Unknown] = field(default_factory=dict)
    """Roles and databases on the leader, by cluster name; only for clusters that claim some."""
    archiving: Mapping[str, Known[Archiving] | Unknown] = field(default_factory=dict)
    """WAL archiving on the leader, by cluster name; only for clusters that archive."""
    copies: Mapping[str, BaseCopy] = field(default_factory=dict)
    """The progress of copies of data, by member service; only for a command that shows it."""
    readiness: Mapping[str, Known[Readiness] | Unknown] = field(default_factory=dict)
    """Each replica's answer on ``/readyz``, by task id."""
    outputs: Mapping[str, Known[str] | Unknown] = field(default_factory=dict)
    """The last lines of jobs that have ended, by the service's id."""
    history: Mapping[str, Known[Sequence[TimelineEnd]] | Unknown] = field(default_factory=dict)
    """Patroni's history of timelines, by cluster name; only for clusters of which no member proved
    the leader lock in this observation."""
    leader_locations: Mapping[str, Known[int] | Unknown] = field(default_factory=dict)
    """The last leader's WAL position as Patroni noted it, by cluster name, 0 where it is not beyond
    any replica's; only for the same clusters."""
    holders: Mapping[str, Known[str] | Unknown] = field(default_factory=dict)
    """The name of the member that answers at the virtual address, by cluster name: the one on the
    node which has the address. Only for clusters with one."""
