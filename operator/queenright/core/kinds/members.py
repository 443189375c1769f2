"""Desired states with members: the documents of which each member is asked about itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from queenright.core.kinds.kind import Desired
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.kinds.registry import KINDS
from queenright.core.planning.faults import DocumentKey


def with_members(desired: Mapping[DocumentKey, Desired]) -> dict[DocumentKey, DesiredCluster]:
    """Return those of a kind that has members."""
    return {
        key: cast("DesiredCluster", one)
        for key, one in desired.items()
        if KINDS[key.kind].has_members
    }
