"""HAProxy's configuration: the listeners of spec: database-cluster §4.2, every number in it.

Decides the text from the document and the members' addresses. Servers are reached by host address,
not by a name that could go stale, and none is used before it has passed its checks: the proxy's
entry point starts it with a state file that has every server down.
"""

from collections.abc import Mapping

from queenright.core.spec.access_rules import OVERLAY_RANGE
from queenright.core.spec.postgres_cluster import PostgresCluster
from queenright.core.spec.quantities import format_duration

STATE_FILE = "/tmp/haproxy.state"  # noqa: S108 (in the proxy's own tmpfs)
ROUTE_LUA_FILE = "/usr/local/etc/haproxy/queenright.lua"
LOOPBACK_RANGE = "127.0.0.0/8"


def render_haproxy_cfg(cluster: PostgresCluster, addresses: Mapping[str, str]) -> str:
    """The text of `haproxy.cfg`. `addresses` has each member's address by its name; KeyError where
    one is missing."""
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
            ),
            _listener(
                cluster,
                addresses,
                f"replicas\n    bind *:{ports.replicas}\n    balance roundrobin",
                "/replica",
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


def _listener(cluster: PostgresCluster, addresses: Mapping[str, str], head: str, path: str) -> str:
    spec = cluster.spec
    check = spec.proxies.check
    servers = "".join(
        f"    server {member.name} {addresses[member.name]}:{spec.ports.postgresql}"
        f" check port {spec.ports.rest_api}\n"
        for member in spec.members
    )
    return (
        f"listen {head}\n"
        f"    option httpchk GET {path}\n"
        f"    http-check expect status 200\n"
        f"    default-server inter {format_duration(check.interval_s)} fall {check.fall}"
        f" rise {check.rise} maxconn {spec.proxies.max_connections_per_server}"
        f" on-marked-down shutdown-sessions\n"
        f"{servers}"
    )


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
