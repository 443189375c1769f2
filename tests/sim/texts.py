"""The desired values of a cluster's file, for checkers: parsed from the text as a whole."""

from __future__ import annotations

from functools import cache

from queenright.core.kinds.postgres_cluster.schema.cluster import (
    PostgresCluster,
    PostgresClusterSpec,
)
from queenright.core.manifest.document import documents_of
from tests.fakes.loading import judged
from tests.support.builders import FILE


@cache
def spec_of(text: str) -> PostgresClusterSpec | None:
    """The spec of a text with one cluster; None of one that is not valid."""
    found = judged({FILE: text})
    clusters = () if found.errors else documents_of(PostgresCluster, found.documents)
    return clusters[0].resource.spec if clusters else None


def names_primary(text: str, member: str | None) -> bool:
    spec = spec_of(text)
    return spec is not None and spec.primary is not None and spec.primary == member


def accepts_loss(text: str, leader: str, timeline: int) -> bool:
    """True if the file accepts that this member leads on from this timeline, whatever is lost."""
    spec = spec_of(text)
    accepted = spec.accept_loss if spec is not None else None
    return accepted is not None and (accepted.leader, accepted.timeline) == (leader, timeline)


def pauses_for_good(text: str) -> bool:
    """True if the operator is to change nothing until another edit."""
    spec = spec_of(text)
    return spec is not None and spec.reconcile.state == "paused" and spec.reconcile.until is None


def sets(text: str, *fields: str) -> bool:
    """True if one of these fields of spec is written."""
    spec = spec_of(text)
    return spec is not None and bool({*fields} & spec.model_fields_set)


def maintained(text: str) -> tuple[str, ...]:
    """Nodes in maintenance until another edit."""
    spec = spec_of(text)
    return () if spec is None or spec.maintenance.until is not None else spec.maintenance.nodes


def fails_back(text: str) -> bool:
    spec = spec_of(text)
    return spec is not None and spec.failback.mode == "automatic"
