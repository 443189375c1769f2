"""The document's settings for the running cluster: what rules compare with what they observe.

Nothing here becomes a swarm object.
"""

from __future__ import annotations

from dataclasses import dataclass

from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.kinds.postgres_cluster.schema.operations import (
    AcceptedLoss,
    CanarySpec,
    Failback,
    Maintenance,
)
from queenright.core.manifest.moments import Pausing


@dataclass(frozen=True, slots=True)
class Policy:
    """The document's settings for the running cluster, as written; rules compare the moments.

    ``primary`` is a member's name, or empty for none.
    """

    primary: str
    failback: Failback
    fast_switchover: bool
    maintenance: Maintenance
    reconcile: Pausing
    promotion: Pausing
    canary: CanarySpec
    accept_loss: AcceptedLoss | None = None


def policy_of(cluster: PostgresCluster) -> Policy:
    """Return the settings of a document."""
    spec = cluster.spec
    return Policy(
        primary=spec.primary or "",
        failback=spec.failback,
        fast_switchover=spec.fast_switchover,
        maintenance=spec.maintenance,
        reconcile=spec.reconcile,
        promotion=spec.promotion,
        canary=spec.canary,
        accept_loss=spec.accept_loss,
    )
