"""The words by which a person finds where the data of members end that do not say so.

A member whose PostgreSQL does not run, or whose container does not start, has its data on its node
all the same. Decides from each member's own answer, and from its node's state.
"""

from __future__ import annotations

from queenright.core.kinds.postgres_cluster.losses.data_ends import MemberEnd, known_ends
from queenright.core.kinds.postgres_cluster.state import ClusterState


def end_command(state: ClusterState) -> str:
    """Return the words with the one command for all of them, to follow a hold's reason; empty where
    every member says where its data end, or is on a node that is not ready."""
    untold = [found[0].name for found in known_ends(state) if not isinstance(found, MemberEnd)]
    if not untold:
        return ""
    return (
        f"; to see where the data of {', '.join(untold)} end, and what is lost with each choice: "
        f"queenright data-end {state.desired.name}"
    )
