"""Kind `PostgresCluster`: a replicated PostgreSQL 16 cluster behind role-aware proxies.

Gives every value of the contract a field, with the contract's value as its default (spec:
database-cluster §2.4 to §2.7, §4.2, §8), so that a useful file names only image, network, members
and proxies. A field that is wrong alone is refused here; checks of several fields are in `checks`.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator

from queenright.core.kinds.postgres_cluster.schema.backup import VOLUME_BUCKET, BackupSpec
from queenright.core.kinds.postgres_cluster.schema.bootstrap import Bootstrap
from queenright.core.kinds.postgres_cluster.schema.containers import (
    HealthCheckSpec,
    MemberMemory,
    MemberRestartPolicy,
    MemberTmpfs,
)
from queenright.core.kinds.postgres_cluster.schema.databases import DatabaseSpec, RoleSpec
from queenright.core.kinds.postgres_cluster.schema.members import Member, PortsSpec, RestApi
from queenright.core.kinds.postgres_cluster.schema.operations import (
    AcceptedLoss,
    CanarySpec,
    Failback,
    Maintenance,
)
from queenright.core.kinds.postgres_cluster.schema.parameters import (
    ARCHIVING_PARAMETERS,
    CONTRACT_PARAMETERS,
    REPLICA_PARAMETERS,
)
from queenright.core.kinds.postgres_cluster.schema.patroni import PatroniSpec, PostgreSQL
from queenright.core.kinds.postgres_cluster.schema.proxies import Proxies
from queenright.core.kinds.postgres_cluster.schema.replication import ReplicationSpec
from queenright.core.kinds.postgres_cluster.schema.swarm_objects import (
    ClusterNetwork,
    NodeLabelsSpec,
    SecretsSpec,
)
from queenright.core.kinds.postgres_cluster.schema.virtual_ip import Vip
from queenright.core.manifest.model import Part, Resource, Sequence
from queenright.core.manifest.moments import Pausing
from queenright.core.manifest.names import Image, Name, Network, NodeName
from queenright.core.manifest.quantities import Seconds


class PostgresClusterSpec(Part):
    """Desired state of the cluster."""

    image: Image = Field(
        description="The member image: PostgreSQL 16 and Patroni.",
        examples=["10.77.0.1:5000/queenright-member:16"],
    )
    lan_subnet: Network = Field(
        description="The deployer's network. Clients and members in it may connect (spec: §2.5).",
        examples=["10.77.0.0/24"],
    )
    members: Sequence[Member] = Field(
        json_schema_extra={"minItems": 1},
        description="The database members, an odd number. The first is the preferred leader. "
        "A line that is added or taken away adds or removes a member.",
    )
    acknowledge: Sequence[Literal["noFailover", "evenMembers"]] = Field(
        default=(),
        description="What you accept about the number of members. `noFailover`: fewer than three "
        "may be left by a removal, and nothing takes over when one fails. `evenMembers`: an even "
        "number, which survives no more failures than one member less.",
        examples=[["noFailover"]],
    )
    replace_after_s: Annotated[Seconds, Field(ge=60)] | None = Field(
        default=None,
        description="Time for which swarm has to call a member's node down before the operator "
        "replaces that member on one of `spareNodes`. Default: never; edit the member's line.",
        examples=["30m"],
    )
    spare_nodes: Sequence[NodeName] = Field(
        default=(),
        description="Nodes for `replaceAfter`, in order: the first that is ready, and has no "
        "member of any cluster, takes the member.",
        examples=[["node5", "node6"]],
    )
    proxies: Proxies = Field(description="The proxies in front of them.")
    vip: Vip | None = Field(
        default=None,
        description="One address for clients, on one proxy node at a time (spec: §1.5). Default: "
        "none; clients name the proxy nodes.",
    )
    ports: PortsSpec = Field(
        default=PortsSpec(), description="The members' ports on their nodes (spec: §2.6)."
    )
    network: ClusterNetwork = Field(
        default=ClusterNetwork(), description="The cluster's overlay network (spec: §2.7)."
    )
    secrets: SecretsSpec = Field(
        default=SecretsSpec(),
        description="Names of the swarm secrets with the passwords (spec: §2.3).",
    )
    rest_api: RestApi = Field(default=RestApi(), description="Patroni's REST API.")
    patroni: PatroniSpec = Field(
        default=PatroniSpec(), description="Failover settings (spec: §2.5)."
    )
    replication: ReplicationSpec | None = Field(
        default=None,
        description="Whether a commit waits for replicas, so that a failover loses nothing. "
        "Default: it does not, as the contract has it (spec: §1.6).",
    )
    backup: BackupSpec | None = Field(
        default=None,
        description="Where the leader archives its WAL. Default: nowhere; nothing is archived, as "
        "the contract has it (spec: §1.8).",
    )
    bootstrap: Bootstrap | None = Field(
        default=None,
        description="What a new cluster begins with. Default: an empty database. It has no effect "
        "on a cluster that was healthy once.",
    )
    postgresql: PostgreSQL = Field(
        default=PostgreSQL(),
        description="Database parameters and access rules (spec: §2.5).",
        json_schema_extra={"default": {}},
    )
    node_labels: NodeLabelsSpec = Field(
        default=NodeLabelsSpec(),
        description="Keys of the node labels that place the tasks (spec: §2.7).",
    )
    memory: MemberMemory = Field(
        default=MemberMemory(), description="Memory of each member (spec: §8)."
    )
    tmpfs: MemberTmpfs = Field(
        default=MemberTmpfs(), description="Sizes of the memory-backed mounts (spec: §2.7)."
    )
    restart_policy: MemberRestartPolicy = Field(
        default=MemberRestartPolicy(),
        description="When a failed member is started again (spec: §8).",
    )
    health_check: HealthCheckSpec = Field(
        default=HealthCheckSpec(), description="The members' container health check (spec: §8)."
    )
    stop_grace_period_s: Seconds = Field(
        default=120,
        description="Time between SIGTERM and SIGKILL. Patroni uses it for PostgreSQL's fast "
        "shutdown and its last checkpoint, and for the replicas to receive the last of the WAL. "
        "Docker's own 10s has corrupted databases; a checkpoint of the contract's 256MB of "
        "shared_buffers takes seconds, and a busy disk is allowed for.",
    )
    deletion_policy: Literal["retain", "remove"] = Field(
        default="retain",
        description="Fate of the services when this document is removed: kept, or removed. "
        "Volumes and secrets stay in any case.",
    )

    primary: Name | None = Field(
        default=None,
        description="The member that should lead. Honoured once, when it is edited: a failover "
        "that comes later is not fought. Default: whoever Patroni has elected.",
        examples=["member-2"],
    )
    failback: Failback = Field(
        default=Failback(),
        description="Reaction to a failover away from `primary`: `manual`, `automatic`, or "
        "a mapping with `mode` and `after`.",
    )
    fast_switchover: bool = Field(
        default=True,
        description="Whether the proxies ask the members more often during a planned change of "
        "leader, so that clients wait about a second. Their checks stay what decides.",
    )
    accept_loss: AcceptedLoss | None = Field(
        default=None,
        description="A leader to name where nobody leads and members are missing; the hold "
        "`failover/…` shows what would be lost. Default: none; the operator waits for them.",
    )
    maintenance: Maintenance = Field(
        default=Maintenance(), description="Nodes about to be powered off or worked on."
    )
    reconcile: Pausing = Field(
        default=Pausing(state="active"),
        description="`paused`: the operator changes nothing here; Patroni goes on protecting the "
        "database. The word alone, or a mapping with `state` and `until`.",
    )
    promotion: Pausing = Field(
        default=Pausing(state="active"),
        description="`paused`: Patroni neither promotes nor demotes (its own pause); the operator "
        "goes on repairing. The word alone, or a mapping with `state` and `until`.",
    )
    canary: CanarySpec = Field(
        default=CanarySpec(), description="Measures the write gap of each move."
    )
    roles: Sequence[RoleSpec] = Field(
        default=(),
        description="Roles, kept as written by SQL. One taken out is reported, not dropped.",
    )
    databases: Sequence[DatabaseSpec] = Field(
        default=(),
        description="Databases, each closed to the public (spec: §4.4). One that is taken out is "
        "reported, not dropped.",
    )

    @field_validator("members", mode="after")
    @classmethod
    def _prefer_the_first(cls, members: tuple[Member, ...]) -> tuple[Member, ...]:
        """Its own priority by default; that it was not written stays known of it."""
        return tuple(
            member.with_default_priority(position) for position, member in enumerate(members)
        )


class PostgresCluster(Resource):
    """A replicated PostgreSQL 16 cluster behind role-aware proxies, on Docker Swarm."""

    KIND: ClassVar[str] = "PostgresCluster"

    api_version: Literal["queenright/v1alpha1"] = Field(
        description="Version of the document's form."
    )
    kind: Literal["PostgresCluster"] = Field(description="Kind of document.")
    spec: PostgresClusterSpec = Field(description="Desired state of the cluster.")

    @classmethod
    def with_derived(cls, document: Mapping[str, Any]) -> Mapping[str, Any]:
        """Fills in what other fields decide: the proxies' nodes, the network's name, the bucket on
        a volume, and under the deployer's parameters the contract's and those of archiving."""
        spec = document.get("spec")
        if not isinstance(spec, dict):
            return document
        spec = dict(spec)
        members = spec.get("members")
        if isinstance(members, list) and isinstance(spec.get("proxies"), dict):
            spec["proxies"] = {"nodes": _nodes_of(members), **spec["proxies"]}
        network = spec.get("network", {})
        if isinstance(network, dict):
            spec["network"] = {"name": f"{_name_of(document)}_patroni", **network}
        if isinstance(spec.get("vip"), dict):
            spec["vip"] = {
                "secret": f"{_name_of(document)}_vrrp_pw",
                "authentication": "none" if spec["vip"].get("peers") == "multicast" else "password",
                **spec["vip"],
            }
        spec = _with_the_volumes_bucket(spec)
        postgresql = spec.get("postgresql", {})
        if isinstance(postgresql, dict) and isinstance(postgresql.get("parameters", {}), dict):
            archiving = ARCHIVING_PARAMETERS if spec.get("backup") is not None else {}
            given = postgresql.get("parameters", {})
            replicas = REPLICA_PARAMETERS if _replicas_from_backup(spec) else {}
            parameters = {**CONTRACT_PARAMETERS, **archiving, **replicas, **given}
            spec["postgresql"] = {**postgresql, "parameters": parameters}
        return {**document, "spec": spec}


def _with_the_volumes_bucket(spec: dict[str, Any]) -> dict[str, Any]:
    backup = spec.get("backup")
    if not isinstance(backup, dict):
        return spec
    repository = backup.get("repository")
    if not isinstance(repository, dict) or repository.get("volume") is None:
        return spec
    repository = {"bucket": VOLUME_BUCKET, **repository}
    return {**spec, "backup": {**backup, "repository": repository}}


def _replicas_from_backup(spec: Mapping[str, Any]) -> bool:
    backup = spec.get("backup")
    return isinstance(backup, dict) and backup.get("createReplicasFrom") == "backup"


def _nodes_of(members: list[Any]) -> list[str]:
    nodes = [member.get("node") for member in members if isinstance(member, dict)]
    return list(dict.fromkeys(node for node in nodes if isinstance(node, str)))


def _name_of(document: Mapping[str, Any]) -> object:
    metadata = document.get("metadata")
    return metadata.get("name") if isinstance(metadata, dict) else None
