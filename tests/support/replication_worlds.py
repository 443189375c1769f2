"""Clusters whose commits wait for replicas, and what a plan says of them."""

from __future__ import annotations

from typing import Any

from queenright.core.actions import (
    PatchSettings,
)
from queenright.core.observed import Observed
from queenright.core.planning.plan import Plan
from tests.support.builders import (
    manifest,
    status,
    three_nodes,
)
from tests.support.changed import with_member, with_service

QUORUM = manifest(replication="{mode: quorum}")


STRICT = manifest(replication="{mode: synchronous, strict: true, maximumLagOnSync: 1K}")


def in_force(text: str, **parts: str) -> Observed:
    """The converged cluster with these replicas' parts in a commit."""
    observed = three_nodes(text=text)
    for name, part in parts.items():
        member = name.replace("_", "-")
        fields: dict[str, Any] = {"synchronous": part}
        observed = with_member(observed, member, status(member, "member-1", **fields))
    return observed


def both(text: str = QUORUM, part: str = "quorum") -> Observed:
    return in_force(text, member_2=part, member_3=part)


def reasons(plan: Plan) -> str:
    return "; ".join(hold.reason for hold in plan.holds)


def patch_of(plan: Plan) -> PatchSettings:
    found = [step for step in plan.actions if isinstance(step, PatchSettings)]
    assert len(found) == 1
    return found[0]


def far(observed: Observed, name: str, **fields: Any) -> Observed:
    return with_member(observed, name, status(name, "member-1", lag_bytes=5000, **fields))


def updated(observed: Observed) -> Observed:
    """The replicas' services differ from the file."""
    for name in ("member-2", "member-3"):
        observed = with_service(observed, f"main_{name}", stop_grace_s=1.0)
    return observed
