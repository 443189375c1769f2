"""The proxies of a cluster: the fields of spec: database-cluster §4.2, with its values."""

from pydantic import Field

from queenright.core.kinds.postgres_cluster.schema.containers import (
    ProxyMemory,
    ProxyRestartPolicy,
    ProxyTmpfs,
)
from queenright.core.manifest.model import Part, Sequence
from queenright.core.manifest.names import Image, NodeName, Port
from queenright.core.manifest.quantities import Duration, Seconds

MOST_S = 24 * 86400
"""HAProxy counts milliseconds in 31 bits: just under 25 days."""


class ProxyPorts(Part):
    """The proxies' listeners, published in host mode (spec: database-cluster §2.6)."""

    primary: Port = Field(default=5000, description="Read-write: routed to the leader.")
    replicas: Port = Field(default=5001, description="Read-only: round-robin over the replicas.")
    statistics: Port = Field(default=7000, description="The statistics page.")


class ProxyTimeouts(Part):
    """HAProxy's timeouts (spec: database-cluster §4.2, §8)."""

    connect_s: Duration = Field(default=5, le=MOST_S, description="Time to reach a member.")
    client_s: Duration = Field(
        default=1800, le=MOST_S, description="Silence after which a client is cut off."
    )
    server_s: Duration = Field(
        default=1800, le=MOST_S, description="Silence after which a member is cut off."
    )
    check_s: Duration = Field(
        default=3,
        le=MOST_S,
        description="Time in which a health check has to answer. Above the check interval it makes "
        "a dead host slower to notice.",
    )


class ProxyCheck(Part):
    """Health checks of the members, by their REST API (spec: database-cluster §4.2, §8)."""

    interval_s: Duration = Field(default=3, le=MOST_S, description="Time between two checks.")
    fall: int = Field(
        default=3, ge=1, le=100, description="Failures in a row that take a member out."
    )
    rise: int = Field(
        default=2, ge=1, le=100, description="Successes in a row that take it in again."
    )


class ProxyUpdate(Part):
    """Policy by which swarm replaces the proxies, one node after the other."""

    delay_s: Duration = Field(
        default=10,
        le=MOST_S,
        description="Wait between two replacements, in which the first proxy passes its checks: a "
        "proxy routes nowhere before.",
    )


class Statistics(Part):
    """The statistics page (spec: database-cluster §4.2)."""

    refresh_s: Seconds = Field(default=5, description="Time after which the page reloads itself.")


class Proxies(Part):
    """Role-aware TCP proxies, one on each of their nodes (spec: database-cluster §2.7, §4.2)."""

    image: Image = Field(
        description="The proxy image.", examples=["10.77.0.1:5000/queenright-proxy:3.0-alpine"]
    )
    nodes: Sequence[NodeName] = Field(
        default=(),
        description="Nodes that run a proxy, by hostname. Default: the members' nodes.",
        json_schema_extra={"default": None},
        examples=[["node2", "node3", "node4"]],
    )
    ports: ProxyPorts = Field(
        default=ProxyPorts(), description="The listeners' ports on every proxy node (spec: §2.6)."
    )
    max_connections: int = Field(
        default=500,
        ge=1,
        le=1_000_000,
        description="Connections that a proxy takes in all (spec: §4.2).",
    )
    max_connections_per_server: int = Field(
        default=200,
        ge=1,
        le=1_000_000,
        description="Connections that a proxy passes to one member (spec: §4.2); the database's "
        "own `max_connections` bounds them too.",
    )
    timeouts: ProxyTimeouts = Field(
        default=ProxyTimeouts(), description="HAProxy's timeouts (spec: §4.2)."
    )
    check: ProxyCheck = Field(default=ProxyCheck(), description="Health checks (spec: §4.2).")
    update: ProxyUpdate = Field(default=ProxyUpdate(), description="How proxies are replaced.")
    statistics: Statistics = Field(
        default=Statistics(), description="The statistics page (spec: §4.2)."
    )
    memory: ProxyMemory = Field(
        default=ProxyMemory(), description="Memory of each proxy (spec: §8)."
    )
    tmpfs: ProxyTmpfs = Field(
        default=ProxyTmpfs(), description="Sizes of the memory-backed mounts (spec: §2.7)."
    )
    restart_policy: ProxyRestartPolicy = Field(
        default=ProxyRestartPolicy(), description="When a failed proxy is started again (spec: §8)."
    )
    stop_grace_period_s: Seconds = Field(
        default=10,
        description="Time between SIGTERM and SIGKILL. A stopped proxy serves for two seconds "
        "more, in which the virtual address leaves its node, and then cuts its sessions.",
    )
