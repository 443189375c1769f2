"""Field for the replicas' part in a commit: asynchronous, synchronous or by quorum.

In Patroni's own terms: `synchronous_mode`, `synchronous_mode_strict`, `synchronous_node_count` and
`maximum_lag_on_syncnode`. The contract's replication is asynchronous (spec: database-cluster §1.6),
so without this field nothing is written.
"""

from typing import Literal

from pydantic import Field

from queenright.core.manifest.model import Part
from queenright.core.manifest.quantities import Size


class ReplicationSpec(Part):
    """Replicas for which a commit waits."""

    mode: Literal["asynchronous", "synchronous", "quorum"] = Field(
        default="asynchronous",
        description="`asynchronous`: a commit waits for no replica. `synchronous`: for all of "
        "`nodes` chosen replicas. `quorum`: for the fastest `nodes` of all. With the last two a "
        "failover loses no acknowledged row.",
    )
    strict: bool = Field(
        default=False,
        description="Whether commits wait while no replica is synchronous. If not, they wait for "
        "none until one is there again, and only the leader of that time may lead. In a deployed "
        "cluster it is turned on when a replica can confirm commits.",
    )
    nodes: int = Field(
        default=1, ge=1, description="Replicas that confirm a commit; fewer than the members."
    )
    maximum_lag_on_sync_bytes: Size | None = Field(
        default=None,
        description="A replica further behind than this does not stay synchronous. Default: it "
        "stays however far it is behind.",
        examples=["16MB"],
    )
