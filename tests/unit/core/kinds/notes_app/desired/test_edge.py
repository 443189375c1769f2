"""An application's edge in the swarm's terms, and what it asks of the application."""

import pytest

from queenright.core.kinds.notes_app.desired.app import SwarmFacts, expand_app
from queenright.core.kinds.notes_app.desired.edge import EDGE_ID
from queenright.core.kinds.notes_app.schema.app import NotesApp
from queenright.core.swarm.objects import APP_LABEL, CLUSTER_LABEL, NodeLabels, Port, Service
from tests.support.documents import document, edited_app

IMAGE = "registry:5000/queenright-edge:2.6"


def app_of(edge: str = "", more: str = "") -> NotesApp:
    fields = f"image: {IMAGE}, {edge}" if edge else f"image: {IMAGE}"
    return document(edited_app(more=f"edge: {{{fields}}}\n{more}")).resource


def edge_of(edge: str = "", more: str = "") -> Service:
    (service,) = expand_app(app_of(edge, more), None, SwarmFacts()).others
    return service


def variables(edge: str = "", more: str = "") -> dict[str, str]:
    environment = expand_app(app_of(edge, more), None, SwarmFacts()).web.environment
    headers = ("ADDRESS_HEADER", "XFF_DEPTH", "PROTOCOL_HEADER", "HOST_HEADER")
    return {name: environment[name] for name in headers if name in environment}


def test_without_it_there_is_nothing() -> None:
    desired = expand_app(document(edited_app()).resource, None, SwarmFacts())
    assert (desired.others, desired.configs, desired.node_labels) == ((), (), ())
    assert "PROTOCOL_HEADER" not in desired.web.environment
    assert "ADDRESS_HEADER" not in desired.web.environment


def test_the_application_believes_what_the_edge_overwrites() -> None:
    """The typical set (spec: notes-app §2.1)."""
    typical = {
        "ADDRESS_HEADER": "X-Forwarded-For",
        "XFF_DEPTH": "1",
        "PROTOCOL_HEADER": "X-Forwarded-Proto",
    }
    assert variables() == typical
    assert variables("trustedProxies: [192.0.2.0/28]") == {**typical, "XFF_DEPTH": "2"}
    assert variables("trustedProxies: [192.0.2.0/28]", "xffDepth: 3")["XFF_DEPTH"] == "3"
    assert expand_app(app_of(), None, SwarmFacts()).web.ports == (), "the edge is the only way in"


def test_it_is_hardened() -> None:
    service = edge_of()
    assert service.read_only
    assert service.capabilities_dropped == ("ALL",)
    assert service.capabilities_added == ()
    assert service.user == "", "the image's own, 10002"
    assert {mount.target: (mount.kind, mount.source) for mount in service.mounts} == {
        "/data": ("volume", "notes_edge-data"),
        "/tmp": ("tmpfs", ""),
    }
    assert service.labels[APP_LABEL] == "notes"
    assert CLUSTER_LABEL not in service.labels


def test_one_a_node_or_so_many() -> None:
    service = edge_of("nodes: [node3, node2]")
    assert service.mode == "global"
    assert service.constraints == ("node.labels.notes-edge-node==true",)
    assert service.update.order == "stop-first"
    desired = expand_app(
        app_of("nodes: [node2]", "placement: {nodes: [node2, node3]}"), None, SwarmFacts()
    )
    assert desired.node_labels == (
        NodeLabels("node2", {"notes-node": "true", "notes-edge-node": "true"}),
        NodeLabels("node3", {"notes-node": "true"}),
    )
    service = edge_of("replicas: 3")
    assert (service.mode, service.replicas, service.constraints) == ("replicated", 3, ())


@pytest.mark.parametrize(
    ("edge", "ports", "endpoint", "order"),
    [
        ("", (Port(80, 8080), Port(443, 8443)), "dnsrr", "stop-first"),
        ("ports: {http: 8000, https: 444}", (Port(444, 8443), Port(8000, 8080)), "dnsrr",
         "stop-first"),
        ("tls: 'off', trustedProxies: [192.0.2.0/28]", (Port(80, 8080),), "dnsrr", "stop-first"),
        ("publish: ingress", (Port(80, 8080, mode="ingress"), Port(443, 8443, mode="ingress")),
         "vip", "start-first"),
    ],
)  # fmt: skip
def test_its_ports(edge: str, ports: tuple[Port, ...], endpoint: str, order: str) -> None:
    service = edge_of(edge)
    assert (service.ports, service.endpoint_mode, service.update.order) == (ports, endpoint, order)


def test_it_has_the_secrets_that_it_needs() -> None:
    given = "tls: {mode: certificate, certificate: cert, key: key}"
    service = edge_of(given)
    assert [(file.name, file.target, file.uid, file.mode) for file in service.secrets] == [
        ("cert", "edge_tls_certificate", EDGE_ID, 0o400),
        ("key", "edge_tls_key", EDGE_ID, 0o400),
    ]
    assert not [mount for mount in service.mounts if mount.kind == "volume"]
    assert {"cert", "key"} <= {*expand_app(app_of(given), None, SwarmFacts()).given_secrets}
    root = edge_of("tls: {mode: acme, directory: 'https://ca.lan/acme', directoryRoot: root}")
    assert [file.target for file in root.secrets] == ["edge_acme_root"]


def test_it_has_longer_to_end_than_its_requests() -> None:
    assert edge_of(more="shutdownTimeout: 25s\nstopGracePeriod: 40s").stop_grace_s == 35


def test_its_environment_says_where_the_application_is() -> None:
    assert edge_of("retry: 7s", "port: 3001").environment == {
        "APP_SERVICE": "notes_web",
        "APP_PORT": "3001",
        "EDGE_RETRIES": "7",
    }


def test_another_configuration_is_another_service() -> None:
    one, other = edge_of("tls: internal"), edge_of("tls: {mode: internal, onDemand: false}")
    assert one.configs != other.configs
    assert one == edge_of("tls: internal")
