"""Words for a member whose Patroni answers and whose Raft node does not.

pysyncobj's thread ends where it can't store a term (a full disk), and an image from before 0.2.0
goes on without it: healthy to Docker, and out of the cluster until its container starts again. No
restart is made here: to the operator a port that a firewall closes looks the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.kinds.postgres_cluster.losses.lone_raft import RECONNECTS, others_of
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.observed import mute_key
from queenright.core.observed.ages import age_of
from queenright.core.planning.plan import Hold


def silent_raft_holds(state: ClusterState) -> Iterator[Hold]:
    """Yield a hold for each member without a Raft node that answers, while the others have a
    quorum."""
    for member in state.desired.members:
        status = state.status(member)
        if status is None or status.raft_loss is not None or state.raft_of(member) is not None:
            continue  # one that waits with a lost log has a hold of its own (``raft_log``)
        seen = age_of(state.seen_s_ago, mute_key(member.service.name))
        if seen is None or seen < RECONNECTS or not others_of(state, member):
            continue
        yield Hold(
            f"silent-raft/{member.service.name}",
            f"the Raft node of {member.name}: does not answer for a minute, though its Patroni "
            "does (its disk was full, and its image from before 0.2.0 went on without it; or its "
            f"port is closed to the manager); make room on {member.node} and docker kill the "
            f"container of {member.service.name}, or open port {state.access(member).raft_port}: "
            "until then no other member is restarted",
            wants_attention=True,
        )
