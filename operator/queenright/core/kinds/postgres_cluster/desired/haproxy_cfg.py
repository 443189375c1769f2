"""HAProxy's configuration: the listeners of spec: database-cluster §4.2, every number in it.

Decides the text from the document and the members' addresses. Servers are reached by host address,
not by a name that could go stale, and none is used before it has passed its checks: the proxy's
entry point starts it with a state file that has every server down.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.manifest.quantities import format_duration
from queenright.core.postgres.hba import OVERLAY_RANGE

STATE_FILE = "/tmp/haproxy.state"  # noqa: S108 (in the proxy's own tmpfs)
ROUTE_LUA_FILE = "/usr/local/etc/haproxy/queenright.lua"
LOOPBACK_RANGE = "127.0.0.0/8"
SERVER_PORT = "srv_name,field(2,.)"
"""The second part of a server's name, where members have several ways: its own port."""


class Way(NamedTuple):
    """The ports by which a member is reached: clients' way in, and that of the checks."""

    postgresql: int
    rest_api: int


def render_haproxy_cfg(
    cluster: PostgresCluster, addresses: Mapping[str, str], ways: Sequence[Way] = ()
) -> str:
    """The text of `haproxy.cfg`. `addresses` has each member's address by its name; KeyError where
    one is missing. `ways` are all ports by which a member may be reached while they are changed:
    each is then a server of its own, and up where both ports answer."""
    ports = cluster.spec.proxies.ports
    return "\n".join(
        (
            _head(cluster),
            _listener(
                cluster,
                addresses,
                # A refused client tries again at once: HAProxy's own retries would hold it for
                # seconds, at the server that was asked first, while another already leads.
                f"primary\n    bind *:{ports.primary}\n    retries 0",
                "/primary",
                ways,
            ),
            _listener(
                cluster,
                addresses,
                f"replicas\n    bind *:{ports.replicas}\n    balance roundrobin",
                "/replica",
                ways,
            ),
            _statistics(cluster),
        )
    )


def _head(cluster: PostgresCluster) -> str:
    proxies = cluster.spec.proxies
    timeouts = proxies.timeouts
    return f"""\
# HAProxy's configuration for cluster {cluster.metadata.name}, made from its manifest.
global
    log stdout format raw local0
    maxconn {proxies.max_connections}
    server-state-file {STATE_FILE}
    lua-load-per-thread {ROUTE_LUA_FILE}

defaults
    log global
    mode tcp
    option tcplog
    timeout connect {format_duration(timeouts.connect_s)}
    timeout client {format_duration(timeouts.client_s)}
    timeout server {format_duration(timeouts.server_s)}
    timeout check {format_duration(timeouts.check_s)}
    load-server-state-from-file global
"""


def _listener(
    cluster: PostgresCluster,
    addresses: Mapping[str, str],
    head: str,
    path: str,
    ways: Sequence[Way],
) -> str:
    spec = cluster.spec
    check = spec.proxies.check
    servers = "".join(_servers(cluster, addresses, ways))
    # Two ways can have the REST API's port in common: then only the other tells which is the
    # member's.
    connect = "    http-check connect\n" if len(ways) > 1 else ""
    send = f"    http-check send meth GET uri {path}\n" if len(ways) > 1 else ""
    opens_too = f"    http-check connect port {SERVER_PORT}\n" if len(ways) > 1 else ""
    return (
        f"listen {head}\n"
        f"    option httpchk GET {path}\n"
        f"{connect}{send}"
        f"    http-check expect status 200\n"
        f"{opens_too}"
        f"    default-server inter {format_duration(check.interval_s)} fall {check.fall}"
        f" rise {check.rise} maxconn {spec.proxies.max_connections_per_server}"
        f" on-marked-down shutdown-sessions\n"
        f"{servers}"
    )


def _servers(
    cluster: PostgresCluster, addresses: Mapping[str, str], ways: Sequence[Way]
) -> Iterator[str]:
    ports = cluster.spec.ports
    for member in cluster.spec.members:
        address = addresses[member.name]
        if len(ways) < 2:
            check = f"check port {ports.rest_api}"
            yield f"    server {member.name} {address}:{ports.postgresql} {check}\n"
            continue
        for sql, rest in ways:
            name = f"{member.name}.{sql}.{rest}"
            yield f"    server {name} {address}:{sql} check port {rest}\n"


def _statistics(cluster: PostgresCluster) -> str:
    proxies = cluster.spec.proxies
    # keepalived's check asks once a second: told apart by its method, and not worth a line each.
    quiet = "    http-request set-log-level silent if METH_HEAD\n" if cluster.spec.vip else ""
    allowed = f"{cluster.spec.lan_subnet} {OVERLAY_RANGE} {LOOPBACK_RANGE}"
    return f"""\
listen statistics
    bind *:{proxies.ports.statistics}
    mode http
    option httplog
{quiet}    http-request deny unless {{ src {allowed} }}
    stats enable
    stats uri /
    stats refresh {format_duration(proxies.statistics.refresh_s)}
    stats show-legends
"""
