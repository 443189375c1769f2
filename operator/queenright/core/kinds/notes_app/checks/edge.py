"""Checks of an application's edge that need more than one field.

Decides from one valid `NotesApp`; without `edge:` there are no findings. What would let clients
forge headers, or leave the site without its forms or certificates, is an error.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

from queenright.core.kinds.notes_app.schema.app import NotesApp
from queenright.core.kinds.notes_app.schema.edge import Edge
from queenright.core.kinds.postgres_cluster.checks.cluster import SWARM_PORTS
from queenright.core.manifest.memory_checks import memory_findings
from queenright.core.manifest.problems import Finding, Path

_EDGE: Path = ("spec", "edge")
_TLS: Path = (*_EDGE, "tls")
_PORTS: Path = (*_EDGE, "ports")
_TRUSTED: Path = (*_EDGE, "trustedProxies")
_ORIGIN: Path = ("spec", "origin")

OVERWRITTEN = {
    "protocolHeader": "X-Forwarded-Proto",
    "hostHeader": "X-Forwarded-Host",
    "addressHeader": "X-Forwarded-For",
}
"""The headers that the edge overwrites, by the field that can name one."""
_FIELDS_OF_MODE = {
    "email": "acme",
    "directory": "acme",
    "directoryRoot": "acme",
    "certificate": "certificate",
    "key": "certificate",
}


def check_edge(app: NotesApp) -> Iterator[Finding]:
    """Every finding of every check of the edge."""
    if app.spec.edge is not None:
        for check in EDGE_CHECKS:
            yield from check(app, app.spec.edge)


def _headers(app: NotesApp, edge: Edge) -> Iterator[Finding]:
    """Only what the edge overwrites is believed."""
    spec = app.spec
    for field, written in (
        ("protocolHeader", spec.protocol_header),
        ("hostHeader", spec.host_header),
        ("addressHeader", spec.address_header),
    ):
        wanted = OVERWRITTEN[field]
        if written is not None and written.lower() != wanted.lower():
            message = (
                f'"{written}" is passed on as clients send it: the edge overwrites {wanted}; write '
                "that, or leave the field out"
            )
            yield Finding(("spec", field), message, involves=(_EDGE,))
    if spec.xff_depth > 1 and not edge.trusted_proxies:
        message = (
            f"{spec.xff_depth} is more proxies than there are: the edge passes on one address, the "
            "client's own; leave it out, or name the proxies in edge.trustedProxies"
        )
        yield Finding(("spec", "xffDepth"), message, involves=(_TRUSTED,))


def _origin(app: NotesApp, edge: Edge) -> Iterator[Finding]:
    """The address that clients are given is one that the edge serves."""
    origin = urlsplit(app.spec.origin)
    mode: Path = (*_TLS, "mode")
    if edge.tls.mode != "off" and origin.scheme == "http":
        message = f'"{app.spec.origin}" is plain HTTP, and the edge serves https: write that'
        yield Finding(_ORIGIN, message, involves=(mode,))
    elif edge.tls.mode == "off" and origin.scheme == "https" and not edge.trusted_proxies:
        message = (
            "off serves plain HTTP, so that the application refuses the forms of "
            f'"{app.spec.origin}"; name the proxies that have its TLS in edge.trustedProxies, or '
            "write an http origin"
        )
        yield Finding(mode, message, involves=(_ORIGIN, _TRUSTED))
    if edge.trusted_proxies:
        return  # the ports are those of the proxies before it
    served = edge.ports.https if origin.scheme == "https" else edge.ports.http
    port = origin.port or (443 if origin.scheme == "https" else 80)
    if (
        (edge.tls.mode == "off") == (origin.scheme == "http")
        and port != served
        and served not in SWARM_PORTS
    ):
        message = (
            f'{served} is not where "{app.spec.origin}" leads (port {port}), unless somebody '
            "forwards it"
        )
        yield Finding((*_PORTS, origin.scheme), message, "warning", (_ORIGIN,))


def _certificates(_: NotesApp, edge: Edge) -> Iterator[Finding]:
    tls = edge.tls
    written = {
        "email": tls.email,
        "directory": tls.directory,
        "directoryRoot": tls.directory_root,
        "certificate": tls.certificate,
        "key": tls.key,
    }
    mode: Path = (*_TLS, "mode")
    for field, value in written.items():
        if value is not None and tls.mode != _FIELDS_OF_MODE[field]:
            message = f"has no effect with mode {tls.mode}; it is for {_FIELDS_OF_MODE[field]}"
            yield Finding((*_TLS, field), message, involves=(mode,))
    for field in ("certificate", "key"):
        if tls.mode == "certificate" and written[field] is None:
            message = f"certificate needs the swarm secret with the {field}: write tls.{field}"
            yield Finding(mode, message, involves=((*_TLS, field),))
    if tls.certificate is not None and tls.certificate == tls.key:
        message = f'"{tls.key}" is also tls.certificate; each has a secret of its own'
        yield Finding((*_TLS, "key"), message, involves=((*_TLS, "certificate"),))
    if tls.directory_root is not None and tls.directory is None and tls.mode == "acme":
        message = "has no effect without tls.directory, whose certificate it vouches for"
        yield Finding((*_TLS, "directoryRoot"), message, involves=((*_TLS, "directory"),))


def _ports(_: NotesApp, edge: Edge) -> Iterator[Finding]:
    ports = edge.ports
    for field, port in (("http", ports.http), ("https", ports.https)):
        if port in SWARM_PORTS:
            yield Finding((*_PORTS, field), f"{port} is taken on every node by {SWARM_PORTS[port]}")
    if ports.http == ports.https and edge.tls.mode != "off":
        message = f"{ports.https} is also ports.http; write another port"
        yield Finding((*_PORTS, "https"), message, involves=((*_PORTS, "http"),))
    is_public = edge.tls.mode == "acme" and edge.tls.directory is None
    if is_public and ports.http != 80 and ports.https != 443:
        message = (
            "acme: a public authority asks at port 80 or 443 of the main host; forward one of "
            f"them to {ports.http} or {ports.https}"
        )
        yield Finding(_PORTS, message, "warning", ((*_TLS, "mode"),))


def _places(app: NotesApp, edge: Edge) -> Iterator[Finding]:
    nodes: Path = (*_EDGE, "nodes")
    for node, count in Counter(edge.nodes).items():
        if count > 1:
            index = len(edge.nodes) - 1 - edge.nodes[::-1].index(node)
            yield Finding((*nodes, index), f'"{node}" is listed twice; remove one')
    if edge.nodes and edge.replicas != 1:
        message = "has no effect with edge.nodes, each of which runs one; remove one of the two"
        yield Finding((*_EDGE, "replicas"), message, involves=(nodes,))
    if edge.nodes and edge.label == app.spec.placement.label and app.spec.placement.nodes:
        message = f'"{edge.label}" is also placement.label; write another key'
        involved: tuple[Path, ...] = (("spec", "placement", "label"),)
        yield Finding((*_EDGE, "label"), message, involves=involved)
    count = len(set(edge.nodes)) or edge.replicas
    if count > 1 and edge.tls.mode == "internal":
        message = (
            "internal: each of the edges has a CA of its own, and clients have to trust them all; "
            "give them one certificate by mode: certificate"
        )
        yield Finding((*_TLS, "mode"), message, "warning", (nodes, (*_EDGE, "replicas")))
    if count > 1 and edge.tls.mode == "acme":
        message = (
            f"acme: each of the {count} edges gets certificates of its own, and the authority may "
            "ask one of them for the token of another; run one edge, or give them one certificate "
            "by mode: certificate"
        )
        yield Finding((*_TLS, "mode"), message, "warning", (nodes, (*_EDGE, "replicas")))
    if edge.publish == "ingress":
        message = (
            "ingress hides the clients' addresses from the edge: all share one allowance of "
            "logins; host shows them"
        )
        yield Finding((*_EDGE, "publish"), message, "warning")


def _memory(_: NotesApp, edge: Edge) -> Iterator[Finding]:
    yield from memory_findings((*_EDGE, "memory"), edge.memory)


EDGE_CHECKS: tuple[Callable[[NotesApp, Edge], Iterator[Finding]], ...] = (
    _headers,
    _origin,
    _certificates,
    _ports,
    _places,
    _memory,
)
