"""Kind `PostgresCluster`: a replicated PostgreSQL 16 cluster behind role-aware proxies.

Gives every value of the contract a field, with the contract's value as its default (spec:
database-cluster §2.4 to §2.7, §4.2, §8), so that a useful file names only image, network,
members and proxies. What one field alone can tell wrong is refused here; what takes several, in
`checks`.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from queenright.core.spec.containers import (
    HealthCheck,
    MemberMemory,
    MemberRestartPolicy,
    MemberTmpfs,
)
from queenright.core.spec.databases import Database, Role
from queenright.core.spec.document import Part, Resource, Sequence
from queenright.core.spec.dynamic_settings import Patroni, PostgreSQL
from queenright.core.spec.identifiers import (
    Address,
    Image,
    LabelKey,
    Name,
    Network,
    NodeName,
    ObjectName,
    Port,
)
from queenright.core.spec.operations import Canary, Failback, Maintenance, Pausing
from queenright.core.spec.parameters import CONTRACT_PARAMETERS
from queenright.core.spec.proxies import Proxies
from queenright.core.spec.quantities import Seconds
from queenright.core.spec.vip import Vip

PREFERRED_PRIORITY = 3
ORDINARY_PRIORITY = 1
"""Failover priority of the preferred member, and of the others (spec: database-cluster §2.2)."""


class Member(Part):
    """One database member, on a node of its own."""

    name: Name = Field(
        description="Member name: service, hostname, network alias and `NODE_NAME` (spec: §2.2).",
        examples=["member-1"],
    )
    node: NodeName = Field(
        description="Hostname of the node that runs it, a worker (spec: §1.7); its data is there.",
        examples=["node2"],
    )
    address: Address | None = Field(
        default=None,
        description="Address by which others reach it. Default: the one swarm knows the node by.",
        examples=["10.77.0.12"],
    )
    failover_priority: int = Field(
        default=ORDINARY_PRIORITY,
        ge=1,
        le=1000,
        description="Patroni's tag: of the replicas that are equally far, the highest is promoted. "
        "Default: 3 for the first member listed, 1 for the others (spec: §2.2).",
        json_schema_extra={"default": None},
    )

    def with_default_priority(self, position: int) -> "Member":
        """The same member, and, where none is written, with the priority of its position, from 0
        (spec: database-cluster §2.2)."""
        if "failover_priority" in self.model_fields_set:
            return self
        priority = ORDINARY_PRIORITY if position else PREFERRED_PRIORITY
        return self.model_construct(
            self.model_fields_set,
            name=self.name,
            node=self.node,
            address=self.address,
            failover_priority=priority,
        )


class Ports(Part):
    """The members' ports, published in host mode (spec: database-cluster §2.6)."""

    postgresql: Port = Field(default=5432, description="The database server.")
    raft: Port = Field(default=5010, description="Raft consensus between the members.")
    rest_api: Port = Field(default=8008, description="Patroni's REST API.")


class ClusterNetwork(Part):
    """The attachable overlay network of the cluster (spec: database-cluster §2.7)."""

    name: ObjectName = Field(
        default="",
        description="Name of the network. Default: `<metadata.name>_patroni`.",
        json_schema_extra={"default": None},
        examples=["main_patroni"],
    )
    subnet: Network | None = Field(
        default=None,
        description="Its address range. Default: what swarm picks.",
        examples=["10.90.0.0/24"],
    )


class Secrets(Part):
    """Swarm secrets with the passwords. Missing ones are created, existing ones never replaced
    (spec: database-cluster §2.3)."""

    replication: ObjectName = Field(
        default="pg_replication_pw", description="Password of the role `replicator`."
    )
    superuser: ObjectName = Field(
        default="pg_superuser_pw", description="Password of the superuser."
    )
    rest_api: ObjectName = Field(
        default="pg_rest_pw", description="Password that guards the REST API's unsafe verbs."
    )


class RestApi(Part):
    """Patroni's REST API."""

    authentication: Literal["basic", "none"] = Field(
        default="basic",
        description="Whether verbs that change something need user `queenright` and a password. "
        "Reads stay open for proxies and health checks.",
    )


class NodeLabels(Part):
    """Keys of the node labels that place the tasks (spec: database-cluster §2.7)."""

    member: LabelKey = Field(
        default="pg-node",
        description="Set to 1, 2, 3 … on the members' nodes, in the order listed.",
    )
    proxy: LabelKey = Field(
        default="pg-ha-node", description="Set to `true` on the proxies' nodes."
    )


class PostgresClusterSpec(Part):
    """What the cluster should be."""

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
        description="The database members, an odd number. The first is the preferred leader.",
    )
    proxies: Proxies = Field(description="The proxies in front of them.")
    vip: Vip | None = Field(
        default=None,
        description="One address for clients, on one proxy node at a time (spec: §1.5). Default: "
        "none; clients name the proxy nodes.",
    )
    ports: Ports = Field(
        default=Ports(), description="The members' ports on their nodes (spec: §2.6)."
    )
    network: ClusterNetwork = Field(
        default=ClusterNetwork(), description="The cluster's overlay network (spec: §2.7)."
    )
    secrets: Secrets = Field(
        default=Secrets(), description="Names of the swarm secrets with the passwords (spec: §2.3)."
    )
    rest_api: RestApi = Field(default=RestApi(), description="Patroni's REST API.")
    patroni: Patroni = Field(default=Patroni(), description="Failover settings (spec: §2.5).")
    postgresql: PostgreSQL = Field(
        default=PostgreSQL(),
        description="Database parameters and access rules (spec: §2.5).",
        json_schema_extra={"default": {}},
    )
    node_labels: NodeLabels = Field(
        default=NodeLabels(),
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
    health_check: HealthCheck = Field(
        default=HealthCheck(), description="The members' container health check (spec: §8)."
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
        description="What happens to the services when this document is removed: kept, or removed. "
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
        description="What happens after a failover away from `primary`: `manual`, `automatic`, or "
        "a mapping with `mode` and `after`.",
    )
    fast_switchover: bool = Field(
        default=True,
        description="Whether the proxies ask the members more often during a planned change of "
        "leader, so that clients wait about a second. Their checks stay what decides.",
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
    canary: Canary = Field(default=Canary(), description="Measures the write gap of each move.")
    roles: Sequence[Role] = Field(
        default=(),
        description="Roles, kept as written over SQL. One that is taken out is told, not dropped.",
    )
    databases: Sequence[Database] = Field(
        default=(),
        description="Databases, each closed to the public (spec: §4.4). One that is taken out is "
        "told, not dropped.",
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
    spec: PostgresClusterSpec = Field(description="What the cluster should be.")

    @classmethod
    def with_derived(cls, document: Mapping[str, Any]) -> Mapping[str, Any]:
        """Fills in what other fields decide: the proxies' nodes, the network's name, and the
        contract's parameters under the deployer's."""
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
        postgresql = spec.get("postgresql", {})
        if isinstance(postgresql, dict) and isinstance(postgresql.get("parameters", {}), dict):
            parameters = {**CONTRACT_PARAMETERS, **postgresql.get("parameters", {})}
            spec["postgresql"] = {**postgresql, "parameters": parameters}
        return {**document, "spec": spec}


def _nodes_of(members: list[Any]) -> list[str]:
    nodes = [member.get("node") for member in members if isinstance(member, dict)]
    return list(dict.fromkeys(node for node in nodes if isinstance(node, str)))


def _name_of(document: Mapping[str, Any]) -> object:
    metadata = document.get("metadata")
    return metadata.get("name") if isinstance(metadata, dict) else None
