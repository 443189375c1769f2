"""The command by which a person finds where the data of a member end that does not say so.

A member whose PostgreSQL does not run, or whose container does not start, has its data on its node
all the same. Decides from each member's own answer, and from its node's state.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredMember
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.postgres_cluster.topology.settled import counted_members

DATA_TARGET = "/home/postgres/pgdata"
PROGRAM = "data-end"
"""The member image's program that prints the end of the data, from 0.2.0 on."""


def end_commands(state: ClusterState) -> str:
    """Return the words with each command, to follow a hold's reason; empty where every member says
    where its data end, or is on a node that is not ready."""
    return "".join(end_command(state, member) for member in untold(state))


def untold(state: ClusterState) -> Iterator[DesiredMember]:
    """Yield the members that count, on nodes that are ready, and do not say where their data
    end."""
    for member in counted_members(state):
        node, status = state.swarm.node(member.node), state.status(member)
        is_told = status is not None and (
            (status.timeline is not None and status.location is not None)
            or (status.raft_loss is not None and not status.raft_loss.why)
        )
        if node is not None and node.state == "ready" and not is_told:
            yield member


def end_command(state: ClusterState, member: DesiredMember) -> str:
    """Return the command for one member, and the node on which to type it; empty where its data are
    in no volume. It reads the volume alone, without a network, and changes nothing."""
    live = state.swarm.service(member.service.name)
    service = live.value if live is not None else member.service
    volume = next((m.source for m in service.mounts if m.target == DATA_TARGET), "")
    if not volume:
        return ""
    return (
        f"; to see where the data of {member.name} end, type on {member.node}: docker run --rm "
        f"--network none -v {volume}:{DATA_TARGET}:ro --entrypoint {PROGRAM} {service.image}"
    )
