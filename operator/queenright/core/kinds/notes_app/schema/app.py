"""Kind `NotesApp`: the notes application, deployed on a database that the operator provides.

Gives every setting of the application's contract a field, with the contract's value as its default
(spec: notes-app §2.1 to §2.4, §8). A field that is wrong alone is refused here; checks of several
fields are in `checks`, checks of several documents in `conflicts`.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from queenright.core.kinds.notes_app.schema.containers import (
    AppHealthCheck,
    AppPlacement,
    AppResources,
    AppRestartPolicy,
    AppUpdatePolicy,
    with_label,
)
from queenright.core.kinds.notes_app.schema.database import AppDatabase, EncryptionKey, UpgradeSpec
from queenright.core.kinds.notes_app.schema.edge import Edge, with_edge_label
from queenright.core.kinds.notes_app.schema.names import (
    Header,
    Host,
    IssuerUrl,
    Line,
    ListenAddress,
    Origin,
)
from queenright.core.manifest.model import Metadata, Part, Resource, Sequence, Worded
from queenright.core.manifest.moments import Pausing
from queenright.core.manifest.names import Image, Name, Network, ObjectName, Port, SecretName
from queenright.core.manifest.quantities import GIBI, MEBI, Seconds, Size

CONNECTIONS_PER_REPLICA = 12
"""Connections of one replica: a pool of 10, and listeners (spec: notes-app §8)."""

_BEHIND_EDGE = {
    "publish": "none",
    "protocolHeader": "X-Forwarded-Proto",
    "addressHeader": "X-Forwarded-For",
}


class Publish(Worded):
    """The port that clients, or a proxy of the owner's, reach the application by."""

    WORD: ClassVar[str] = "mode"

    mode: Literal["ingress", "host", "none"] = Field(
        default="ingress",
        description="`ingress`: every node of the swarm passes the port on to a replica. `host`: "
        "the nodes that run a replica have it. `none`: it is not published.",
    )
    port: Port = Field(default=3000, description="The port on the nodes (spec: §2.2).")


class Oidc(Part):
    """Single sign-on by OpenID Connect (spec: notes-app §2.1, §5.1)."""

    issuer: IssuerUrl = Field(
        description="The identity provider's issuer URL.", examples=["https://id.example.org/realm"]
    )
    client_id: Line = Field(
        description="The application's client id at the provider.", examples=["notes"]
    )
    client_secret: SecretName = Field(
        description="Name of the swarm secret with the client's secret; it has to be there.",
        examples=["notes_oidc_secret"],
    )
    groups_claim: Line | None = Field(
        default=None,
        description="Claim that lists a person's groups.",
        examples=["groups"],
    )
    admin_group: Line | None = Field(
        default=None,
        description="Group whose members administer the application.",
        examples=["notes-admins"],
    )


class AppNetwork(Part):
    """The application's own overlay network, which its edge is on too."""

    name: ObjectName = Field(
        default="",
        description="Name of the network. Default: `<metadata.name>_app`.",
        json_schema_extra={"default": None},
        examples=["notes_app"],
    )
    subnet: Network | None = Field(
        default=None,
        description="Its address range. Default: what swarm picks.",
        examples=["10.91.0.0/24"],
    )


class NotesAppSpec(Part):
    """Desired state of the application."""

    image: Image = Field(
        description="The application's image, with the version to run as its tag (spec: §9.2). "
        "Another one is an upgrade.",
        examples=["10.77.0.1:5000/queenright-notes:1.0.100"],
    )
    origin: Origin = Field(
        description="Public URL of the main site, without a path (spec: §2.1, `ORIGIN`).",
        examples=["https://notes.example.org"],
    )
    database: AppDatabase = Field(description="Where it keeps everything (spec: §2.3).")
    replicas: int = Field(
        default=2, ge=0, le=100, description="Number of replicas (spec: §2.2, §8)."
    )
    extra_hosts: Sequence[Host] = Field(
        default=(),
        description="Further hosts that are the main site (spec: §2.1, `APP_EXTRA_HOSTS`).",
        examples=[["www.notes.example.org"]],
    )
    encryption_key: EncryptionKey = Field(
        default=EncryptionKey(), description="The key of stored credentials (spec: §2.1)."
    )
    oidc: Oidc | None = Field(default=None, description="Single sign-on. Default: none.")
    max_attachment_bytes: Size = Field(
        default=GIBI,
        description="Largest attachment, in whole megabytes (spec: §2.1, `MAX_ATTACHMENT_MB`).",
    )
    body_size_limit_bytes: Size = Field(
        default=256 * MEBI,
        description="Largest request body; 8M suffices without large imports (spec: §2.1, §8).",
    )
    shutdown_timeout_s: Seconds = Field(
        default=20,
        le=86_400,
        description="Time that requests in flight may take after SIGTERM (spec: §2.1).",
    )
    stop_grace_period_s: Seconds = Field(
        default=30,
        description="Time between SIGTERM and SIGKILL, at least 5s above `shutdownTimeout` "
        "(spec: §7, §8).",
    )
    port: Port = Field(
        default=3000, description="Port that a replica listens on in its container (spec: §2.1)."
    )
    host: ListenAddress = Field(
        default="0.0.0.0",  # noqa: S104 (the contract's default, within a container)
        description="Address that a replica listens on in its container (spec: §2.1).",
    )
    publish: Publish = Field(
        default=Publish(),
        description="The published port: `ingress`, `host`, `none`, or a mapping. Default: "
        "`ingress`, or `none` behind the edge.",
        json_schema_extra={"default": None},
    )
    behind_proxy: bool = Field(
        default=False,
        description="Whether a proxy of your own is the only way to the application and overwrites "
        "the headers below. Only then, or behind the edge, may they be set (spec: §2.1).",
    )
    protocol_header: Header | None = Field(
        default=None,
        description="Header with the original scheme; without it, https is assumed (spec: §2.1). "
        "Default: none, or what the edge sets.",
        examples=["X-Forwarded-Proto"],
    )
    host_header: Header | None = Field(
        default=None,
        description="Header with the original host, where the proxy does not pass `Host` on "
        "(spec: §2.1).",
        examples=["X-Forwarded-Host"],
    )
    address_header: Header | None = Field(
        default=None,
        description="Header with the client's address; without it, all who come through a proxy "
        "share one allowance of logins (spec: §2.1, §5.3). Default: none, or what the edge sets.",
        examples=["X-Forwarded-For"],
    )
    xff_depth: int = Field(
        default=1,
        ge=1,
        le=100,
        description="Number of trusted proxies: the client is the entry that many places from the "
        "right (spec: §2.1).",
    )
    edge: Edge | None = Field(
        default=None,
        description="The reverse proxy before it, which overwrites the headers above (spec: "
        "Reverse proxy requirements). Default: none.",
    )
    network: AppNetwork = Field(
        default=AppNetwork(), description="The application's own overlay network."
    )
    placement: AppPlacement = Field(default=AppPlacement(), description="Where replicas may run.")
    resources: AppResources = Field(
        default=AppResources(), description="Memory and processors that each replica may use."
    )
    health_check: AppHealthCheck = Field(
        default=AppHealthCheck(), description="The container health check (spec: §2.4)."
    )
    restart_policy: AppRestartPolicy = Field(
        default=AppRestartPolicy(), description="When a replica is started again."
    )
    update: AppUpdatePolicy = Field(
        default=AppUpdatePolicy(), description="Replacement of replicas (spec: §3)."
    )
    upgrade: UpgradeSpec = Field(
        default=UpgradeSpec(), description="Steps before another image runs (spec: §9.4)."
    )
    deletion_policy: Literal["retain", "remove"] = Field(
        default="retain",
        description="Fate of the services when this document is removed: kept, or removed. "
        "Database, dumps and secrets stay in any case.",
    )
    reconcile: Pausing = Field(
        default=Pausing(state="active"),
        description="`paused`: the operator changes nothing here. The word alone, or a mapping "
        "with `state` and `until`.",
    )


class AppMetadata(Metadata):
    """Name of the application."""

    name: Name = Field(
        description="The application's name: the prefix of what is made for it.",
        examples=["notes"],
    )


class NotesApp(Resource):
    """The notes application on Docker Swarm, with a database of a `PostgresCluster`."""

    KIND: ClassVar[str] = "NotesApp"

    api_version: Literal["queenright/v1alpha1"] = Field(
        description="Version of the document's form."
    )
    kind: Literal["NotesApp"] = Field(description="Kind of document.")
    metadata: AppMetadata = Field(description="Name of the document.")
    spec: NotesAppSpec = Field(description="Desired state of the application.")

    @classmethod
    def with_derived(cls, document: Mapping[str, Any]) -> Mapping[str, Any]:
        """Fill in defaults that other fields decide.

        The names made from the application's, and the settings behind an edge (spec: notes-app
        §2.1, the typical set).
        """
        spec, metadata = document.get("spec"), document.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        if not isinstance(spec, dict) or not isinstance(name, str):
            return document
        network = spec.get("network", {})
        derived = {
            **_behind(spec.get("edge")),
            **spec,
            "database": _with_names(spec.get("database"), name),
            "placement": with_label(spec.get("placement", {}), name),
            "network": {"name": f"{name}_app", **network} if isinstance(network, dict) else network,
        }
        if "database" not in spec:
            del derived["database"]
        if "edge" in spec:
            derived["edge"] = with_edge_label(spec["edge"], name)
        return {**document, "spec": derived}


def _behind(edge: object) -> Mapping[str, Any]:
    """Defaults behind an edge. With proxies before it, the client is one place further left."""
    if not isinstance(edge, dict):
        return {}
    return {**_BEHIND_EDGE, **({"xffDepth": 2} if edge.get("trustedProxies") else {})}


def _with_names(database: object, name: str) -> object:
    """The database as a person wrote it, with the names of a cluster's."""
    if not isinstance(database, dict) or database.get("urlSecret") is not None:
        return database
    called = database.get("name") or name.replace("-", "_")
    return {
        "name": called,
        "role": called,
        "passwordSecret": f"{name}_db_password",
        **{key: value for key, value in database.items() if value is not None},
    }
