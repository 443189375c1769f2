"""Fields of the edge of a notes application: the reverse proxy that its clients connect to.

A field for each choice that the contract leaves (spec: notes-app, Reverse proxy requirements, §8);
what leaves no choice, such as the headers that are overwritten, has none. Checks of several fields
are in `checks.edge`.
"""

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from queenright.core.manifest.model import Part, Sequence, Worded
from queenright.core.manifest.names import Image, LabelKey, Network, NodeName, Port, SecretName
from queenright.core.manifest.quantities import MEBI, Seconds, Size
from queenright.core.manifest.suggestions import UnfitValueError, describe

EMAIL = r"^[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$"
DIRECTORY = r"^https://[A-Za-z0-9.-]+(:[1-9][0-9]{0,4})?(/[A-Za-z0-9._~/-]*)?$"


def _email(value: str) -> str:
    if len(value) > 254 or not re.fullmatch(EMAIL, value):
        raise UnfitValueError(f"{describe(value)} is not an address such as admin@example.org")
    return value


def _directory(value: str) -> str:
    if len(value) > 2000 or not re.fullmatch(DIRECTORY, value):
        raise UnfitValueError(
            f"{describe(value)} is not the https URL of an ACME directory such as "
            "https://ca.example.org/acme/directory"
        )
    return value


Email = Annotated[str, AfterValidator(_email), WithJsonSchema({"type": "string", "pattern": EMAIL})]
"""An e-mail address, in the plain form that certificate authorities take."""

DirectoryUrl = Annotated[
    str, AfterValidator(_directory), WithJsonSchema({"type": "string", "pattern": DIRECTORY})
]
"""The https URL of an ACME server's directory."""


class EdgeTls(Worded):
    """Origin of the certificates."""

    WORD: ClassVar[str] = "mode"

    mode: Literal["acme", "internal", "certificate", "off"] = Field(
        default="acme",
        description="`acme`: from a certificate authority that reaches the edge from its network. "
        "`internal`: from a CA of the edge's own, for closed networks; clients have to trust it. "
        "`certificate`: given in two swarm secrets. `off`: plain HTTP, behind somebody else's TLS "
        "or none.",
    )
    email: Email | None = Field(
        default=None,
        description="`acme`: where the authority writes about expiring certificates.",
        examples=["admin@example.org"],
    )
    directory: DirectoryUrl | None = Field(
        default=None,
        description="`acme`: the authority's directory. Default: Let's Encrypt, and ZeroSSL "
        "where that fails.",
        examples=["https://ca.example.org/acme/directory"],
    )
    directory_root: SecretName | None = Field(
        default=None,
        description="`acme`: swarm secret with the root certificate (PEM) that the directory's own "
        "certificate rests on. Default: what Debian trusts.",
        examples=["acme_root"],
    )
    certificate: SecretName | None = Field(
        default=None,
        description="`certificate`: swarm secret with the certificate and its chain (PEM). It has "
        "to name the main host, the extra hosts and every space domain, say by a wildcard.",
        examples=["notes_tls_cert"],
    )
    key: SecretName | None = Field(
        default=None,
        description="`certificate`: swarm secret with its private key (PEM).",
        examples=["notes_tls_key"],
    )
    on_demand: bool = Field(
        default=True,
        description="`acme`, `internal`: whether a space domain gets its certificate when it is "
        "first asked for, if the application says so (spec: §4, `/internal/tls-ask`).",
    )
    on_demand_per_minute: int = Field(
        default=10,
        ge=1,
        le=1000,
        description="Most certificates that are got on demand in a minute, by each edge.",
    )


class EdgePorts(Part):
    """The published ports."""

    http: Port = Field(
        default=80, description="Plain HTTP: redirects to https, or the site itself without TLS."
    )
    https: Port = Field(default=443, description="HTTPS; unused without TLS.")


class EdgeMemory(Part):
    """Memory of each edge."""

    limit_bytes: Size = Field(default=256 * MEBI, description="Hard limit.")
    reservation_bytes: Size = Field(
        default=64 * MEBI, description="Memory that swarm reserves on the node."
    )


class Edge(Part):
    """The reverse proxy before the application (spec: notes-app, Reverse proxy requirements)."""

    image: Image = Field(
        description="The edge image.", examples=["10.77.0.1:5000/queenright-edge:2.6"]
    )
    nodes: Sequence[NodeName] = Field(
        default=(),
        description="Nodes that run an edge each, by hostname. Default: as many as `replicas`, "
        "wherever swarm puts them.",
        examples=[["node2", "node3"]],
    )
    label: LabelKey = Field(
        default="",
        description="Key of the label set to `true` on these nodes. Default: "
        "`<metadata.name>-edge-node`.",
        json_schema_extra={"default": None},
        examples=["notes-edge-node"],
    )
    replicas: int = Field(
        default=1, ge=1, le=100, description="Number of edges where `nodes` names none."
    )
    publish: Literal["host", "ingress"] = Field(
        default="host",
        description="`host`: the nodes that run an edge have its ports, and the application sees "
        "the clients' addresses. `ingress`: every node has them, and passes connections on under "
        "addresses of its own.",
    )
    ports: EdgePorts = Field(default=EdgePorts(), description="The published ports.")
    tls: EdgeTls = Field(
        default=EdgeTls(),
        description="Where certificates come from: `acme`, `internal`, `off`, or a mapping.",
    )
    trusted_proxies: Sequence[Network] = Field(
        default=(),
        description="Networks of proxies before the edge. What those say in X-Forwarded-For, "
        "-Proto and -Host is believed; nobody else is.",
        examples=[["192.0.2.0/28"]],
    )
    retry_s: Seconds = Field(
        default=10,
        le=300,
        description="Time that a request that no replica has begun waits for a replica.",
    )
    memory: EdgeMemory = Field(default=EdgeMemory(), description="Memory of each edge.")


def with_edge_label(edge: object, name: object) -> object:
    """Edge as written, with the label's default."""
    if not isinstance(edge, dict):
        return edge
    derived: dict[str, Any] = {"label": f"{name}-edge-node", **edge}
    return derived
