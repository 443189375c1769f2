"""Holds that replace a plan that the operator can't make."""

from __future__ import annotations

from datetime import datetime

from queenright.core.planning.faults import DocumentKey, Fault
from queenright.core.planning.plan import Hold


def fault_hold(key: DocumentKey, fault: Fault, retried_at: datetime | None = None) -> Hold:
    """Return the hold that replaces the plan of a document with a fault."""
    return Hold(
        f"fault/{key.kind}/{key.name}",
        f"{key}: the operator can't plan it (a fault in the operator: {fault}); it changes "
        "nothing here, and other documents go on. Undo the last change made by hand, and report "
        "the log's line `fault`",
        retried_at,
        wants_attention=True,
    )


def waits_for_cluster(key: DocumentKey, cluster: DocumentKey) -> Hold:
    """Return the hold of an application whose cluster has a fault."""
    return Hold(
        f"fault/{key.kind}/{key.name}",
        f"{key}: waiting (the operator can't plan {cluster}, which has its database)",
    )
