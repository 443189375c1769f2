"""Every mistake that an application's edge can have, one a case, by the mistake's name.

The message for each is in tests/golden/manifest_errors.txt.
"""

from tests.support.documents import edited_app

IMAGE = "image: registry:5000/queenright-edge:2.6"
HTTPS, HTTP = "https://notes.example.org", "http://notes.example.org"


def edged(more: str = "", beside: str = "", origin: str = HTTPS) -> str:
    """An application whose edge has these further fields."""
    fields = f"{IMAGE}, {more}" if more else IMAGE
    return edited_app((HTTPS, origin), more=f"edge: {{{fields}}}\n{beside}".rstrip())


EDGE_CASES: dict[str, str] = {
    "edge a word": edited_app(more="edge: yes"),
    "edge without image": edited_app(more="edge: {nodes: [node2]}"),
    "edge image with capitals": edited_app(more="edge: {image: Registry/Edge:1}"),
    "edge field unknown": edged("tsl: internal"),
    "edge node a list": edged("nodes: [[node2]]"),
    "edge node twice": edged("nodes: [node2, node3, node2]"),
    "edge label with spaces": edged("nodes: [node2], label: my edge"),
    "edge label the replicas'": edged(
        "nodes: [node2], label: notes-node", "placement: {nodes: [node3]}"
    ),
    "edge replicas zero": edged("replicas: 0"),
    "edge replicas beside nodes": edged("nodes: [node2], replicas: 2"),
    "edge published nowhere": edged("publish: none"),
    "edge port zero": edged("ports: {http: 0}"),
    "edge port swarm's": edged("ports: {https: 2377}"),
    "edge ports equal": edged("ports: {http: 443}"),
    "edge tls unknown": edged("tls: letsencrypt"),
    "edge tls a switch": edged("tls: true"),
    "edge tls a list": edged("tls: [acme]"),
    "edge e-mail": edged("tls: {mode: acme, email: admin}"),
    "edge e-mail with a line": edged('tls: {mode: acme, email: "a@example.org\\n\\tadmin on"}'),
    "edge directory plain": edged("tls: {mode: acme, directory: 'http://ca.example.org/dir'}"),
    "edge directory with a brace": edged("tls: {mode: acme, directory: 'https://ca/{x}'}"),
    "edge root without directory": edged("tls: {mode: acme, directoryRoot: acme_root}"),
    "edge root's secret": edged("tls: {mode: acme, directoryRoot: a b}"),
    "edge e-mail for nobody": edged("tls: {mode: internal, email: a@example.org}"),
    "edge key for nobody": edged("tls: {mode: acme, key: notes_tls_key}"),
    "edge certificate without secrets": edged("tls: certificate"),
    "edge certificate without key": edged("tls: {mode: certificate, certificate: notes_tls}"),
    "edge certificate its own key": edged("tls: {mode: certificate, certificate: x, key: x}"),
    "edge key the application's": edged(
        "tls: {mode: certificate, certificate: notes_tls, key: app_encryption_key}"
    ),
    "edge on demand a number": edged("tls: {mode: acme, onDemand: 1}"),
    "edge on demand none": edged("tls: {mode: acme, onDemandPerMinute: 0}"),
    "edge https for a plain origin": edged(origin=HTTP),
    "edge plain for an https origin": edged("tls: 'off'"),
    "edge proxies with host bits": edged("trustedProxies: [192.0.2.1/28]"),
    "edge proxies no network": edged("trustedProxies: [proxy.example.org]"),
    "edge waits too long": edged("retry: 1h"),
    "edge memory below Docker's least": edged("memory: {limit: 1M, reservation: 1M}"),
    "edge memory below the reservation": edged("memory: {limit: 64M, reservation: 128M}"),
    "edge beside another header": edged(beside="addressHeader: X-Real-IP"),
    "edge beside another scheme": edged(beside="protocolHeader: X-Scheme"),
    "edge beside another host": edged(beside="hostHeader: X-Host"),
    "edge with more proxies than there are": edged(beside="xffDepth: 2"),
}

BEYOND = (
    *("edge node twice", "edge label the replicas'", "edge replicas beside nodes"),
    *("edge port swarm's", "edge ports equal", "edge root without directory"),
    *("edge e-mail for nobody", "edge key for nobody", "edge certificate without secrets"),
    *("edge certificate without key", "edge certificate its own key"),
    "edge key the application's",
    *("edge https for a plain origin", "edge plain for an https origin"),
    *("edge proxies with host bits", "edge waits too long", "edge beside another header"),
    *("edge memory below Docker's least", "edge memory below the reservation"),
    *("edge beside another scheme", "edge beside another host"),
    "edge with more proxies than there are",
)
"""Mistakes of more than one field, or in a number with its unit, which no schema refuses."""
