"""Limits, mounts and lives of the containers: what a member and a proxy have in common."""

from typing import Literal

from pydantic import Field

from queenright.core.manifest.model import Part
from queenright.core.manifest.quantities import GIBI, MEBI, Seconds, Size

RestartCondition = Literal["on-failure", "any", "none"]


class MemberMemory(Part):
    """Memory of a member's container (spec: database-cluster §8)."""

    limit_bytes: Size = Field(
        default=2 * GIBI,
        description="Hard limit, in bytes or with a unit. Below 2G the kernel kills the member "
        "(exit status 137), above all during the first base backup (spec: §7, §8).",
    )
    reservation_bytes: Size = Field(
        default=512 * MEBI, description="Memory that swarm reserves on the node (spec: §8)."
    )


class ProxyMemory(Part):
    """Memory of a proxy's container (spec: database-cluster §8)."""

    limit_bytes: Size = Field(default=64 * MEBI, description="Hard limit (spec: §8).")
    reservation_bytes: Size = Field(
        default=16 * MEBI, description="Memory that swarm reserves on the node (spec: §8)."
    )


class MemberTmpfs(Part):
    """Sizes of a member's memory-backed mounts (spec: database-cluster §2.7, §8)."""

    tmp_bytes: Size = Field(default=64 * MEBI, description="Size of `/tmp`.")
    run_bytes: Size = Field(default=16 * MEBI, description="Size of `/run`.")
    postgresql_bytes: Size = Field(
        default=8 * MEBI, description="Size of `/var/run/postgresql`, where the server's socket is."
    )


class ProxyTmpfs(Part):
    """Sizes of a proxy's memory-backed mounts (spec: database-cluster §2.7, §8)."""

    tmp_bytes: Size = Field(default=16 * MEBI, description="Size of `/tmp`.")
    run_bytes: Size = Field(default=8 * MEBI, description="Size of `/run`.")


class MemberRestartPolicy(Part):
    """When swarm starts a failed member again (spec: database-cluster §3, §8)."""

    condition: RestartCondition = Field(
        default="on-failure", description="After a non-zero exit, after any exit, or never."
    )
    delay_s: Seconds = Field(default=10, description="Wait before each attempt.")
    max_attempts: int = Field(
        default=5, ge=0, le=1000, description="Attempts within the window; 0 means no bound."
    )
    window_s: Seconds = Field(
        default=60, description="Time in which the attempts are counted; 0 means for ever."
    )


class ProxyRestartPolicy(Part):
    """When swarm starts a failed proxy again (spec: database-cluster §8)."""

    condition: RestartCondition = Field(
        default="on-failure", description="After a non-zero exit, after any exit, or never."
    )
    delay_s: Seconds = Field(default=5, description="Wait before each attempt.")
    max_attempts: int = Field(
        default=0, ge=0, le=1000, description="Attempts within the window; 0 means no bound."
    )
    window_s: Seconds = Field(
        default=0, description="Time in which the attempts are counted; 0 means for ever."
    )


class HealthCheckSpec(Part):
    """The container health check: `GET /health` (spec: database-cluster §4.1, §8)."""

    interval_s: Seconds = Field(default=10, description="Time between two checks.")
    timeout_s: Seconds = Field(default=5, description="Time after which a check has failed.")
    start_period_s: Seconds = Field(
        default=30, description="Time at start in which failures don't count."
    )
    retries: int = Field(
        default=3, ge=1, le=100, description="Failures in a row that make the container unhealthy."
    )
    while_starting: Literal["unhealthy", "healthy"] = Field(
        default="unhealthy",
        description="Whether a member counts as healthy while Patroni says that it copies its "
        "data, or that PostgreSQL starts (it may recover for minutes). `unhealthy` is what "
        "`GET /health` says: Docker then ends a member whose copy or recovery takes longer than "
        "about a minute, and it begins anew. `healthy` lets both take as long as they need; a "
        "member that is stopped or crashed is unhealthy in any case.",
    )
