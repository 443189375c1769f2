"""Swarm objects that members and proxies refer to: network, secrets and node labels."""

from pydantic import Field

from queenright.core.manifest.model import Part
from queenright.core.manifest.names import LabelKey, Network, ObjectName, SecretName


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


class SecretsSpec(Part):
    """Swarm secrets with the passwords. Missing ones are created, existing ones never replaced
    (spec: database-cluster §2.3)."""

    replication: SecretName = Field(
        default="pg_replication_pw", description="Password of the role `replicator`."
    )
    superuser: SecretName = Field(
        default="pg_superuser_pw", description="Password of the superuser."
    )
    rest_api: SecretName = Field(
        default="pg_rest_pw", description="Password that guards the REST API's unsafe verbs."
    )


class NodeLabelsSpec(Part):
    """Keys of the node labels that place the tasks (spec: database-cluster §2.7)."""

    member: LabelKey = Field(
        default="pg-node",
        description="Set to 1, 2, 3 … on the members' nodes, in the order listed.",
    )
    proxy: LabelKey = Field(
        default="pg-ha-node", description="Set to `true` on the proxies' nodes."
    )
