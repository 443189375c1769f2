"""Fields that Patroni keeps for the whole cluster: its settings, PostgreSQL's, access rules.

Fields for the contract's bootstrap settings (spec: database-cluster §2.5), which a running cluster
changes in place.
"""

from pydantic import Field

from queenright.core.kinds.postgres_cluster.schema.parameters import (
    CONTRACT_PARAMETERS,
    ParameterValue,
)
from queenright.core.manifest.model import Part, Sequence
from queenright.core.manifest.quantities import Seconds, Size


class PatroniSpec(Part):
    """Cluster-wide settings of Patroni (spec: database-cluster §2.5). loopWait + 2 x retryTimeout
    may not exceed ttl."""

    ttl_s: Seconds = Field(
        default=30,
        ge=20,
        le=86400,
        description="Life of the leader lock. Lower finds a dead leader sooner, but reacts to "
        "passing network trouble; at least 20s.",
    )
    loop_wait_s: Seconds = Field(
        default=10,
        ge=1,
        le=86400,
        description="Pause between two rounds of a member's loop; at least 1s.",
    )
    retry_timeout_s: Seconds = Field(
        default=10,
        ge=3,
        le=86400,
        description="Time that a failing operation is tried again before a leader gives up; at "
        "least 3s.",
    )
    maximum_lag_on_failover_bytes: Size = Field(
        default=1048576, description="A replica further behind than this is not promoted."
    )
    use_pg_rewind: bool = Field(
        default=True,
        description="A former leader rejoins by rewinding, without a full base backup. Needs data "
        "checksums (always on) or `wal_log_hints`.",
    )


class PostgreSQL(Part):
    """Settings of the database server itself (spec: database-cluster §2.5)."""

    parameters: dict[str, ParameterValue] = Field(
        default_factory=lambda: dict(CONTRACT_PARAMETERS),
        description="PostgreSQL 16 parameters, over the contract's: name and value. `on`, `off`, "
        "true and false are the same for a switch.",
        json_schema_extra={"default": dict(CONTRACT_PARAMETERS)},
        examples=[{"work_mem": "8MB", "log_min_duration_statement": "250ms"}],
    )
    access_rules: Sequence[str] = Field(
        default=(),
        description="Further lines for `pg_hba.conf`, in their order, placed after the contract's "
        "rule 7 and before its last, which rejects all else.",
        examples=[["host reporting report 192.168.20.0/24 scram-sha-256"]],
    )
