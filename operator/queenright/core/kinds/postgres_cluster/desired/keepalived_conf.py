"""keepalived's configuration: one virtual address between the proxies' nodes.

Decides the text from the document and the nodes' addresses. One text serves all nodes: a line that
begins with ``@<node>`` counts on that node alone, ``@^<node>`` on all others (keepalived's own
conditional configuration, by its ``--config-id``). For one node alone it is written out.
Invariant: no password is in it; it includes a file that has the one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.kinds.postgres_cluster.schema.virtual_ip import Vip

PASSWORD_FILE = "/run/queenright/authentication.conf"  # noqa: S105 (a path)
"""Written by the image's entry point, in its own tmpfs."""
HOST_PASSWORD_FILE = "/etc/keepalived/authentication.conf"  # noqa: S105 (a path)
CHECK = "/usr/local/bin/check-proxy"

HIGHEST_PRIORITY = 200
STEP = 20
"""Priorities go down from here. A backup waits (256 - priority) / 256 of an interval longer than
its adverts (RFC 3768: skew time): the first is kept well apart from the next, and a late advert
from a takeover."""
PAUSE_S = 0.1
"""Between two questions of one check."""


def priorities(cluster: PostgresCluster) -> dict[str, int]:
    """Priority of each proxy node.

    First the nodes of members, as these are preferred for the leadership (spec: database-cluster
    §1.7), then the others as listed.
    """
    preferred = {member.node: member.failover_priority for member in cluster.spec.members}
    nodes = cluster.spec.proxies.nodes
    ranked = sorted(nodes, key=lambda node: -preferred.get(node, 0))
    step = max(1, min(STEP, (HIGHEST_PRIORITY - 1) // max(1, len(nodes))))
    return {node: max(1, HIGHEST_PRIORITY - step * rank) for rank, node in enumerate(ranked)}


def render_keepalived_conf(cluster: PostgresCluster, vip: Vip, nodes: Mapping[str, str]) -> str:
    """The text for all nodes; ``nodes`` has each proxy node's address by its name."""
    name, check = cluster.metadata.name, vip.check
    longest_s = check.fall * (check.timeout_s + PAUSE_S)
    asked = f"{cluster.spec.proxies.ports.statistics} {check.fall} {check.timeout_s:g}"
    password = (
        f"    authentication {{\n        auth_type PASS\n        include {PASSWORD_FILE}\n    }}\n"
        if vip.has_password
        else ""
    )
    return f"""\
# keepalived's configuration for the virtual address of cluster {name}, made from its manifest.
global_defs {{
{by_node("    ", {node: f"router_id {name}-{node}" for node in nodes})}\
    script_user nobody
    enable_script_security
}}

# Exit status 0 while the node's own proxy answers; whether there is a leader does not matter.
vrrp_script proxy {{
{by_node("    ", {n: f'script "{CHECK} {a} {asked}"' for n, a in nodes.items()})}\
    interval {check.interval_s}
    timeout {math.ceil(longest_s) + 1}
    fall 1
    rise {check.rise}
    init_fail
}}

vrrp_instance {name} {{
    version {2 if vip.has_password else 3}
    state BACKUP
    interface {vip.interface}
    virtual_router_id {vip.router_id}
{by_node("    ", {node: f"priority {priority}" for node, priority in priorities(cluster).items()})}\
    advert_int {vip.advert_s:g}
    down_timer_adverts {vip.adverts}
{"" if vip.preempt else "    nopreempt" + chr(10)}\
{_peers(vip, nodes)}\
{password}\
    garp_master_delay 1
    garp_master_refresh 30
    virtual_ipaddress {{
        {vip.address}/{vip.prefix_length} dev {vip.interface}
    }}
    track_script {{
        proxy
    }}
}}
"""


def _peers(vip: Vip, nodes: Mapping[str, str]) -> str:
    if vip.peers == "multicast" or len(nodes) < 2:
        return ""
    own = by_node("    ", {node: f"unicast_src_ip {address}" for node, address in nodes.items()})
    others = "".join(f"        @^{node} {address}\n" for node, address in nodes.items())
    return f"{own}    check_unicast_src\n    unicast_peer {{\n{others}    }}\n"


def by_node(indent: str, lines: Mapping[str, str]) -> str:
    return "".join(f"{indent}@{node} {line}\n" for node, line in lines.items())


def for_node(text: str, node: str) -> str:
    """The text as keepalived reads it on one node, without conditional lines."""
    kept = []
    for line in text.splitlines():
        found = re.match(r"^(\s*)@(\^?)(\S+) (.*)$", line)
        if found is None:
            kept.append(line)
        elif (found[3] == node) != bool(found[2]):
            kept.append(found[1] + found[4])
    return "\n".join(kept) + "\n"


def for_host(text: str, node: str) -> str:
    """The same for a keepalived that is a daemon of the host."""
    return for_node(text, node).replace(PASSWORD_FILE, HOST_PASSWORD_FILE)


def vrrp_identity(cluster: PostgresCluster, vip: Vip, nodes: Mapping[str, str]) -> str:
    """Settings that must be equal on all nodes.

    Nodes that differ in one of them don't hear each other, and each would hold the address.
    """
    peers = " ".join(nodes.values()) if vip.peers == "unicast" else "multicast"
    version = 2 if vip.has_password else 3
    secret = vip.secret if vip.has_password else ""
    return f"{vip.router_id} v{version} {vip.advert_s:g}s {vip.interface} {secret} {peers}".strip()
