"""The virtual address in the swarm's terms: keepalived on every proxy node, in its own network.

Decides from the document and the nodes' addresses alone (spec: database-cluster §1.5, §2.6).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from queenright.core.kinds.postgres_cluster.checks.virtual_ip import VIP_NAME
from queenright.core.kinds.postgres_cluster.desired.keepalived_conf import (
    render_keepalived_conf,
    vrrp_identity,
)
from queenright.core.kinds.postgres_cluster.desired.services import (
    PROXY_LABEL_VALUE,
    SECRET_MODE,
    scratch,
    service_labels,
    service_name,
)
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.kinds.postgres_cluster.schema.virtual_ip import Vip
from queenright.core.manifest.quantities import MEBI
from queenright.core.swarm.digest import digest
from queenright.core.swarm.objects import (
    CLUSTER_LABEL,
    HOST_NETWORK,
    STACK_LABEL,
    VIP_ROLE,
    VRRP_LABEL,
    Attachment,
    Config,
    FileReference,
    Resources,
    RestartPolicy,
    Secret,
    Service,
    UpdatePolicy,
)

KEEPALIVED_TARGET = "/etc/keepalived/keepalived.conf"
PASSWORD_TARGET = "vrrp_pw"  # noqa: S105 (a file's name)

SCRATCH_BYTES = 4 * MEBI
STOP_GRACE_S = 10.0
RESTART_DELAY_S = 1.0
"""A node whose keepalived was killed still has the address: the next start removes it."""
UPDATE_DELAY_S = 10.0
"""Between two nodes: the first has passed its checks and heard the holder by then."""

CAPABILITIES = (
    "CAP_NET_ADMIN",
    "CAP_NET_BROADCAST",
    "CAP_NET_RAW",
    "CAP_SETGID",
    "CAP_SETUID",
)
"""Addresses and adverts; and the last two to run the check as nobody: without them keepalived
takes it for passed."""

NO_INTERFACE_STATUS = 6
"""Exit status of the image's entry point where the node has no such interface (ENXIO)."""


@dataclass(frozen=True, slots=True)
class DesiredVip:
    """The virtual address of one cluster. ``missing`` are proxy nodes whose address is not known:
    while there are any, nobody knows all peers, and what is deployed stays as it is."""

    address: str
    interface: str
    service: Service
    config: Config
    secret: Secret | None
    missing: tuple[str, ...] = ()


def vip_of(cluster: PostgresCluster, nodes: Mapping[str, str]) -> DesiredVip | None:
    """Desired virtual address; ``nodes`` has the nodes' addresses by name."""
    vip, scope = cluster.spec.vip, cluster.metadata.name
    if vip is None:
        return None
    found = {**nodes, **{m.node: m.address for m in cluster.spec.members if m.address}}
    named = {node: found.get(node, "") for node in cluster.spec.proxies.nodes}
    known = {node: address for node, address in named.items() if address}
    owned = {CLUSTER_LABEL: scope}
    text = render_keepalived_conf(cluster, vip, known)
    config = Config(f"{scope}_keepalived-{digest(text)}", text.encode(), owned)
    return DesiredVip(
        address=vip.address,
        interface=vip.interface,
        service=vip_service(cluster, vip, config.name, vrrp_identity(cluster, vip, known)),
        config=config,
        secret=Secret(vip.secret, owned) if vip.has_password else None,
        missing=tuple(node for node in named if node not in known),
    )


def vip_service(cluster: PostgresCluster, vip: Vip, config: str, identity: str) -> Service:
    """keepalived's global service. A service's tmpfs, and not a stack file's, is what swarm
    honours; the engine's ``no-new-privileges`` is not in its API for services before 1.46."""
    scope, memory = cluster.metadata.name, vip.memory
    return Service(
        name=service_name(scope, VIP_NAME),
        image=vip.image,
        mode="global",
        labels={**service_labels(scope, VIP_ROLE), VRRP_LABEL: digest(identity)},
        container_labels={CLUSTER_LABEL: scope, STACK_LABEL: scope},
        environment={"NODE_NAME": "{{.Node.Hostname}}"},
        read_only=True,
        stop_grace_s=STOP_GRACE_S,
        capabilities_added=CAPABILITIES,
        capabilities_dropped=("ALL",),
        networks=(Attachment(HOST_NETWORK),),
        constraints=(f"node.labels.{cluster.spec.node_labels.proxy}=={PROXY_LABEL_VALUE}",),
        endpoint_mode="dnsrr",
        mounts=(
            scratch("/run", SCRATCH_BYTES),
            scratch("/tmp", SCRATCH_BYTES),  # noqa: S108  # a mount of its own
        ),
        configs=(FileReference(config, KEEPALIVED_TARGET),),
        secrets=(FileReference(vip.secret, PASSWORD_TARGET, mode=SECRET_MODE),)
        if vip.has_password
        else (),
        resources=Resources(memory.limit_bytes, memory.reservation_bytes),
        restart=RestartPolicy("any", RESTART_DELAY_S),
        update=UpdatePolicy(delay_s=UPDATE_DELAY_S),
    )
