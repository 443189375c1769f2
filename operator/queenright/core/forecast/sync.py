"""The replicas that Patroni chooses to confirm commits, by its settings.

Pure. Assumes that every replica that can confirm is chosen in the order of the names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from queenright.core.kinds.postgres_cluster.replication.settings import read_replication
from queenright.core.kinds.postgres_cluster.replication.standbys import can_confirm
from queenright.core.observed import MemberStatus


def with_standbys(
    statuses: Mapping[str, MemberStatus], settings: Mapping[str, Any]
) -> dict[str, MemberStatus]:
    """Return the answers of members by service, each with its part in a commit. Those that Patroni
    has chosen already stay chosen."""
    wanted = read_replication(settings)
    able = [name for name, status in statuses.items() if can_confirm(status, wanted)]
    able.sort(key=lambda name: (not statuses[name].synchronous, name))
    if wanted.mode == "synchronous":
        able = able[: wanted.nodes]
    word = {"synchronous": "sync", "quorum": "quorum"}.get(wanted.mode, "")
    return {
        name: replace(status, synchronous=word if name in able else "")  # type: ignore[arg-type]
        for name, status in statuses.items()
    }
