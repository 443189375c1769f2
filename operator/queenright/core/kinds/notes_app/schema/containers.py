"""Containers of a notes application: bounds, health, and how swarm starts, replaces, places them.

The defaults are the contract's where it has one (spec: notes-app §2.2, §2.4, §3, §8).
"""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from queenright.core.kinds.postgres_cluster.schema.containers import RestartCondition
from queenright.core.manifest.model import Part, Sequence
from queenright.core.manifest.names import LabelKey, NodeName
from queenright.core.manifest.quantities import MEBI, Duration, Seconds, Size
from queenright.core.manifest.suggestions import UnfitValueError, describe

NANOS_PER_CPU = 1_000_000_000
LEAST_CPUS = 0.001
"""Least number of CPUs of a limit and of a reservation; 0 means none."""


def _cpus(value: object) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= float(value) <= 1024:  # type: ignore[arg-type]  # a number by now
        raise UnfitValueError(f"must be a number of CPUs such as 0.5 or 2, not {describe(value)}")
    if 0 < float(value) < LEAST_CPUS:  # type: ignore[arg-type]  # a number by now
        raise UnfitValueError(
            f"{describe(value)} is below {LEAST_CPUS}, the least that swarm takes"
        )
    return float(value)  # type: ignore[arg-type]  # as above


Cpus = Annotated[
    float,
    BeforeValidator(_cpus),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1024, "examples": [0.5]}),
]
"""A number of CPUs, down to a thousandth; 0 means without a bound."""


class AppMemory(Part):
    """Memory of each replica."""

    limit_bytes: Size = Field(default=512 * MEBI, description="Hard limit.")
    reservation_bytes: Size = Field(
        default=128 * MEBI, description="Memory that swarm reserves on the node."
    )


class AppCpus(Part):
    """CPU time of each replica."""

    limit: Cpus = Field(default=0.0, description="Most CPUs that it uses; 0 means no bound.")
    reservation: Cpus = Field(default=0.0, description="CPUs that swarm keeps free for it.")


class AppResources(Part):
    """Memory and processors that each replica may use."""

    memory: AppMemory = Field(default=AppMemory(), description="Memory of each replica.")
    cpus: AppCpus = Field(default=AppCpus(), description="CPU time of each replica.")
    tmp_bytes: Size = Field(
        default=64 * MEBI,
        description="Size of `/tmp`, in memory: all that a replica can write to (spec: §2.4).",
    )


class AppHealthCheck(Part):
    """The container health check on `/healthz`; it says alive, not ready (spec: notes-app §4)."""

    interval_s: Seconds = Field(default=5, description="Time between two checks.")
    timeout_s: Seconds = Field(default=5, description="Time after which a check has failed.")
    start_period_s: Seconds = Field(
        default=60,
        description="Time at start in which failures don't count. Migrations run in it (spec: §3).",
    )
    retries: int = Field(
        default=3, ge=1, le=100, description="Failures in a row that make a replica unhealthy."
    )


class AppRestartPolicy(Part):
    """When swarm starts a replica again."""

    condition: RestartCondition = Field(
        default="any", description="After a non-zero exit, after any exit, or never."
    )
    delay_s: Seconds = Field(default=2, description="Wait before each attempt.")
    max_attempts: int = Field(
        default=0, ge=0, le=1000, description="Attempts within the window; 0 means no bound."
    )
    window_s: Seconds = Field(
        default=0, description="Time in which the attempts are counted; 0 means for ever."
    )


class AppUpdatePolicy(Part):
    """Policy by which swarm replaces the replicas.

    A replica that fails its health check rolls the whole update back (spec: notes-app §3).
    """

    order: Literal["start-first", "stop-first"] = Field(
        default="start-first",
        description="Whether the new replica is healthy before the old one is stopped (spec: §3). "
        "With a port published in host mode the old one always goes first, since it has the port.",
    )
    parallelism: int = Field(
        default=1, ge=1, le=100, description="Replicas that are replaced at once."
    )
    delay_s: Duration = Field(default=0, description="Wait between two replacements.")
    monitor_s: Duration = Field(
        default=30,
        description="How long after its start a new replica's failure still counts against the "
        "update.",
    )
    failure_action: Literal["rollback", "pause"] = Field(
        default="rollback",
        description="What swarm does with an update whose replica fails: takes it back (spec: §3), "
        "or leaves it where it is.",
    )


class AppPlacement(Part):
    """Nodes that may run replicas. Default: all of the swarm."""

    nodes: Sequence[NodeName] = Field(
        default=(),
        description="Nodes that may run a replica, by hostname. Default: any.",
        examples=[["node2", "node3"]],
    )
    label: LabelKey = Field(
        default="",
        description="Key of the label set to `true` on these nodes. Default: "
        "`<metadata.name>-node`.",
        json_schema_extra={"default": None},
        examples=["notes-node"],
    )


def with_label(placement: object, name: object) -> object:
    """Placement as written, with the label's default."""
    if not isinstance(placement, dict):
        return placement
    derived: dict[str, Any] = {"label": f"{name}-node", **placement}
    return derived
