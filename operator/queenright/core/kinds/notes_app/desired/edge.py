"""Edge of an application: its service, its configuration, and settings of the replicas.

Decides every property from the document alone (spec: notes-app, Reverse proxy requirements).
Invariants: without `edge:` there is nothing; the variables that make the application trust
forwarded headers are set exactly where the edge overwrites them (spec: §2.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from queenright.core.kinds.notes_app.desired.caddyfile import (
    CERTIFICATE_FILE,
    DIRECTORY_ROOT_FILE,
    HTTP_PORT,
    HTTPS_PORT,
    KEY_FILE,
    render_caddyfile,
)
from queenright.core.kinds.notes_app.schema.app import NotesApp
from queenright.core.kinds.notes_app.schema.edge import Edge
from queenright.core.kinds.postgres_cluster.desired.services import (
    SECRET_MODE,
    scratch,
    service_name,
)
from queenright.core.manifest.quantities import MEBI
from queenright.core.swarm.digest import digest
from queenright.core.swarm.objects import (
    APP_LABEL,
    ROLE_LABEL,
    STACK_LABEL,
    Attachment,
    Config,
    FileReference,
    HealthCheck,
    Mount,
    NodeLabels,
    Port,
    Resources,
    RestartPolicy,
    Service,
    UpdatePolicy,
)

EDGE_ROLE = "edge"
"""Value of ``ROLE_LABEL`` on the edge's service."""
EDGE_ID = "10002"
"""User and group of the edge in its image (images/edge/Dockerfile)."""
CADDYFILE = "/etc/caddy/Caddyfile"
DATA = "/data"
"""Directory of certificates, their keys and the ACME account, each node with its own."""
TMP_BYTES = 16 * MEBI
ENDING_S = 10.0
"""Time that the edge has to end, beyond that of its requests."""
UPDATE_DELAY_S = 10.0
"""Between two edges' replacements, so that a monitor can see that the first one serves."""


def edge_name(app: str) -> str:
    return service_name(app, "edge")


def edge_config(app: NotesApp, edge: Edge) -> Config:
    name = app.metadata.name
    text = render_caddyfile(app, edge)
    return Config(f"{name}_caddyfile-{digest(text)}", text.encode(), {APP_LABEL: name})


def edge_configs(app: NotesApp) -> tuple[Config, ...]:
    """The edge's configuration; none without an edge."""
    edge = app.spec.edge
    return (edge_config(app, edge),) if edge else ()


def edge_services(app: NotesApp) -> tuple[Service, ...]:
    """The edge's service; none without an edge."""
    edge = app.spec.edge
    return (edge_service(app, edge),) if edge else ()


def edge_secrets(app: NotesApp) -> tuple[str, ...]:
    """The secrets that somebody has to give it."""
    edge = app.spec.edge
    return tuple(name for name, _ in _given_files(edge)) if edge else ()


def edge_node_labels(app: NotesApp) -> tuple[NodeLabels, ...]:
    """The mark of the nodes that run an edge each."""
    edge = app.spec.edge
    if not edge:
        return ()
    return tuple(NodeLabels(node, {edge.label: "true"}) for node in sorted(set(edge.nodes)))


def merged_labels(labels: Iterable[NodeLabels]) -> tuple[NodeLabels, ...]:
    """One entry a node, with all that is wanted of it."""
    merged: dict[str, dict[str, str | None]] = {}
    for entry in labels:
        merged.setdefault(entry.node, {}).update(entry.labels)
    return tuple(NodeLabels(node, wanted) for node, wanted in sorted(merged.items()))


def edge_service(app: NotesApp, edge: Edge) -> Service:
    """Every property of the edge's service."""
    name, spec = app.metadata.name, app.spec
    is_host = edge.publish == "host"
    return Service(
        name=edge_name(name),
        image=edge.image,
        mode="global" if edge.nodes else "replicated",
        replicas=1 if edge.nodes else edge.replicas,
        labels={APP_LABEL: name, STACK_LABEL: name, ROLE_LABEL: EDGE_ROLE},
        container_labels={APP_LABEL: name, STACK_LABEL: name},
        environment=_environment(app, edge),
        init=True,
        read_only=True,
        stop_grace_s=spec.shutdown_timeout_s + ENDING_S,
        capabilities_dropped=("ALL",),
        networks=(Attachment(spec.network.name, ("edge",)),),
        constraints=(f"node.labels.{edge.label}==true",) if edge.nodes else (),
        endpoint_mode="dnsrr" if is_host else "vip",
        ports=_ports(edge),
        mounts=tuple(sorted(_mounts(name, edge))),
        configs=(
            FileReference(edge_config(app, edge).name, CADDYFILE, EDGE_ID, EDGE_ID, SECRET_MODE),
        ),
        secrets=tuple(
            sorted(
                FileReference(secret, target, EDGE_ID, EDGE_ID, SECRET_MODE)
                for secret, target in _given_files(edge)
            )
        ),
        health_check=HealthCheck(
            test=(), interval_s=5.0, timeout_s=5.0, start_period_s=15.0, retries=3
        ),
        resources=Resources(edge.memory.limit_bytes, edge.memory.reservation_bytes),
        restart=RestartPolicy(condition="any", delay_s=2.0),
        update=UpdatePolicy(
            delay_s=UPDATE_DELAY_S,
            # A port in host mode is free only when the old edge is gone.
            order="stop-first" if is_host or edge.nodes else "start-first",
            monitor_s=15.0,
        ),
    )


def _environment(app: NotesApp, edge: Edge) -> Mapping[str, str]:
    return {
        "APP_SERVICE": service_name(app.metadata.name, "web"),
        "APP_PORT": str(app.spec.port),
        "EDGE_RETRIES": str(edge.retry_s),
    }


def _ports(edge: Edge) -> tuple[Port, ...]:
    http = Port(edge.ports.http, HTTP_PORT, mode=edge.publish)
    https = Port(edge.ports.https, HTTPS_PORT, mode=edge.publish)
    return (http,) if edge.tls.mode == "off" else tuple(sorted((http, https)))


def _mounts(app: str, edge: Edge) -> Iterable[Mount]:
    yield scratch("/tmp", TMP_BYTES)  # noqa: S108 (its only writable place beside the volume)
    if edge.tls.mode in {"acme", "internal"}:
        yield Mount(DATA, source=f"{edge_name(app)}-data")


def _given_files(edge: Edge) -> tuple[tuple[str, str], ...]:
    """Names of the given secrets, and of the files that they are mounted as."""
    tls = edge.tls
    files = {
        "certificate": ((tls.certificate, CERTIFICATE_FILE), (tls.key, KEY_FILE)),
        "acme": ((tls.directory_root, DIRECTORY_ROOT_FILE),),
    }.get(tls.mode, ())
    return tuple((secret, target) for secret, target in files if secret)
