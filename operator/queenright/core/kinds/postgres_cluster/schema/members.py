"""Members: their nodes, addresses and priorities, their ports and Patroni's REST API."""

from typing import Literal

from pydantic import Field

from queenright.core.manifest.model import Part
from queenright.core.manifest.names import Address, Name, NodeName, Port

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
        "Default: 3 for member number 1, the first one listed at the deployment; 1 for the "
        "others (spec: §2.2).",
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


class PortsSpec(Part):
    """The members' ports, published in host mode (spec: database-cluster §2.6)."""

    postgresql: Port = Field(default=5432, description="The database server.")
    raft: Port = Field(default=5010, description="Raft consensus between the members.")
    rest_api: Port = Field(default=8008, description="Patroni's REST API.")


class RestApi(Part):
    """Patroni's REST API."""

    authentication: Literal["basic", "none"] = Field(
        default="basic",
        description="Whether verbs that change something need user `queenright` and a password. "
        "Reads stay open for proxies and health checks.",
    )
